/* A library of ops in C, loaded and run through the C API. */
#include "checks.h"

int main(int count, char** arguments) {
  begin();
  TF_Library* library;
  if (count < 2) return 1;
  OK(library = TF_LoadLibrary(arguments[1], status));
  printf("%d\n", TF_GetOpList(library).length > 50);
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* y = unary(graph, "ScaledInC", "y", out(x));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, out(y), out(x), number(21)));
  show("y", result);
  end_session(session);
  TF_DeleteLibraryHandle(library);
  end();
  return 0;
}
