/* Many threads build graphs and run one session; some wait in a step meanwhile. */
#include <pthread.h>

#include "checks.h"

enum { THREADS = 8, STEPS = 200, WAITING = 4 };

static TF_Operation *x, *y, *taken;
static TF_Session* shared;

static int run_one(TF_Status* own, float value) {
  TF_Tensor *fed = number(value), *result = NULL;
  TF_Output feed = out(x), fetched = out(y);
  TF_SessionRun(shared, NULL, &feed, &fed, 1, &fetched, &result, 1, NULL, 0, NULL, own);
  TF_DeleteTensor(fed);
  int is_right = result != NULL && *(float*)TF_TensorData(result) == 2 * value;
  TF_DeleteTensor(result);
  return is_right;
}

static void* work(void* number_of_thread) {
  TF_Status* own = TF_NewStatus();
  long right = 0, thread = (long)number_of_thread;
  for (int i = 0; i < STEPS; i++) right += run_one(own, (float)(1000 * thread + i));
  /* A graph of the thread's own, and operations in the shared one. */
  TF_Graph* mine = TF_NewGraph();
  for (int i = 0; i < 20; i++) {
    char name[32];
    snprintf(name, sizeof name, "t%ld_%d", thread, i);
    TF_OperationDescription* desc = TF_NewOperation(mine, "NoOp", name);
    right += TF_FinishOperation(desc, own) != NULL;
    desc = TF_NewOperation(graph, "Neg", name);
    TF_AddInput(desc, out(x));
    right += TF_FinishOperation(desc, own) != NULL;
  }
  TF_DeleteGraph(mine);
  TF_DeleteStatus(own);
  return (void*)right;
}

/* An operation that puts x into a queue, and one that waits for it. */
static TF_Operation* queue(void) {
  TF_DataType types[] = {TF_FLOAT};
  TF_OperationDescription* desc = TF_NewOperation(graph, "FIFOQueueV2", "queue");
  TF_SetAttrTypeList(desc, "component_types", types, 1);
  TF_Operation* numbers = TF_FinishOperation(desc, status);
  desc = TF_NewOperation(graph, "QueueDequeueV2", "taken");
  TF_AddInput(desc, out(numbers));
  TF_SetAttrTypeList(desc, "component_types", types, 1);
  taken = TF_FinishOperation(desc, status);
  TF_Output component = out(x);
  desc = TF_NewOperation(graph, "QueueEnqueueV2", "put");
  TF_AddInput(desc, out(numbers));
  TF_AddInputList(desc, &component, 1);
  return TF_FinishOperation(desc, status);
}

static void* take(void* unused) {
  TF_Status* own = TF_NewStatus();
  TF_Output fetched = out(taken);
  TF_Tensor* result = NULL;
  (void)unused;
  TF_SessionRun(shared, NULL, NULL, NULL, 0, &fetched, &result, 1, NULL, 0, NULL, own);
  long value = result == NULL ? -1 : (long)*(float*)TF_TensorData(result);
  TF_DeleteTensor(result);
  TF_DeleteStatus(own);
  return (void*)value;
}

static long joined(pthread_t* threads, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) {
    void* result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  return sum;
}

int main(void) {
  begin();
  x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* two = constant(graph, "two", number(2));
  y = binary(graph, "Mul", "y", out(x), out(two));
  const TF_Operation* put = queue();
  shared = session_of(graph);
  pthread_t threads[THREADS], waiting[WAITING];
  for (int i = 0; i < WAITING; i++) pthread_create(&waiting[i], NULL, take, NULL);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  printf("%ld of %d\n", joined(threads, THREADS), THREADS * (STEPS + 40));
  TF_Output feed = out(x);
  for (int i = 0; i < WAITING; i++) {
    TF_Tensor* fed = number((float)(1 << i));
    TF_SessionRun(shared, NULL, &feed, &fed, 1, NULL, NULL, 0, &put, 1, NULL, status);
    TF_DeleteTensor(fed);
  }
  printf("taken %ld\n", joined(waiting, WAITING));
  end_session(shared);
  end();
  return 0;
}
