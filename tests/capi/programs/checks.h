/* What the test programs share: short ways to build graphs, and lines of output.

   They are written against TensorFlow's C API alone, so that the same programs run with
   real TensorFlow, and its output can be compared line by line. */
#ifndef TESTS_CAPI_CHECKS_H_
#define TESTS_CAPI_CHECKS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static TF_Status* status;
static TF_Graph* graph;

/* Prints the status code of a call, and what it was. Some functions of TensorFlow leave
   a status as it is when they work. */
#define CODE(CALL)                       \
  (TF_SetStatus(status, TF_OK, ""), (CALL), \
   printf("%s: %d\n", #CALL, (int)TF_GetCode(status)))

/* A call that must work. */
#define OK(CALL)                                                              \
  do {                                                                        \
    (CALL);                                                                   \
    if (TF_GetCode(status) != TF_OK) {                                        \
      printf("line %d: %s: %d %s\n", __LINE__, #CALL, (int)TF_GetCode(status), \
             TF_Message(status));                                             \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static inline void leave_it(void* data, size_t length, void* arg) {
  (void)data, (void)length, (void)arg;
}

static inline void begin(void) {
  setvbuf(stdout, NULL, _IOLBF, 0); /* what came before a crash is seen */
  status = TF_NewStatus();
  graph = TF_NewGraph();
}

static inline void end(void) {
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  puts("end");
}

static inline TF_Output out(TF_Operation* oper) { return (TF_Output){oper, 0}; }

static inline TF_Operation* placeholder(TF_Graph* in, const char* name,
                                        TF_DataType dtype) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", dtype);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static inline TF_Tensor* floats(const int64_t* dims, int num_dims,
                                const float* values, int count) {
  TF_Tensor* tensor =
      TF_AllocateTensor(TF_FLOAT, dims, num_dims, (size_t)count * sizeof(float));
  memcpy(TF_TensorData(tensor), values, (size_t)count * sizeof(float));
  return tensor;
}

static inline TF_Tensor* number(float value) { return floats(NULL, 0, &value, 1); }

static inline TF_Tensor* int32(int32_t value) {
  TF_Tensor* tensor = TF_AllocateTensor(TF_INT32, NULL, 0, sizeof value);
  memcpy(TF_TensorData(tensor), &value, sizeof value);
  return tensor;
}

/* A constant; deletes the tensor. */
static inline TF_Operation* constant(TF_Graph* in, const char* name,
                                     TF_Tensor* value) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, "Const", name);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  OK(TF_SetAttrTensor(desc, "value", value, status));
  OK(made = TF_FinishOperation(desc, status));
  TF_DeleteTensor(value);
  return made;
}

static inline TF_Operation* unary(TF_Graph* in, const char* type, const char* name,
                                  TF_Output x) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, type, name);
  TF_AddInput(desc, x);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static inline TF_Operation* binary(TF_Graph* in, const char* type, const char* name,
                                   TF_Output x, TF_Output y) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, type, name);
  TF_AddInput(desc, x);
  TF_AddInput(desc, y);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static inline TF_Session* session_of(TF_Graph* of) {
  TF_Session* session;
  TF_SessionOptions* options = TF_NewSessionOptions();
  OK(session = TF_NewSession(of, options, status));
  TF_DeleteSessionOptions(options);
  return session;
}

static inline void end_session(TF_Session* session) {
  OK(TF_CloseSession(session, status));
  OK(TF_DeleteSession(session, status));
}

/* Prints dtype, dimensions and elements, and deletes the tensor. */
static inline void show(const char* what, TF_Tensor* tensor) {
  if (tensor == NULL) {
    printf("%s: no tensor\n", what);
    return;
  }
  printf("%s: type %d [", what, (int)TF_TensorType(tensor));
  for (int i = 0; i < TF_NumDims(tensor); i++)
    printf("%lld,", (long long)TF_Dim(tensor, i));
  printf("]");
  int64_t count = TF_TensorElementCount(tensor);
  for (int64_t i = 0; i < count && i < 12; i++) {
    if (TF_TensorType(tensor) == TF_FLOAT)
      printf(" %.6g", (double)((float*)TF_TensorData(tensor))[i]);
    else if (TF_TensorType(tensor) == TF_INT32)
      printf(" %d", ((int32_t*)TF_TensorData(tensor))[i]);
    else if (TF_TensorType(tensor) == TF_INT64)
      printf(" %lld", (long long)((int64_t*)TF_TensorData(tensor))[i]);
    else if (TF_TensorType(tensor) == TF_BOOL)
      printf(" %d", ((unsigned char*)TF_TensorData(tensor))[i]);
  }
  puts("");
  TF_DeleteTensor(tensor);
}

/* Runs a step that feeds at most one tensor, which is deleted, and fetches one. */
static inline TF_Tensor* run(TF_Session* session, TF_Output fetch, TF_Output feed,
                             TF_Tensor* value) {
  TF_Tensor* result = NULL;
  TF_SessionRun(session, NULL, &feed, &value, value != NULL, &fetch, &result, 1, NULL,
                0, NULL, status);
  TF_DeleteTensor(value);
  return result;
}

static inline TF_Tensor* fetch(TF_Session* session, TF_Operation* oper) {
  return run(session, out(oper), (TF_Output){NULL, 0}, NULL);
}

#endif /* TESTS_CAPI_CHECKS_H_ */
