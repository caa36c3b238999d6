/* TF_Buffer: bytes with an owner. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

TF_Buffer* TF_NewBuffer(void) { return calloc(1, sizeof(TF_Buffer)); }

TF_Buffer* TF_NewBufferFromString(const void* bytes, size_t length) {
  TF_Buffer* buffer = TF_NewBuffer();
  if (buffer == NULL || bytes == NULL) return buffer;
  if (tl_fill_buffer(buffer, bytes, length, NULL)) return buffer;
  free(buffer);
  return NULL;
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == NULL) return;
  if (buffer->data_deallocator != NULL)
    buffer->data_deallocator((void*)buffer->data, buffer->length);
  free(buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) {
  static const TF_Buffer empty;
  return buffer == NULL ? empty : *buffer;
}

int tl_fill_buffer(TF_Buffer* buffer, const void* data, size_t length,
                   TF_Status* status) {
  if (buffer->data != NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    return 0;
  }
  /* One byte at least: NULL would say that nothing was written. */
  void* copy = malloc(length == 0 ? 1 : length);
  if (copy == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for a message of %zu bytes",
            length);
    return 0;
  }
  if (length != 0) memcpy(copy, data, length);
  buffer->data = copy;
  buffer->length = length;
  buffer->data_deallocator = free_bytes;
  return 1;
}
