/* Many threads build graphs and run one session. */
#include <pthread.h>

#include "checks.h"

enum { THREADS = 8, STEPS = 200 };

static TF_Operation *x, *y;
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

int main(void) {
  begin();
  x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* two = constant(graph, "two", number(2));
  y = binary(graph, "Mul", "y", out(x), out(two));
  shared = session_of(graph);
  pthread_t threads[THREADS];
  long right = 0;
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < THREADS; i++) {
    void* result;
    pthread_join(threads[i], &result);
    right += (long)result;
  }
  printf("%ld of %d\n", right, THREADS * (STEPS + 40));
  end_session(shared);
  end();
  return 0;
}
