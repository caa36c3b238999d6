/* Functions: made of a graph, copied, called, with a gradient of their own. */
#include "checks.h"

/* A function of two arguments: 2 * a + b. */
static TF_Function* make(const char* name, unsigned char append_hash) {
  TF_Graph* body = TF_NewGraph();
  TF_Operation* a = placeholder(body, "A", TF_FLOAT);
  TF_Operation* b = placeholder(body, "b", TF_FLOAT);
  TF_Operation* two = constant(body, "two", number(2));
  TF_Operation* product = binary(body, "Mul", "product", out(a), out(two));
  TF_Operation* sum = binary(body, "Add", "sum", out(product), out(b));
  TF_Output inputs[] = {out(a), out(b)}, outputs[] = {out(sum), out(product)};
  const char* names[] = {"result", "doubled"};
  TF_Function* made;
  OK(made = TF_GraphToFunction(body, name, append_hash, -1, NULL, 2, inputs, 2, outputs,
                               names, NULL, "twice a and b", status));
  TF_Operation* opers[] = {product, sum};
  /* `two` is neither an input nor in the body. */
  CODE(TF_GraphToFunction(body, "bad", 0, 2, (const TF_Operation* const*)opers, 2,
                          inputs, 2, outputs, NULL, NULL, NULL, status));
  TF_Output twice[] = {out(a), out(a)};
  CODE(TF_GraphToFunction(body, "bad", 0, -1, NULL, 2, twice, 1, outputs, NULL, NULL,
                          NULL, status));
  const char* same[] = {"r", "r"};
  CODE(TF_GraphToFunction(body, "bad", 0, -1, NULL, 2, inputs, 2, outputs, same, NULL,
                          NULL, status));
  TF_DeleteGraph(body);
  return made;
}

int main(void) {
  begin();
  TF_Function* f = make("F", 0);
  printf("%s\n", TF_FunctionName(f));
  TF_Function* hashed = make("G", 1);
  printf("%.2s %d\n", TF_FunctionName(hashed), strlen(TF_FunctionName(hashed)) > 2);
  TF_Buffer* buffer = TF_NewBuffer();
  OK(TF_FunctionToFunctionDef(f, buffer, status));
  TF_Function* read;
  OK(read = TF_FunctionImportFunctionDef(buffer->data, buffer->length, status));
  printf("%s\n", TF_FunctionName(read));
  CODE(TF_FunctionImportFunctionDef("\xff", 1, status));
  TF_DeleteBuffer(buffer);
  CODE(TF_FunctionSetAttrValueProto(read, "note", "\x18\x07", 2, status));
  buffer = TF_NewBuffer();
  CODE(TF_FunctionGetAttrValueProto(read, "note", buffer, status));
  printf("%zu\n", buffer->length);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  CODE(TF_FunctionGetAttrValueProto(read, "absent", buffer, status));
  CODE(TF_FunctionSetAttrValueProto(read, "note", "\xff", 1, status));
  TF_DeleteBuffer(buffer);

  CODE(TF_GraphCopyFunction(graph, NULL, NULL, status));
  CODE(TF_GraphCopyFunction(graph, f, NULL, status));
  CODE(TF_GraphCopyFunction(graph, f, NULL, status));
  CODE(TF_GraphCopyFunction(graph, hashed, f, status));
  printf("%d functions\n", TF_GraphNumFunctions(graph));
  TF_Function* found[4];
  int count = TF_GraphGetFunctions(graph, found, 4, status);
  printf("%d functions\n", count);
  for (int i = 0; i < count; i++) TF_DeleteFunction(found[i]);

  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* one = constant(graph, "one", number(1));
  TF_Operation* call = binary(graph, "F", "call", out(x), out(one));
  printf("%d outputs of type %d\n", TF_OperationNumOutputs(call),
         TF_OperationOutputType((TF_Output){call, 1}));
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, out(call), out(x), number(5)));
  show("result", result);
  OK(result = run(session, (TF_Output){call, 1}, out(x), number(5)));
  show("doubled", result);
  end_session(session);
  /* The function goes with the graph. */
  buffer = TF_NewBuffer();
  OK(TF_GraphToGraphDef(graph, buffer, status));
  TF_Graph* other = TF_NewGraph();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  OK(TF_GraphImportGraphDef(other, buffer, options, status));
  printf("%d functions\n", TF_GraphNumFunctions(other));
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(buffer);
  TF_DeleteGraph(other);
  TF_DeleteFunction(f);
  TF_DeleteFunction(hashed);
  TF_DeleteFunction(read);
  TF_DeleteFunction(NULL);
  end();
  return 0;
}
