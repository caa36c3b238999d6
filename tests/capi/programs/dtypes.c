/* Bytes of every dtype of numbers go through a step as they are. */
#include "checks.h"

static void pass(TF_Session* session, TF_DataType dtype) {
  char name[32];
  snprintf(name, sizeof name, "x%d", (int)dtype);
  TF_Operation* x = placeholder(graph, name, dtype);
  snprintf(name, sizeof name, "y%d", (int)dtype);
  TF_Operation* y = unary(graph, "Identity", name, out(x));
  int64_t dims[] = {2, 1, 3};
  size_t length = 6 * TF_DataTypeSize(dtype);
  TF_Tensor* value = TF_AllocateTensor(dtype, dims, 3, length);
  unsigned char kept[6 * 16];
  /* Ones and zeros: bits that every dtype takes as they are. */
  for (size_t i = 0; i < length; i++) kept[i] = (unsigned char)(i % 3 == 0);
  memcpy(TF_TensorData(value), kept, length);
  TF_Tensor* result;
  OK(result = run(session, out(y), out(x), value));
  printf("%d: type %d rank %d, %zu bytes, %s\n", (int)dtype, (int)TF_TensorType(result),
         TF_NumDims(result), TF_TensorByteSize(result),
         memcmp(TF_TensorData(result), kept, length) == 0 ? "the same" : "others");
  TF_DeleteTensor(result);
}

int main(void) {
  begin();
  TF_Operation* c = constant(graph, "c", number(1));
  TF_Session* session = session_of(graph);
  show("c", fetch(session, c));
  for (int dtype = 1; dtype <= 23; dtype++)
    if (TF_DataTypeSize((TF_DataType)dtype) != 0) pass(session, (TF_DataType)dtype);
  end_session(session);
  end();
  return 0;
}
