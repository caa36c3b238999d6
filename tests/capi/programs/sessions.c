/* Sessions: steps, targets, partial runs, devices, and what goes wrong. */
#include "checks.h"

static void partial(TF_Operation* x, TF_Operation* y, TF_Operation* first,
                    TF_Operation* second, TF_Session* session) {
  TF_Output feeds[] = {out(x), out(y)}, fetches[] = {out(first), out(second)};
  const char* handle;
  TF_Tensor *value = number(3), *result;
  OK(TF_SessionPRunSetup(session, feeds, 2, fetches, 2, NULL, 0, &handle, status));
  OK(TF_SessionPRun(session, handle, feeds, &value, 1, fetches, &result, 1, NULL, 0,
                    status));
  show("first", result);
  CODE(TF_SessionPRun(session, handle, feeds, &value, 1, fetches, &result, 1, NULL, 0,
                      status));
  TF_DeletePRunHandle(handle);
  OK(TF_SessionPRunSetup(session, feeds, 2, fetches, 2, NULL, 0, &handle, status));
  OK(TF_SessionPRun(session, handle, feeds, &value, 1, fetches, &result, 1, NULL, 0,
                    status));
  TF_DeleteTensor(result);
  OK(TF_SessionPRun(session, handle, feeds + 1, &value, 1, fetches + 1, &result, 1,
                    NULL, 0, status));
  show("second", result);
  TF_DeletePRunHandle(handle);
  TF_DeleteTensor(value);
}

static void variables(TF_Session* session) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "VariableV2", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, 0);
  TF_Operation *v, *assign, *add;
  OK(v = TF_FinishOperation(desc, status));
  TF_Operation* ten = constant(graph, "ten", number(10));
  assign = binary(graph, "Assign", "assign", out(v), out(ten));
  add = binary(graph, "AssignAdd", "add", out(v), out(ten));
  CODE(show("too early", fetch(session, v)));
  const TF_Operation* targets[] = {assign};
  OK(TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets, 1, NULL,
                   status));
  TF_Tensor* result;
  for (int i = 0; i < 2; i++) {
    OK(result = fetch(session, add));
    show("added", result);
  }
}

static void devices(TF_Session* session) {
  TF_DeviceList* list;
  OK(list = TF_SessionListDevices(session, status));
  printf("%d: %s\n", TF_DeviceListCount(list) >= 1, TF_DeviceListType(list, 0, status));
  printf("%s\n", TF_DeviceListName(list, 0, status));
  printf("%d\n", TF_DeviceListMemoryBytes(list, 0, status) > 0);
  TF_DeviceListIncarnation(list, 0, status);
  CODE(TF_DeviceListName(list, 99, status));
  CODE(TF_DeviceListName(NULL, 0, status));
  TF_DeleteDeviceList(list);
}

static void errors(TF_Operation* x, TF_Operation* first, TF_Session* session) {
  TF_Output feed = out(x), feeds[] = {out(x), out(x)}, bad = {x, 7};
  TF_Output fetched = out(first);
  TF_Tensor *one = int32(1), *values[] = {one, one}, *result;
  CODE(TF_SessionRun(session, NULL, &feed, values, 1, &fetched, &result, 1, NULL, 0,
                     NULL, status)); /* another dtype */
  CODE(result = fetch(session, first)); /* nothing is fed */
  CODE(TF_SessionRun(session, NULL, feeds, values, 2, &fetched, &result, 1, NULL, 0,
                     NULL, status)); /* fed twice */
  CODE(TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL,
                     status)); /* nothing to do */
  printf("%d\n", bad.index);
  TF_DeleteTensor(one);
  TF_Buffer* options = TF_NewBufferFromString("\xff", 1);
  CODE(TF_SessionRun(session, options, NULL, NULL, 0, NULL, NULL, 0,
                     (const TF_Operation* const*)&x, 1, NULL, status));
  TF_DeleteBuffer(options);
}

static void traced(TF_Operation* x, TF_Operation* first, TF_Session* session) {
  /* RunOptions with trace_level FULL_TRACE. */
  TF_Buffer* options = TF_NewBufferFromString("\x08\x03", 2);
  TF_Buffer* metadata = TF_NewBuffer();
  TF_Output feed = out(x), fetched = out(first);
  TF_Tensor *value = number(4), *result;
  OK(TF_SessionRun(session, options, &feed, &value, 1, &fetched, &result, 1, NULL, 0,
                   metadata, status));
  show("traced", result);
  printf("%d\n", metadata->length > 50);
  CODE(TF_SessionRun(session, options, &feed, &value, 1, &fetched, &result, 1, NULL, 0,
                     metadata, status)); /* it is not empty */
  TF_DeleteTensor(value);
  TF_DeleteBuffer(options);
  TF_DeleteBuffer(metadata);
}

/* Values whose shapes are not those that the graph says: only kernels look at them. */
static void other_shapes(TF_Session* session) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", "row");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  int64_t two[] = {2}, four[] = {2, 2}, three[] = {3};
  TF_SetAttrShape(desc, "shape", two, 1);
  TF_Operation *row, *sum, *size, *product, *dot;
  OK(row = TF_FinishOperation(desc, status));
  OK(size = unary(graph, "Size", "size", out(row)));
  OK(sum = binary(graph, "Add", "sum", out(row), out(row)));
  OK(product = binary(graph, "Mul", "product", out(sum), out(constant(graph, "pair",
                                             floats(two, 1, (float[]){10, 100}, 2)))));
  OK(dot = unary(graph, "Shape", "dot", out(product)));
  float values[] = {1, 2, 3, 4};
  TF_Operation* fetched[] = {row, sum, size, product, dot};
  TF_Tensor* result;
  for (int i = 1; i < 5; i++) {
    OK(result = run(session, out(fetched[i]), out(row), floats(two, 1, values, 2)));
    show("as said", result);
    OK(result = run(session, out(fetched[i]), out(row), floats(four, 2, values, 4)));
    show("other rank", result);
    OK(result = run(session, out(fetched[i]), out(row), number(5)));
    show("scalar", result);
  }
  CODE(result = run(session, out(product), out(row), floats(three, 1, values, 3)));
  OK(result = run(session, out(size), out(row), floats(three, 1, values, 3)));
  show("other size", result);
}

static void options(void) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  CODE(TF_SetConfig(options, "\xff", 1, status));
  /* inter_op_parallelism_threads: 1 */
  CODE(TF_SetConfig(options, "\x28\x01", 2, status));
  TF_SetTarget(options, "");
  TF_Session* session;
  OK(session = TF_NewSession(graph, options, status));
  end_session(session);
  TF_DeleteSessionOptions(options);
}

int main(void) {
  begin();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* y = placeholder(graph, "y", TF_FLOAT);
  TF_Operation* two = constant(graph, "two", number(2));
  TF_Operation* first = binary(graph, "Mul", "first", out(x), out(two));
  TF_Operation* second = binary(graph, "Add", "second", out(first), out(y));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, out(first), out(x), number(1.5f)));
  show("first", result);
  int64_t dims[] = {2, 2}, none[] = {0, 3};
  float values[] = {1, 2, 3, 4};
  OK(result = run(session, out(first), out(x), floats(dims, 2, values, 4)));
  show("first", result);
  OK(result = run(session, out(first), out(x), floats(none, 2, values, 0)));
  show("empty", result);
  CODE(result = run(session, out(x), out(x), number(7))); /* fed and fetched */
  TF_Output fetches[] = {out(two), out(two)};
  TF_Tensor* results[2];
  OK(TF_SessionRun(session, NULL, NULL, NULL, 0, fetches, results, 2, NULL, 0, NULL,
                   status));
  show("twice", results[0]);
  show("twice", results[1]);
  /* The graph grows. */
  TF_Operation* third = unary(graph, "Neg", "third", out(first));
  OK(result = run(session, out(third), out(x), number(1)));
  show("third", result);
  partial(x, y, first, second, session);
  variables(session);
  devices(session);
  errors(x, first, session);
  traced(x, first, session);
  other_shapes(session);
  options();
  OK(TF_CloseSession(session, status));
  CODE(result = run(session, out(first), out(x), number(1)));
  OK(TF_DeleteSession(session, status));
  end();
  return 0;
}
