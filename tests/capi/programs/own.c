/* What this library has and TensorFlow has not: gradients through loops and of every op,
   errors in place of crashes, names that are refused by name. */
#include "checks.h"

/* y = x * w ^ 4, by a loop. */
static void gradient_of_loop(void) {
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* w = constant(graph, "w", number(3));
  TF_Operation* start = constant(graph, "start", int32(0));
  TF_Output inputs[] = {out(start), out(x), out(w)}, outputs[3], dy[2];
  TF_WhileParams params = TF_NewWhile(graph, inputs, 3, status);
  TF_Operation* limit = constant(params.cond_graph, "limit", int32(4));
  params.cond_output =
      out(binary(params.cond_graph, "Less", "less", params.cond_inputs[0], out(limit)));
  TF_Operation* one = constant(params.body_graph, "one", int32(1));
  params.body_outputs[0] =
      out(binary(params.body_graph, "Add", "next", params.body_inputs[0], out(one)));
  params.body_outputs[1] = out(binary(params.body_graph, "Mul", "power",
                                      params.body_inputs[1], params.body_inputs[2]));
  params.body_outputs[2] = params.body_inputs[2];
  params.name = "loop";
  OK(TF_FinishWhile(&params, status, outputs));
  TF_Output xs[] = {out(x), out(w)};
  OK(TF_AddGradients(graph, outputs + 1, 1, xs, 2, NULL, status, dy));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, dy[0], out(x), number(2)));
  show("dy/dx", result);
  OK(result = run(session, dy[1], out(x), number(2)));
  show("dy/dw", result);
  end_session(session);
}

/* Ops whose gradients TensorFlow's C API does not have. */
static void gradients_of_ops(void) {
  TF_Operation* x = placeholder(graph, "r", TF_FLOAT);
  TF_Operation* y = unary(graph, "Digamma", "digamma", out(x));
  TF_Output ys[] = {out(y)}, xs[] = {out(x)}, dy[1];
  OK(TF_AddGradientsWithPrefix(graph, "of_digamma", ys, 1, xs, 1, NULL, status, dy));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, dy[0], out(x), number(1)));
  show("trigamma", result);
  TF_Operation* other = placeholder(graph, "other", TF_FLOAT);
  TF_Output unrelated[] = {out(other)};
  OK(TF_AddGradients(graph, ys, 1, unrelated, 1, NULL, status, dy));
  printf("no gradient: %d %d\n", dy[0].oper == NULL, dy[0].index);
  end_session(session);
}

/* A handle that a step gave is fed to another. */
static void handles(void) {
  TF_Operation* c = constant(graph, "c", number(1));
  TF_Session* session = session_of(graph);
  TF_OperationDescription* desc = TF_NewOperation(graph, "VarHandleOp", "handle");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, 0);
  TF_Operation *handle, *assign, *read;
  OK(handle = TF_FinishOperation(desc, status));
  TF_Operation* given = placeholder(graph, "given", TF_RESOURCE);
  desc = TF_NewOperation(graph, "AssignVariableOp", "assign");
  TF_AddInput(desc, out(handle));
  TF_AddInput(desc, out(c));
  OK(assign = TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "ReadVariableOp", "read");
  TF_AddInput(desc, out(given));
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  OK(read = TF_FinishOperation(desc, status));
  const TF_Operation* targets[] = {assign};
  OK(TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets, 1, NULL,
                   status));
  TF_Tensor *fetched, *result;
  OK(fetched = fetch(session, handle));
  printf("handle: type %d rank %d\n", (int)TF_TensorType(fetched), TF_NumDims(fetched));
  OK(result = run(session, out(read), out(given), fetched));
  show("read", result);
  end_session(session);
}

static void deprecated(void) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  CODE(TF_NewDeprecatedSession(options, status));
  CODE(TF_ExtendGraph(NULL, "", 0, status));
  CODE(TF_Run(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, status));
  CODE(TF_CloseDeprecatedSession(NULL, status));
  TF_DeleteSessionOptions(options);
}

static void nulls(void) {
  TF_Output none = {NULL, 0};
  TF_Buffer* buffer = TF_NewBuffer();
  int64_t dims[1];
  TF_Tensor* tensor;
  TF_Output dy;
  CODE(TF_NewSession(NULL, NULL, status));
  CODE(TF_SessionRun(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, status));
  CODE(TF_SessionRun(NULL, NULL, NULL, NULL, -1, NULL, NULL, 0, NULL, 0, NULL, status));
  CODE(TF_CloseSession(NULL, status));
  CODE(TF_DeleteSession(NULL, status));
  CODE(TF_FinishOperation(NULL, status));
  CODE(TF_GraphSetTensorShape(graph, none, NULL, 0, status));
  CODE(TF_GraphGetTensorShape(graph, none, dims, 1, status));
  CODE(TF_GraphToGraphDef(NULL, buffer, status));
  CODE(TF_GraphToGraphDef(graph, NULL, status));
  CODE(TF_GraphImportGraphDef(graph, NULL, NULL, status));
  CODE(TF_OperationGetAttrTensor(NULL, "value", &tensor, status));
  CODE(TF_AddGradients(graph, &none, 1, &none, 1, NULL, status, &dy));
  CODE(TF_FinishWhile(NULL, status, &dy));
  CODE(TF_TryEvaluateConstant(graph, none, &tensor, status));
  CODE(TF_GraphToFunction(NULL, "f", 0, -1, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL,
                          status));
  CODE(TF_SessionListDevices(NULL, status));
  CODE(TF_LoadLibrary(NULL, status));
  CODE(TF_ServerStart(NULL, status));
  TF_OperationDescription* desc = TF_NewOperation(graph, "Neg", "null_input");
  TF_AddInput(desc, none);
  CODE(TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "Placeholder", "null_name");
  TF_SetAttrType(desc, NULL, TF_FLOAT);
  CODE(TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "Placeholder", "no_dtype");
  TF_SetAttrType(desc, "dtype", (TF_DataType)999);
  CODE(TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "Placeholder", "bad_shape");
  dims[0] = -7;
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", dims, 1);
  CODE(TF_FinishOperation(desc, status));
  printf("%d\n", TF_NewOperation(NULL, "Neg", "x") == NULL);
  printf("%d\n", TF_GraphOperationByName(graph, NULL) == NULL);
  printf("%d\n", TF_OperationName(NULL) == NULL);
  printf("%d\n", TF_OperationNumInputs(NULL));
  TF_Output past = {TF_GraphOperationByName(graph, "x"), 5};
  CODE(TF_GraphGetTensorNumDims(graph, past, status));
  TF_DeleteBuffer(buffer);
  TF_DeleteSessionOptions(NULL);
  TF_DeleteGraph(NULL);
  TF_DeleteImportGraphDefOptions(NULL);
  TF_DeleteImportGraphDefResults(NULL);
  TF_DeleteLibraryHandle(NULL);
  TF_DeleteApiDefMap(NULL);
  TF_DeleteServer(NULL);
  TF_DeleteDeviceList(NULL);
  TF_DeletePRunHandle(NULL);
}

/* The graph is deleted before the session that runs it. */
static void order_of_deletes(void) {
  TF_Graph* other = TF_NewGraph();
  TF_Operation* c = constant(other, "c", number(4));
  TF_Session* session = session_of(other);
  TF_DeleteGraph(other);
  TF_Tensor* result;
  OK(result = fetch(session, c));
  end_session(session);
  show("result after its session", result);
}

int main(void) {
  begin();
  gradient_of_loop();
  gradients_of_ops();
  handles();
  deprecated();
  nulls();
  order_of_deletes();
  end();
  return 0;
}
