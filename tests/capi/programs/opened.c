/* The library is opened at run time, for this program alone. */
#include <dlfcn.h>

#include "checks.h"

#define FIND(NAME) __typeof__(&NAME) find_##NAME = dlsym(library, #NAME)

int main(int count, char** arguments) {
  void* library = count < 2 ? NULL : dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return puts(dlerror()), 1;
  FIND(TF_NewStatus);
  FIND(TF_NewGraph);
  FIND(TF_NewOperation);
  FIND(TF_FinishOperation);
  FIND(TF_NewSessionOptions);
  FIND(TF_NewSession);
  FIND(TF_SessionRun);
  FIND(TF_Message);
  TF_Status* own = find_TF_NewStatus();
  TF_Graph* made = find_TF_NewGraph();
  TF_OperationDescription* desc = find_TF_NewOperation(made, "NoOp", "n");
  const TF_Operation* oper = find_TF_FinishOperation(desc, own);
  TF_Session* session = find_TF_NewSession(made, find_TF_NewSessionOptions(), own);
  find_TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &oper, 1, NULL, own);
  printf("ran: '%s'\n", find_TF_Message(own));
  return 0;
}
