/* Elements of string tensors. Up to TensorFlow 2.3 a tensor of n strings is n offsets
 * of 8 bytes, and then each string after its length as a varint. Later ones are arrays
 * of TF_TString, which are opaque here. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

enum { TSTRING_SIZE = 24 };

static bool has_tstrings(void) {
  const char* version = TF_Version();
  int major = atoi(version);
  const char* dot = strchr(version, '.');
  return major > 2 || (major == 2 && dot && atoi(dot + 1) >= 4);
}

/* Linked by name at run time: libraries of the older layout lack them. */
static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static size_t varint_size(size_t value) {
  size_t size = 1;
  while (value >= 128) {
    value >>= 7;
    size++;
  }
  return size;
}

static TF_Tensor* new_tstring_tensor(const int64_t* dims, int rank, char** values,
                                     const size_t* lengths, int64_t count) {
  void (*init)(void*) = symbol("TF_StringInit");
  void (*copy)(void*, const char*, size_t) = symbol("TF_StringCopy");
  TF_Tensor* tensor =
      TF_AllocateTensor(TF_STRING, dims, rank, (size_t)count * TSTRING_SIZE);
  char* data = TF_TensorData(tensor);
  for (int64_t i = 0; i < count; i++) {
    init(data + i * TSTRING_SIZE);
    copy(data + i * TSTRING_SIZE, values[i], lengths[i]);
  }
  return tensor;
}

TF_Tensor* new_string_tensor(const int64_t* dims, int rank, char** values,
                             const size_t* lengths, int64_t count) {
  if (has_tstrings())
    return new_tstring_tensor(dims, rank, values, lengths, count);
  size_t size = (size_t)count * 8;
  for (int64_t i = 0; i < count; i++) size += varint_size(lengths[i]) + lengths[i];
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, dims, rank, size);
  char* data = TF_TensorData(tensor);
  char* start = data + count * 8;
  char* at = start;
  for (int64_t i = 0; i < count; i++) {
    uint64_t offset = (uint64_t)(at - start);
    memcpy(data + i * 8, &offset, 8);
    size_t length = lengths[i];
    for (; length >= 128; length >>= 7) *at++ = (char)(length | 128);
    *at++ = (char)length;
    memcpy(at, values[i], lengths[i]);
    at += lengths[i];
  }
  return tensor;
}

const char* string_element(TF_Tensor* tensor, int64_t index, size_t* length) {
  const unsigned char* data = TF_TensorData(tensor);
  if (has_tstrings()) {
    const char* (*pointer)(const void*) = symbol("TF_StringGetDataPointer");
    size_t (*size)(const void*) = symbol("TF_StringGetSize");
    *length = size(data + index * TSTRING_SIZE);
    return pointer(data + index * TSTRING_SIZE);
  }
  uint64_t offset;
  memcpy(&offset, data + index * 8, 8);
  const unsigned char* at = data + TF_TensorElementCount(tensor) * 8 + offset;
  *length = 0;
  for (int shift = 0;; shift += 7) {
    *length |= (size_t)(*at & 127) << shift;
    if (*at++ < 128) break;
  }
  return (const char*)at;
}
