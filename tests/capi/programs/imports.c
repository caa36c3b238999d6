/* GraphDefs: written, and imported under every option. */
#include "checks.h"

static TF_Buffer* graph_def(TF_Graph* of) {
  TF_Buffer* buffer = TF_NewBuffer();
  OK(TF_GraphToGraphDef(of, buffer, status));
  return buffer;
}

static void list(TF_Graph* of) {
  size_t pos = 0;
  for (TF_Operation* each; (each = TF_GraphNextOperation(of, &pos)) != NULL;) {
    printf("  %s (%s) '%s'", TF_OperationName(each), TF_OperationOpType(each),
           TF_OperationDevice(each));
    for (int i = 0; i < TF_OperationNumInputs(each); i++) {
      TF_Output read = TF_OperationInput((TF_Input){each, i});
      printf(" %s:%d", TF_OperationName(read.oper), read.index);
    }
    TF_Operation* controls[4];
    int count = TF_OperationGetControlInputs(each, controls, 4);
    for (int i = 0; i < count; i++) printf(" ^%s", TF_OperationName(controls[i]));
    puts("");
  }
}

int main(void) {
  begin();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* two = constant(graph, "two", number(2));
  TF_OperationDescription* desc = TF_NewOperation(graph, "Mul", "y");
  TF_AddInput(desc, out(x));
  TF_AddInput(desc, out(two));
  TF_AddControlInput(desc, two);
  TF_Operation* y;
  OK(y = TF_FinishOperation(desc, status));
  binary(graph, "Add", "z", out(y), out(x));
  TF_Buffer* def = graph_def(graph);

  /* As it is, into an empty graph. */
  TF_Graph* other = TF_NewGraph();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  CODE(TF_GraphImportGraphDef(other, def, options, status));
  list(other);
  CODE(TF_GraphImportGraphDef(other, def, options, status)); /* names are taken */
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  /* A device is kept as it is written. */
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "no_device");
  CODE(TF_GraphImportGraphDef(other, def, options, status));
  list(other);
  TF_DeleteImportGraphDefOptions(options);

  /* Under a prefix, with results. */
  options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "in");
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "/device:CPU:0");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "y", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "z");
  printf("%d %d\n", TF_ImportGraphDefOptionsNumReturnOutputs(options),
         TF_ImportGraphDefOptionsNumReturnOperations(options));
  TF_ImportGraphDefResults* results;
  OK(results = TF_GraphImportGraphDefWithResults(graph, def, options, status));
  int count;
  TF_Output* outputs;
  TF_Operation** operations;
  TF_ImportGraphDefResultsReturnOutputs(results, &count, &outputs);
  printf("%d %s:%d\n", count, TF_OperationName(outputs[0].oper), outputs[0].index);
  TF_ImportGraphDefResultsReturnOperations(results, &count, &operations);
  printf("%d %s\n", count, TF_OperationName(operations[0]));
  TF_DeleteImportGraphDefResults(results);
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
  TF_Output returned;
  CODE(TF_GraphImportGraphDefWithReturnOutputs(graph, def, options, &returned, 1,
                                               status));
  printf("%s:%d\n", TF_OperationName(returned.oper), returned.index);
  CODE(TF_GraphImportGraphDefWithReturnOutputs(graph, def, options, &returned, 2,
                                               status));
  TF_DeleteImportGraphDefOptions(options);

  /* With other inputs. */
  options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "mapped");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, out(y));
  TF_ImportGraphDefOptionsAddInputMapping(options, "absent", 3, out(y));
  TF_ImportGraphDefOptionsRemapControlDependency(options, "two", x);
  TF_ImportGraphDefOptionsAddControlDependency(options, two);
  OK(results = TF_GraphImportGraphDefWithResults(graph, def, options, status));
  const char** names;
  int* indexes;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &count, &names, &indexes);
  printf("%d unused: %s:%d\n", count, names[0], indexes[0]);
  TF_DeleteImportGraphDefResults(results);
  TF_DeleteImportGraphDefOptions(options);
  list(graph);

  /* What is no graph, or asks for what is not there. */
  options = TF_NewImportGraphDefOptions();
  TF_Buffer* bad = TF_NewBufferFromString("\xff\xff\xff", 3);
  CODE(TF_GraphImportGraphDef(other, bad, options, status));
  TF_DeleteBuffer(bad);
  TF_ImportGraphDefOptionsSetPrefix(options, "again");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "absent", 0);
  CODE(TF_GraphImportGraphDef(other, def, options, status));
  TF_DeleteImportGraphDefOptions(options);
  /* The imported graph runs. */
  TF_Session* session = session_of(graph);
  TF_Tensor* result;
  OK(result = run(session, out(TF_GraphOperationByName(graph, "mapped/z")), out(x),
                  number(3)));
  show("mapped/z", result);
  end_session(session);
  TF_DeleteBuffer(def);
  TF_DeleteGraph(other);
  end();
  return 0;
}
