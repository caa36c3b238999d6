/* Loads the SavedModel of the conformance suite and runs it: saved_model DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static void check(TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(status));
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* tags[] = {"serve"};
  TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, argv[1], tags, 1,
                                                     graph, NULL, status);
  check(status);
  const int64_t dims[] = {2, 3};
  const float values[] = {1, 2, 3, 4, 5, 6};
  TF_Tensor* x = TF_AllocateTensor(TF_FLOAT, dims, 2, sizeof values);
  memcpy(TF_TensorData(x), values, sizeof values);
  TF_Output feed = {TF_GraphOperationByName(graph, "x"), 0};
  TF_Output fetch = {TF_GraphOperationByName(graph, "scores"), 0};
  TF_Tensor* scores = NULL;
  TF_SessionRun(session, NULL, &feed, &x, 1, &fetch, &scores, 1, NULL, 0, NULL, status);
  check(status);
  const float* found = TF_TensorData(scores);
  printf("[[%g %g] [%g %g]]\n", found[0], found[1], found[2], found[3]);
  TF_DeleteTensor(x);
  TF_DeleteTensor(scores);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
