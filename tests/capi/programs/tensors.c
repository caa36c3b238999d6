/* Statuses, buffers and tensors: no graph, no interpreter. */
#include <stdbool.h>

#include "checks.h"

static int freed;

static void count_free(void* data, size_t length, void* arg) {
  freed += 1;
  printf("freed %zu bytes, arg %d\n", length, *(int*)arg);
  free(data);
}

static void count_buffer_free(void* data, size_t length) {
  printf("freed a buffer of %zu bytes\n", length);
  free(data);
}

static void statuses(void) {
  printf("%d '%s'\n", TF_GetCode(status), TF_Message(status));
  TF_SetStatus(status, TF_CANCELLED, "stopped");
  printf("%d '%s'\n", TF_GetCode(status), TF_Message(status));
  TF_SetStatus(status, TF_OK, "");
  printf("%d '%s'\n", TF_GetCode(status), TF_Message(status));
  TF_DeleteStatus(NULL);
}

static void buffers(void) {
  TF_Buffer* buffer = TF_NewBufferFromString("abc\0d", 5);
  TF_Buffer seen = TF_GetBuffer(buffer);
  printf("%zu %d\n", seen.length, memcmp(seen.data, "abc\0d", 5));
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  printf("%d %zu %d\n", buffer->data == NULL, buffer->length,
         buffer->data_deallocator == NULL);
  buffer->data = malloc(7);
  buffer->length = 7;
  buffer->data_deallocator = count_buffer_free;
  TF_DeleteBuffer(buffer);
  TF_DeleteBuffer(NULL);
}

static void dtypes(void) {
  for (int dtype = 1; dtype <= 23; dtype++)
    printf("%d:%zu ", dtype, TF_DataTypeSize((TF_DataType)dtype));
  puts("");
}

static void tensors(void) {
  int64_t dims[] = {2, 3}, other[] = {6}, bad[] = {3, 3};
  int arg = 42;
  float* data = aligned_alloc(64, 64);
  for (int i = 0; i < 6; i++) data[i] = (float)i;
  TF_Tensor* tensor = TF_NewTensor(TF_FLOAT, dims, 2, data, 24, count_free, &arg);
  printf("%d %d %lld %lld %zu %d\n", TF_TensorType(tensor), TF_NumDims(tensor),
         (long long)TF_Dim(tensor, 0), (long long)TF_Dim(tensor, 1),
         TF_TensorByteSize(tensor), TF_TensorData(tensor) == data);
  printf("%lld\n", (long long)TF_TensorElementCount(tensor));
  printf("moved: %d\n", TF_TensorMaybeMove(tensor) == tensor);
  TF_Tensor* view = TF_AllocateTensor(TF_INT32, NULL, 0, 4);
  CODE(TF_TensorBitcastFrom(tensor, TF_INT32, view, other, 1, status));
  printf("%d %lld %d\n", TF_TensorType(view), (long long)TF_Dim(view, 0),
         TF_TensorData(view) == TF_TensorData(tensor));
  CODE(TF_TensorBitcastFrom(tensor, TF_DOUBLE, view, bad, 2, status));
  TF_DeleteTensor(tensor);
  puts("the view still holds the memory");
  TF_DeleteTensor(view);
  printf("freed %d\n", freed);
  /* Too few bytes for the dimensions. */
  data = aligned_alloc(64, 64);
  printf("%d\n", TF_NewTensor(TF_FLOAT, bad, 2, data, 24, count_free, &arg) == NULL);
  /* Nothing in it. */
  int64_t none[] = {0, 5};
  tensor = TF_AllocateTensor(TF_DOUBLE, none, 2, 0);
  printf("%lld %zu\n", (long long)TF_TensorElementCount(tensor),
         TF_TensorByteSize(tensor));
  TF_DeleteTensor(tensor);
  /* An address that does not fit the elements: the bytes are copied. */
  char* odd = malloc(32);
  memcpy(odd + 1, "\0\0\x80\x3f", 4); /* 1.0f */
  tensor = TF_NewTensor(TF_FLOAT, NULL, 0, odd + 1, 4, leave_it, NULL);
  memset(odd, 0, 32);
  show("copied", tensor);
  free(odd);
  TF_DeleteTensor(NULL);
}

int main(void) {
  status = TF_NewStatus();
  statuses();
  buffers();
  dtypes();
  tensors();
  TF_DeleteStatus(status);
  puts("end");
  return 0;
}
