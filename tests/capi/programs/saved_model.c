/* A SavedModel: loaded, and run by the names of its tensors. */
#include "checks.h"

int main(int count, char** arguments) {
  begin();
  const char* tags[] = {"serve"};
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Buffer* meta_graph = TF_NewBuffer();
  if (count < 2) return 1;
  TF_Session* session;
  CODE(TF_LoadSessionFromSavedModel(options, NULL, "/no/such/model", tags, 1, graph,
                                    NULL, status));
  OK(session = TF_LoadSessionFromSavedModel(options, NULL, arguments[1], tags, 1, graph,
                                            meta_graph, status));
  printf("%d\n", meta_graph->length > 100);
  TF_Output x = out(TF_GraphOperationByName(graph, "x"));
  TF_Output y = out(TF_GraphOperationByName(graph, "y"));
  TF_Tensor* result;
  OK(result = run(session, y, x, number(5)));
  show("y", result);
  CODE(TF_LoadSessionFromSavedModel(options, NULL, arguments[1], tags, 1, graph, NULL,
                                    status)); /* the graph is not empty */
  end_session(session);
  TF_DeleteSessionOptions(options);
  TF_DeleteBuffer(meta_graph);
  end();
  return 0;
}
