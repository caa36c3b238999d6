/* Steps through the C API, of this library or of TensorFlow: seconds for one.

   c_api null|scalar|large|threads|eager
   c_api mlp GRAPH, a GraphDef of benchmarks/workloads/models.py */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

enum { THREADS = 8, LARGE = 25 * 1000 * 1000 };

static TF_Status* status;
static TF_Session* session;
static TF_Output x, y, size;
static const TF_Operation* nothing;
static int steps;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check(TF_Status* of) {
  if (TF_GetCode(of) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(of));
  exit(1);
}

static void build(void) {
  TF_Graph* graph = TF_NewGraph();
  status = TF_NewStatus();
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  x = (TF_Output){TF_FinishOperation(desc, status), 0};
  check(status);
  desc = TF_NewOperation(graph, "Neg", "y");
  TF_AddInput(desc, x);
  y = (TF_Output){TF_FinishOperation(desc, status), 0};
  check(status);
  desc = TF_NewOperation(graph, "Size", "size");
  TF_AddInput(desc, x);
  size = (TF_Output){TF_FinishOperation(desc, status), 0};
  check(status);
  desc = TF_NewOperation(graph, "NoOp", "nothing");
  nothing = TF_FinishOperation(desc, status);
  check(status);
  session = TF_NewSession(graph, TF_NewSessionOptions(), status);
  check(status);
}

static void run_nothing(TF_Status* own) {
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &nothing, 1, NULL, own);
}

static void run_fed(TF_Tensor* value, TF_Output fetched, TF_Status* own) {
  TF_Tensor* result = NULL;
  TF_SessionRun(session, NULL, &x, &value, 1, &fetched, &result, 1, NULL, 0, NULL, own);
  check(own);
  TF_DeleteTensor(result);
}

static void* run_many(void* unused) {
  TF_Status* own = TF_NewStatus();
  TF_Tensor* value = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
  *(float*)TF_TensorData(value) = 1;
  for (int i = 0; i < steps; i++) run_fed(value, y, own);
  TF_DeleteTensor(value);
  TF_DeleteStatus(own);
  return unused;
}

static double in_threads(void) {
  pthread_t threads[THREADS];
  double start = now();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run_many, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return (now() - start) / THREADS;
}

static double large(void) {
  int64_t dims[] = {LARGE};
  TF_Tensor* value = TF_AllocateTensor(TF_FLOAT, dims, 1, LARGE * sizeof(float));
  memset(TF_TensorData(value), 0, LARGE * sizeof(float));
  run_fed(value, size, status);
  double start = now();
  for (int i = 0; i < steps; i++) run_fed(value, size, status);
  return now() - start;
}

/* Ops that run one at a time, each made, run and deleted. */
static double eager(void) {
  TFE_Context* context = TFE_NewContext(TFE_NewContextOptions(), status);
  check(status);
  TF_Tensor* value = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
  *(float*)TF_TensorData(value) = 1;
  TFE_TensorHandle* input = TFE_NewTensorHandle(value, status);
  check(status);
  double start = 0;
  for (int i = -steps / 4; i < steps; i++) {
    if (i == 0) start = now();
    TFE_Op* op = TFE_NewOp(context, "AddV2", status);
    TFE_OpAddInput(op, input, status);
    TFE_OpAddInput(op, input, status);
    TFE_TensorHandle* sum;
    int count = 1;
    TFE_Execute(op, &sum, &count, status);
    check(status);
    TFE_DeleteTensorHandle(sum);
    TFE_DeleteOp(op);
  }
  return now() - start;
}

/* A graph that Python wrote; its nodes have the names that Python gives. */
static double mlp(const char* path) {
  enum { BATCH = 32, PIXELS = 784 };
  static char proto[1 << 20];
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(1);
  TF_Buffer* def = TF_NewBufferFromString(proto, fread(proto, 1, sizeof proto, file));
  fclose(file);
  TF_Graph* graph = TF_NewGraph();
  TF_GraphImportGraphDef(graph, def, TF_NewImportGraphDefOptions(), status);
  check(status);
  const char* names[] = {"Placeholder", "Placeholder_1", "Mean"};
  TF_Output ends[3];
  for (int i = 0; i < 3; i++)
    ends[i] = (TF_Output){TF_GraphOperationByName(graph, names[i]), 0};
  const TF_Operation* init = TF_GraphOperationByName(graph, "init");
  const TF_Operation* train = TF_GraphOperationByName(graph, "Adam");
  session = TF_NewSession(graph, TF_NewSessionOptions(), status);
  check(status);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &init, 1, NULL, status);
  check(status);
  int64_t dims[] = {BATCH, PIXELS};
  TF_Tensor* feeds[] = {TF_AllocateTensor(TF_FLOAT, dims, 2, BATCH * PIXELS * 4),
                        TF_AllocateTensor(TF_INT64, dims, 1, BATCH * 8)};
  for (int i = 0; i < BATCH * PIXELS; i++)
    ((float*)TF_TensorData(feeds[0]))[i] = (float)(i * 7919 % 1000) / 1000;
  for (int i = 0; i < BATCH; i++) ((int64_t*)TF_TensorData(feeds[1]))[i] = i % 10;
  steps = 500;
  double start = 0;
  for (int i = -100; i < steps; i++) {
    if (i == 0) start = now();
    TF_Tensor* loss = NULL;
    TF_SessionRun(session, NULL, ends, feeds, 2, ends + 2, &loss, 1, &train, 1, NULL,
                  status);
    check(status);
    TF_DeleteTensor(loss);
  }
  return now() - start;
}

int main(int count, char** arguments) {
  const char* row = count > 1 ? arguments[1] : "";
  double spent = 0;
  build();
  run_nothing(status);
  check(status);
  if (strcmp(row, "first") == 0) {
    puts("0");
    return 0;
  }
  steps = 2000;
  if (strcmp(row, "mlp") == 0 && count > 2) {
    spent = mlp(arguments[2]);
  } else if (strcmp(row, "eager") == 0) {
    spent = eager();
  } else if (strcmp(row, "large") == 0) {
    spent = large();
  } else if (strcmp(row, "threads") == 0) {
    run_many(NULL);
    spent = in_threads();
  } else if (strcmp(row, "scalar") == 0) {
    run_many(NULL);
    double start = now();
    run_many(NULL);
    spent = now() - start;
  } else {
    for (int i = 0; i < steps; i++) run_nothing(status);
    double start = now();
    for (int i = 0; i < steps; i++) run_nothing(status);
    spent = now() - start;
    check(status);
  }
  printf("%.9f\n", spent / steps);
  return 0;
}
