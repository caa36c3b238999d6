#include "tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char* name;
  TF_DataType dtype;
} DTYPES[] = {
    {"float32", TF_FLOAT},     {"float64", TF_DOUBLE},    {"int32", TF_INT32},
    {"uint8", TF_UINT8},       {"int16", TF_INT16},       {"int8", TF_INT8},
    {"string", TF_STRING},     {"complex64", TF_COMPLEX64}, {"int64", TF_INT64},
    {"bool", TF_BOOL},         {"uint16", TF_UINT16},     {"resource", TF_RESOURCE},
    {"variant", TF_VARIANT},   {"uint32", TF_UINT32},     {"uint64", TF_UINT64},
    {"float16", TF_HALF},      {"bfloat16", TF_BFLOAT16}, {"complex128", TF_COMPLEX128},
};
enum { NUM_DTYPES = sizeof DTYPES / sizeof DTYPES[0] };

TF_DataType dtype_named(const char* name) {
  for (int i = 0; i < NUM_DTYPES; i++)
    if (strcmp(DTYPES[i].name, name) == 0) return DTYPES[i].dtype;
  return (TF_DataType)0;
}

const char* dtype_name(TF_DataType dtype) {
  for (int i = 0; i < NUM_DTYPES; i++)
    if (DTYPES[i].dtype == dtype) return DTYPES[i].name;
  return "?";
}

static void store(void* data, TF_DataType dtype, int64_t i, const char* text) {
  switch (dtype) {
    case TF_FLOAT: ((float*)data)[i] = strtof(text, NULL); break;
    case TF_DOUBLE: ((double*)data)[i] = strtod(text, NULL); break;
    case TF_BOOL: ((uint8_t*)data)[i] = strcmp(text, "true") == 0; break;
    case TF_INT8: case TF_UINT8:
      ((uint8_t*)data)[i] = (uint8_t)atoll(text); break;
    case TF_INT16: case TF_UINT16:
      ((uint16_t*)data)[i] = (uint16_t)atoll(text); break;
    case TF_INT32: case TF_UINT32:
      ((uint32_t*)data)[i] = (uint32_t)atoll(text); break;
    default: ((uint64_t*)data)[i] = strtoull(text, NULL, 10); break;
  }
}

static void load(void* data, TF_DataType dtype, int64_t i, char* text, size_t size) {
  long long value;
  switch (dtype) {
    case TF_FLOAT: snprintf(text, size, "%.9g", ((float*)data)[i]); return;
    case TF_DOUBLE: snprintf(text, size, "%.17g", ((double*)data)[i]); return;
    case TF_BOOL:
      snprintf(text, size, "%s", ((uint8_t*)data)[i] ? "true" : "false"); return;
    case TF_UINT64:
      snprintf(text, size, "%llu", (unsigned long long)((uint64_t*)data)[i]); return;
    case TF_INT8: value = ((int8_t*)data)[i]; break;
    case TF_UINT8: value = ((uint8_t*)data)[i]; break;
    case TF_INT16: value = ((int16_t*)data)[i]; break;
    case TF_UINT16: value = ((uint16_t*)data)[i]; break;
    case TF_INT32: value = ((int32_t*)data)[i]; break;
    case TF_UINT32: value = ((uint32_t*)data)[i]; break;
    default: value = ((int64_t*)data)[i]; break;
  }
  snprintf(text, size, "%lld", value);
}

/* A literal in its parts: the values are its own text, cut. */
typedef struct {
  TF_DataType dtype;
  int64_t dims[MOST];
  int rank;
  int64_t count;
  char** values;
  int64_t num_values;
} Literal;

static bool read_literal(World* world, char* text, Literal* literal) {
  char* bracket = strchr(text, '[');
  char* values = bracket ? strstr(bracket, "]=") : NULL;
  if (!values) {
    broken(world, "\"%s\" is no tensor", text);
    return false;
  }
  *bracket = *values = '\0';
  values += 2;
  literal->dtype = dtype_named(text);
  literal->rank = bracket[1] ? parse_shape(bracket + 1, literal->dims) : 0;
  literal->count = 1;
  for (int i = 0; i < literal->rank; i++) literal->count *= literal->dims[i];
  literal->num_values = literal->count ? 1 : 0;
  for (char* at = values; literal->count && *at; at++)
    literal->num_values += *at == ',';
  int64_t room = literal->count > literal->num_values ? literal->count
                                                      : literal->num_values;
  literal->values = calloc((size_t)room + 1, sizeof(char*));
  for (int64_t i = 0; i < literal->num_values; i++) {
    literal->values[i] = values;
    values = strchr(values, ',');
    if (values) *values++ = '\0';
  }
  if (literal->num_values != literal->count && literal->num_values != 1 &&
      literal->count) {
    broken(world, "a literal of %lld elements has %lld values",
           (long long)literal->count, (long long)literal->num_values);
    free(literal->values);
    return false;
  }
  for (int64_t i = literal->num_values; i < literal->count; i++)
    literal->values[i] = literal->values[0];
  return true;
}

TF_Tensor* parse_tensor(World* world, char* text) {
  Literal literal;
  if (!read_literal(world, text, &literal)) return NULL;
  TF_Tensor* tensor;
  if (literal.dtype == TF_STRING) {
    size_t* lengths = calloc((size_t)literal.count + 1, sizeof(size_t));
    for (int64_t i = 0; i < literal.count; i++)
      lengths[i] = i < literal.num_values ? unescape(literal.values[i]) : lengths[0];
    tensor = new_string_tensor(literal.dims, literal.rank, literal.values, lengths,
                               literal.count);
    free(lengths);
  } else {
    size_t size = (size_t)literal.count * TF_DataTypeSize(literal.dtype);
    tensor = TF_AllocateTensor(literal.dtype, literal.dims, literal.rank, size);
    for (int64_t i = 0; i < literal.count; i++)
      store(TF_TensorData(tensor), literal.dtype, i, literal.values[i]);
  }
  free(literal.values);
  return tensor;
}

static bool same(TF_Tensor* got, TF_DataType dtype, int64_t i, char* expected,
                 char* shown, size_t size) {
  if (dtype == TF_STRING) {
    size_t length, wanted = unescape(expected);
    const char* bytes = string_element(got, i, &length);
    snprintf(shown, size, "%.*s", (int)length, bytes);
    return length == wanted && memcmp(bytes, expected, length) == 0;
  }
  load(TF_TensorData(got), dtype, i, shown, size);
  if (dtype != TF_FLOAT && dtype != TF_DOUBLE) return strcmp(shown, expected) == 0;
  double a = strtod(shown, NULL), b = strtod(expected, NULL);
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= 1e-5 + 1e-4 * fabs(b);
}

void expect_tensor(World* world, const char* what, TF_Tensor* got, char* text) {
  Literal literal;
  if (!read_literal(world, text, &literal)) return;
  TF_DataType dtype = TF_TensorType(got);
  if (dtype != literal.dtype)
    broken(world, "%s is of %s, expected %s", what, dtype_name(dtype),
           dtype_name(literal.dtype));
  expect_int(world, "the rank", TF_NumDims(got), literal.rank);
  for (int i = 0; i < literal.rank && !is_broken(world); i++)
    expect_int(world, "a dimension", TF_Dim(got, i), literal.dims[i]);
  for (int64_t i = 0; i < literal.count && !is_broken(world); i++) {
    char shown[256];
    if (!same(got, dtype, i, literal.values[i], shown, sizeof shown))
      broken(world, "element %lld of %s is %s, expected %s", (long long)i, what, shown,
             literal.values[i]);
  }
  free(literal.values);
}
