/* What is refused, when, and in which words: attrs, names, functions and loops. */
#include "checks.h"

/* Code and message of a call. */
#define SAID(CALL)                                                           \
  (TF_SetStatus(status, TF_OK, ""), (void)(CALL),                            \
   printf("%s: %d %s\n", #CALL, (int)TF_GetCode(status), TF_Message(status)))

static TF_Operation* identity(TF_Graph* in, const char* name, TF_Output x) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, "Identity", name);
  TF_AddInput(desc, x);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static TF_Operation* less(TF_Graph* in, TF_Output x, TF_Output y) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, "Less", "less");
  TF_AddInput(desc, x), TF_AddInput(desc, y);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static TF_Operation* add(TF_Graph* in, TF_Output x, TF_Output y) {
  TF_Operation* made;
  TF_OperationDescription* desc = TF_NewOperation(in, "Add", "add");
  TF_AddInput(desc, x), TF_AddInput(desc, y);
  OK(made = TF_FinishOperation(desc, status));
  return made;
}

static int attempt(TF_Graph* in, TF_Output fed, TF_Tensor* value, TF_Output fetched) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Tensor* found = NULL;
  TF_Session* session;
  OK(session = TF_NewSession(in, options, status));
  TF_SessionRun(session, NULL, &fed, &value, 1, &fetched, &found, 1, NULL, 0, NULL,
                status);
  int code = TF_GetCode(status), result = 0;
  if (code == TF_OK) result = *(int32_t*)TF_TensorData(found);
  printf("run: %d", code);
  if (code == TF_OK) printf(" %d", result);
  putchar('\n');
  TF_DeleteTensor(found);
  TF_Status* closed = TF_NewStatus();
  TF_DeleteSession(session, closed);
  TF_DeleteStatus(closed);
  TF_DeleteSessionOptions(options);
  return code;
}

/* A name that no session takes: the graph may have it until it is run. */
static void names(void) {
  TF_Graph* in = TF_NewGraph();
  TF_Operation* x = placeholder(in, "x", TF_INT32);
  TF_Operation* odd = identity(in, "y/0/[1 2]", out(x));
  printf("%s\n", TF_OperationName(odd));
  printf("%d\n", TF_GraphOperationByName(in, "y/0/[1 2]") == odd);
  TF_Tensor* one = int32(1);
  attempt(in, out(x), one, out(odd));
  printf("%s\n", TF_Message(status));
  TF_Operation* plain = identity(in, "z", out(x)); /* no session runs it either */
  attempt(in, out(x), one, out(plain));
  TF_DeleteTensor(one);
  TF_DeleteGraph(in);
}

/* An attr for that of a function, which only the function's body can have. */
static void placeholders(void) {
  TF_Graph* in = TF_NewGraph();
  TF_Operation* x = placeholder(in, "x", TF_INT32);
  TF_Operation* s = identity(in, "s", out(x));
  TF_OperationDescription* desc = TF_NewOperation(in, "AsString", "t");
  TF_AddInput(desc, out(s));
  TF_SetAttrPlaceholder(desc, "width", "how_wide");
  TF_Operation* t;
  OK(t = TF_FinishOperation(desc, status));
  TF_Tensor* one = int32(1);
  attempt(in, out(x), one, out(s));
  printf("failed: %d\n", attempt(in, out(x), one, out(t)) != TF_OK);
  TF_DeleteTensor(one);
  TF_DeleteGraph(in);
}

/* The type of an input is named as TensorFlow's ops name types. */
static void types(void) {
  TF_Operation* whole = placeholder(graph, "whole", TF_INT32);
  TF_OperationDescription* desc =
      TF_NewOperation(graph, "FakeQuantWithMinMaxArgs", "quant");
  TF_AddInput(desc, out(whole));
  TF_FinishOperation(desc, status);
  const char* where = strstr(TF_Message(status), " using Op<");
  int length = where ? (int)(where - TF_Message(status)) : 1000;
  printf("%d %.*s\n", (int)TF_GetCode(status), length, TF_Message(status));
  TF_Operation* shaped;
  desc = TF_NewOperation(graph, "Placeholder", "shaped");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, -1);
  OK(shaped = TF_FinishOperation(desc, status));
  SAID(TF_OperationGetAttrShape(shaped, "shape", NULL, 10, status));
  SAID(TF_DeleteDeprecatedSession(NULL, status));
}

static void functions(void) {
  TF_Operation* a = placeholder(graph, "a", TF_INT32);
  TF_Operation* b = identity(graph, "b", out(a));
  TF_Output inputs[] = {out(a), {b, 2}}, outputs[] = {out(b)};
  TF_Output null = {NULL, 0}, third = {b, 3};
#define FUNCTION(NI, IN, OUT)                                                     \
  TF_GraphToFunction(graph, "F", 0, -1, NULL, NI, IN, 1, OUT, NULL, NULL, NULL, \
                     status)
  SAID(FUNCTION(2, inputs, outputs));
  SAID(FUNCTION(1, &null, outputs));
  SAID(FUNCTION(1, inputs, &third));
  SAID(FUNCTION(1, inputs, &null));
}

enum { COMPLETE, NOT_BOOL, NO_SUCH_OUTPUT, OUTER_TEST, OUTER_RESULT };

/* while (i < 10) i += 1, but for one mistake. */
static TF_Output loop(TF_Graph* in, TF_Operation* start, int mistake) {
  TF_Output inputs[] = {out(start)}, found = {NULL, -1};
  TF_WhileParams params = TF_NewWhile(in, inputs, 1, status);
  TF_Operation* ten = constant(params.cond_graph, "ten", int32(10));
  TF_Operation* test = less(params.cond_graph, params.cond_inputs[0], out(ten));
  TF_Operation* one = constant(params.body_graph, "one", int32(1));
  TF_Operation* sum = add(params.body_graph, params.body_inputs[0], out(one));
  params.cond_output = mistake == NOT_BOOL         ? out(ten)
                       : mistake == NO_SUCH_OUTPUT ? (TF_Output){test, 100}
                       : mistake == OUTER_TEST     ? inputs[0]
                                                   : out(test);
  params.body_outputs[0] = mistake == OUTER_RESULT ? inputs[0] : out(sum);
  params.name = "loop";
  SAID(TF_FinishWhile(&params, status, &found));
  return found;
}

/* A function with a loop in it is called in another graph. */
static void loop_in_function(void) {
  TF_Graph* body = TF_NewGraph();
  TF_Operation* start = placeholder(body, "start", TF_INT32);
  TF_Output inputs[] = {out(start)}, outputs[] = {loop(body, start, COMPLETE)};
  TF_Function* made;
  OK(made = TF_GraphToFunction(body, "CountToTen", 0, -1, NULL, 1, inputs, 1, outputs,
                               NULL, NULL, NULL, status));
  TF_DeleteGraph(body);
  TF_Graph* in = TF_NewGraph();
  OK(TF_GraphCopyFunction(in, made, NULL, status));
  OK(TF_GraphCopyFunction(in, made, NULL, status));
  TF_DeleteFunction(made);
  TF_Operation* x = placeholder(in, "x", TF_INT32);
  TF_OperationDescription* desc = TF_NewOperation(in, "CountToTen", "call");
  TF_AddInput(desc, out(x));
  TF_Operation* call;
  OK(call = TF_FinishOperation(desc, status));
  TF_Tensor* three = int32(3);
  attempt(in, out(x), three, out(call));
  TF_DeleteTensor(three);
  TF_DeleteGraph(in);
}

static void saved_model(void) {
  TF_Graph* in = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* tags[] = {"serve"};
  SAID(TF_LoadSessionFromSavedModel(options, NULL, "/no/such", tags, 1, in, NULL,
                                    status));
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(in);
}

int main(void) {
  begin();
  saved_model();
  names();
  placeholders();
  types();
  functions();
  TF_Operation* start = placeholder(graph, "start", TF_INT32);
  for (int mistake = NOT_BOOL; mistake <= OUTER_RESULT; mistake++)
    loop(graph, start, mistake);
  loop_in_function();
  end();
  return 0;
}
