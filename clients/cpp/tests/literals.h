// Tensors, shapes and attributes of the tables of clients/conformance.
#pragma once

#include <cmath>
#include <cstdio>
#include <sstream>

#include "tensorloom/tensorflow.h"

namespace tl = tensorloom;

// An expectation that does not hold.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void expect(const std::string& what, const std::string& got,
                   const std::string& expected) {
  if (got != expected) throw Broken(what + " is " + got + ", expected " + expected);
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  size_t at = 0;
  for (size_t end; (end = text.find(separator, at)) != std::string::npos; at = end + 1)
    parts.push_back(text.substr(at, end - at));
  parts.push_back(text.substr(at));
  return parts;
}

inline std::string unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      plain += text[i];
    } else {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return plain;
}

inline const std::map<std::string, TF_DataType>& dtypes() {
  static const std::map<std::string, TF_DataType> all = {
      {"float32", TF_FLOAT},   {"float64", TF_DOUBLE}, {"int8", TF_INT8},
      {"int16", TF_INT16},     {"int32", TF_INT32},    {"int64", TF_INT64},
      {"uint8", TF_UINT8},     {"uint16", TF_UINT16},  {"uint32", TF_UINT32},
      {"uint64", TF_UINT64},   {"bool", TF_BOOL},      {"string", TF_STRING},
      {"resource", TF_RESOURCE}};
  return all;
}

inline std::string dtype_name(TF_DataType dtype) {
  for (const auto& [name, number] : dtypes())
    if (number == dtype) return name;
  return "?";
}

inline tl::Shape parse_shape(const std::string& text) {
  if (text == "unknown") return std::nullopt;
  std::vector<int64_t> dims;
  if (text == "scalar") return dims;
  for (const auto& part : split(text, ','))
    dims.push_back(part == "?" ? -1 : std::stoll(part));
  return dims;
}

inline std::string show(const tl::Shape& shape) {
  if (!shape) return "unknown";
  std::string text;
  for (int64_t size : *shape)
    text += (text.empty() ? "" : ",") + (size < 0 ? "?" : std::to_string(size));
  return text.empty() ? "scalar" : text;
}

template <typename T>
T parse(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) return unescape(text);
  else if constexpr (std::is_same_v<T, bool>) return text == "true";
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::stod(text));
  else if constexpr (std::is_unsigned_v<T>) return static_cast<T>(std::stoull(text));
  else return static_cast<T>(std::stoll(text));
}

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::fabs(a - b) <= 1e-5 + 1e-4 * std::fabs(b);
  } else {
    return a == b;
  }
}

// DTYPE[DIMS]=VALUE,... in its parts; one value stands for all elements.
struct Literal {
  std::string dtype;
  std::vector<int64_t> dims;
  std::vector<std::string> values;

  explicit Literal(const std::string& text) {
    const size_t open = text.find('['), end = text.find("]=");
    dtype = text.substr(0, open);
    dims = *parse_shape(text.substr(open + 1, end - open - 1));
    size_t count = 1;
    for (int64_t size : dims) count *= static_cast<size_t>(size);
    if (count == 0) return;
    values = split(text.substr(end + 2), ',');
    if (values.empty()) values = {""};
    values.resize(count, values[0]);
  }

  // Calls f with a value of the dtype's C++ type.
  template <typename F>
  auto as_type(F f) const {
    switch (dtypes().at(dtype)) {
      case TF_FLOAT: return f(float{});
      case TF_DOUBLE: return f(double{});
      case TF_BOOL: return f(bool{});
      case TF_INT8: return f(int8_t{});
      case TF_INT16: return f(int16_t{});
      case TF_INT32: return f(int32_t{});
      case TF_UINT8: return f(uint8_t{});
      case TF_UINT16: return f(uint16_t{});
      case TF_STRING: return f(std::string{});
      default: return f(int64_t{});
    }
  }
};

inline tl::Tensor parse_tensor(const std::string& text) {
  const Literal literal(text);
  return literal.as_type([&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values;
    for (const auto& value : literal.values) values.push_back(parse<T>(value));
    return tl::Tensor(literal.dims, values);
  });
}

inline void expect_tensor(const std::string& what, const tl::Tensor& got,
                          const std::string& text) {
  const Literal literal(text);
  expect("the dtype of " + what, dtype_name(got.dtype()), literal.dtype);
  expect("the shape of " + what, show(got.dims()), show(literal.dims));
  literal.as_type([&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = got.values<T>();
    for (size_t i = 0; i < values.size(); i++)
      if (!same<T>(values[i], parse<T>(literal.values[i])))
        throw Broken("element " + std::to_string(i) + " of " + what + ", expected " +
                     literal.values[i]);
  });
}

template <typename T, typename F>
std::vector<T> map_list(const std::vector<std::string>& parts, F f) {
  std::vector<T> found;
  for (const auto& part : parts) found.push_back(f(part));
  return found;
}

inline tl::Attr parse_attr(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), value = text.substr(colon + 1);
  const auto parts = split(value, ',');
  const auto type = [](const std::string& name) {
    const auto found = dtypes().find(name);
    return found == dtypes().end() ? TF_DataType(0) : found->second;
  };
  if (kind == "int") return parse<int64_t>(value);
  if (kind == "float") return parse<float>(value);
  if (kind == "bool") return parse<bool>(value);
  if (kind == "type") return type(value);
  if (kind == "string") return unescape(value);
  if (kind == "func") return tl::Func{value};
  if (kind == "shape") return parse_shape(value);
  if (kind == "tensor") return parse_tensor(value);
  if (kind == "proto") return tl::AttrProto{unescape(value)};
  if (kind == "ints") return map_list<int64_t>(parts, parse<int64_t>);
  if (kind == "floats") return map_list<float>(parts, parse<float>);
  if (kind == "bools") return map_list<bool>(parts, parse<bool>);
  if (kind == "types") return map_list<TF_DataType>(parts, type);
  if (kind == "strings") return map_list<std::string>(parts, unescape);
  if (kind == "shapes") return map_list<tl::Shape>(split(value, ';'), parse_shape);
  throw Broken("no kind of attribute " + kind);
}
