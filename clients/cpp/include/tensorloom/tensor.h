// Tensors and errors. Part of tensorloom/tensorflow.h.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"

namespace tensorloom {

// What the library reports.
class Error : public std::runtime_error {
 public:
  Error(TF_Code code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  TF_Code code() const { return code_; }

 private:
  TF_Code code_;
};

// A TF_Status for one call; check() throws its error.
class Status {
 public:
  operator TF_Status*() { return status_.get(); }
  void check() const {
    if (TF_GetCode(status_.get()) != TF_OK)
      throw Error(TF_GetCode(status_.get()), TF_Message(status_.get()));
  }

 private:
  std::unique_ptr<TF_Status, void (*)(TF_Status*)> status_{TF_NewStatus(),
                                                           TF_DeleteStatus};
};

// The bytes that a call puts into a TF_Buffer.
template <typename Fill>
std::string filled(Fill fill) {
  std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> buffer(TF_NewBuffer(),
                                                          TF_DeleteBuffer);
  Status status;
  fill(buffer.get(), static_cast<TF_Status*>(status));
  status.check();
  return {static_cast<const char*>(buffer->data), buffer->length};
}

template <typename T>
constexpr TF_DataType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return TF_FLOAT;
  if constexpr (std::is_same_v<T, double>) return TF_DOUBLE;
  if constexpr (std::is_same_v<T, bool>) return TF_BOOL;
  if constexpr (std::is_same_v<T, int8_t>) return TF_INT8;
  if constexpr (std::is_same_v<T, int16_t>) return TF_INT16;
  if constexpr (std::is_same_v<T, int32_t>) return TF_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return TF_INT64;
  if constexpr (std::is_same_v<T, uint8_t>) return TF_UINT8;
  if constexpr (std::is_same_v<T, uint16_t>) return TF_UINT16;
  if constexpr (std::is_same_v<T, uint32_t>) return TF_UINT32;
  if constexpr (std::is_same_v<T, uint64_t>) return TF_UINT64;
  if constexpr (std::is_same_v<T, std::string>) return TF_STRING;
}

// How the elements of string tensors lie is known here alone. Up to TensorFlow 2.3 a
// tensor of n strings is n offsets of 8 bytes, and then each string after its length as a
// varint; later ones are arrays of TF_TString, whose functions are found by name.
namespace strings {

constexpr size_t kTString = 24;

inline bool has_tstrings() {
  const std::string version = TF_Version();
  const int major = std::stoi(version);
  return major > 2 || (major == 2 && std::stoi(version.substr(2)) >= 4);
}

template <typename F>
F* symbol(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

inline TF_Tensor* make(const std::vector<int64_t>& dims,
                       const std::vector<std::string>& values) {
  const int rank = static_cast<int>(dims.size());
  if (has_tstrings()) {
    TF_Tensor* tensor =
        TF_AllocateTensor(TF_STRING, dims.data(), rank, values.size() * kTString);
    char* at = static_cast<char*>(TF_TensorData(tensor));
    for (const std::string& value : values) {
      symbol<void(void*)>("TF_StringInit")(at);
      symbol<void(void*, const char*, size_t)>("TF_StringCopy")(at, value.data(),
                                                                value.size());
      at += kTString;
    }
    return tensor;
  }
  std::string offsets, texts;
  for (const std::string& value : values) {
    const uint64_t offset = texts.size();
    offsets.append(reinterpret_cast<const char*>(&offset), sizeof offset);
    size_t length = value.size();
    for (; length >= 128; length >>= 7) texts += static_cast<char>(length | 128);
    texts += static_cast<char>(length);
    texts += value;
  }
  offsets += texts;
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, dims.data(), rank, offsets.size());
  if (!offsets.empty())
    std::memcpy(TF_TensorData(tensor), offsets.data(), offsets.size());
  return tensor;
}

inline std::string get(const TF_Tensor* tensor, size_t index, size_t count) {
  const char* data = static_cast<const char*>(TF_TensorData(tensor));
  if (has_tstrings()) {
    const char* at = data + index * kTString;
    return {symbol<const char*(const void*)>("TF_StringGetDataPointer")(at),
            symbol<size_t(const void*)>("TF_StringGetSize")(at)};
  }
  uint64_t offset;
  std::memcpy(&offset, data + index * sizeof offset, sizeof offset);
  auto at = reinterpret_cast<const unsigned char*>(data + count * 8 + offset);
  size_t length = 0;
  for (int shift = 0;; shift += 7) {
    length |= static_cast<size_t>(*at & 127) << shift;
    if (*at++ < 128) break;
  }
  return {reinterpret_cast<const char*>(at), length};
}

}  // namespace strings

// An array of one dtype and shape. Copies share its memory.
class Tensor {
 public:
  Tensor() = default;
  // Takes ownership.
  explicit Tensor(TF_Tensor* tensor) : tensor_(tensor, TF_DeleteTensor) {}

  template <typename T>
  Tensor(std::vector<int64_t> dims, const std::vector<T>& values) {
    const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1},
                                          std::multiplies<int64_t>());
    if (count != static_cast<int64_t>(values.size()))
      throw std::invalid_argument("a tensor has as many values as its shape says");
    if constexpr (std::is_same_v<T, std::string>) {
      *this = Tensor(strings::make(dims, values));
    } else {
      *this = Tensor(TF_AllocateTensor(dtype_of<T>(), dims.data(),
                                       static_cast<int>(dims.size()),
                                       values.size() * sizeof(T)));
      std::copy(values.begin(), values.end(), static_cast<T*>(data()));
    }
  }

  template <typename T>
  static Tensor scalar(const T& value) {
    return Tensor({}, std::vector<T>{value});
  }

  TF_Tensor* get() const { return tensor_.get(); }
  TF_DataType dtype() const { return TF_TensorType(get()); }
  void* data() const { return TF_TensorData(get()); }

  std::vector<int64_t> dims() const {
    std::vector<int64_t> found(static_cast<size_t>(TF_NumDims(get())));
    for (size_t i = 0; i < found.size(); i++)
      found[i] = TF_Dim(get(), static_cast<int>(i));
    return found;
  }

  size_t count() const {
    const auto all = dims();
    return static_cast<size_t>(std::accumulate(all.begin(), all.end(), int64_t{1},
                                               std::multiplies<int64_t>()));
  }

  // The values in row-major order; the dtype must be T's.
  template <typename T>
  std::vector<T> values() const {
    if (dtype() != dtype_of<T>()) throw std::invalid_argument("the tensor has another dtype");
    if constexpr (std::is_same_v<T, std::string>) {
      std::vector<T> found;
      for (size_t i = 0; i < count(); i++)
        found.push_back(strings::get(get(), i, count()));
      return found;
    } else {
      const T* first = static_cast<const T*>(data());
      return std::vector<T>(first, first + count());
    }
  }

 private:
  std::shared_ptr<TF_Tensor> tensor_;
};

}  // namespace tensorloom
