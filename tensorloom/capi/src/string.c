/* Strings as they lie in a TF_STRING tensor: a varint with the length, and bytes. */
#include <string.h>

#include "memory.h"

enum { MOST_VARINT_BYTES = 10 };

static size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) value >>= 7, size++;
  return size;
}

size_t TF_StringEncodedSize(size_t length) { return varint_size(length) + length; }

size_t TF_StringEncode(const char* src, size_t src_length, char* dst, size_t dst_length,
                       TF_Status* status) {
  if (!tl_array_given(src, src_length != 0, "characters", status) ||
      !tl_given(dst, "dst", status))
    return 0;
  size_t size = TF_StringEncodedSize(src_length);
  if (size < src_length) {
    tl_fail(status, TF_INVALID_ARGUMENT, "src string is too large to encode");
    return 0;
  }
  if (dst_length < size) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "dst_len (%zu) too small to encode a %zu-byte string", dst_length,
            src_length);
    return 0;
  }
  uint64_t rest = src_length;
  for (; rest >= 0x80; rest >>= 7) *dst++ = (char)(rest | 0x80);
  *dst++ = (char)rest;
  if (src_length != 0) memcpy(dst, src, src_length);
  tl_ok(status);
  return size;
}

size_t TF_StringDecode(const char* src, size_t src_length, const char** dst,
                       size_t* dst_length, TF_Status* status) {
  if (!tl_given(src, "src", status) || !tl_given(dst, "dst", status) ||
      !tl_given(dst_length, "dst_len", status))
    return 0;
  uint64_t length = 0;
  size_t at = 0;
  int is_whole = 0;
  while (!is_whole && at < src_length && at < MOST_VARINT_BYTES) {
    unsigned char byte = (unsigned char)src[at];
    length |= (uint64_t)(byte & 0x7f) << (7 * at);
    is_whole = byte < 0x80;
    at++;
  }
  if (!is_whole || length > src_length - at) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "invalid string encoding or truncated src buffer");
    return 0;
  }
  *dst = src + at;
  *dst_length = length;
  tl_ok(status);
  return at + length;
}
