/* Operations: how they are described, and what they tell. */
#include "checks.h"

static void look_at(TF_Operation* oper) {
  printf("%s %s '%s': %d in, %d out, %d controls, %d controlled\n",
         TF_OperationName(oper), TF_OperationOpType(oper), TF_OperationDevice(oper),
         TF_OperationNumInputs(oper), TF_OperationNumOutputs(oper),
         TF_OperationNumControlInputs(oper), TF_OperationNumControlOutputs(oper));
  for (int i = 0; i < TF_OperationNumInputs(oper); i++) {
    TF_Output read = TF_OperationInput((TF_Input){oper, i});
    printf("  input %d: %s:%d type %d\n", i, TF_OperationName(read.oper), read.index,
           TF_OperationInputType((TF_Input){oper, i}));
  }
  for (int i = 0; i < TF_OperationNumOutputs(oper); i++) {
    TF_Input consumers[4];
    TF_Output output = {oper, i};
    int count = TF_OperationOutputConsumers(output, consumers, 4);
    printf("  output %d: type %d, %d consumers\n", i, TF_OperationOutputType(output),
           TF_OperationOutputNumConsumers(output));
    int sum = 0;
    for (int j = 0; j < count && j < 4; j++) sum += consumers[j].index;
    printf("  inputs of consumers: %d\n", sum);
  }
}

static void shapes(TF_Operation* x) {
  int64_t dims[] = {-1, 3}, other[] = {2, -1}, wrong[] = {4, 4}, seen[2];
  printf("rank %d\n", TF_GraphGetTensorNumDims(graph, out(x), status));
  CODE(TF_GraphSetTensorShape(graph, out(x), dims, 2, status));
  printf("rank %d\n", TF_GraphGetTensorNumDims(graph, out(x), status));
  CODE(TF_GraphGetTensorShape(graph, out(x), seen, 2, status));
  printf("%lld %lld\n", (long long)seen[0], (long long)seen[1]);
  CODE(TF_GraphSetTensorShape(graph, out(x), other, 2, status));
  CODE(TF_GraphGetTensorShape(graph, out(x), seen, 2, status));
  printf("%lld %lld\n", (long long)seen[0], (long long)seen[1]);
  CODE(TF_GraphSetTensorShape(graph, out(x), wrong, 2, status));
  CODE(TF_GraphGetTensorShape(graph, out(x), seen, 1, status));
  CODE(TF_GraphSetTensorShape(graph, out(x), NULL, -1, status));
}

static void errors(TF_Operation* x) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "NoSuchOp", "a");
  CODE(TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  CODE(TF_FinishOperation(desc, status)); /* the name is taken */
  desc = TF_NewOperation(graph, "Placeholder", "b");
  CODE(TF_FinishOperation(desc, status)); /* no dtype */
  desc = TF_NewOperation(graph, "MatMul", "c");
  TF_AddInput(desc, out(x));
  CODE(TF_FinishOperation(desc, status)); /* one input too few */
  desc = TF_NewOperation(graph, "Placeholder", "d");
  TF_SetAttrInt(desc, "dtype", 1);
  CODE(TF_FinishOperation(desc, status)); /* a dtype is no int */
  desc = TF_NewOperation(graph, "AddN", "e");
  TF_AddInput(desc, out(x)); /* it takes a list */
  CODE(TF_FinishOperation(desc, status));
  desc = TF_NewOperation(graph, "Conv2D", "f");
  TF_AddInput(desc, out(x));
  TF_AddInput(desc, out(x));
  int64_t strides[] = {1, 1, 1, 1};
  TF_SetAttrIntList(desc, "strides", strides, 4);
  TF_SetAttrString(desc, "padding", "SOME", 4); /* not allowed */
  CODE(TF_FinishOperation(desc, status));
  printf("%d\n", TF_GraphOperationByName(graph, "a") == NULL);
}

int main(void) {
  begin();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT);
  TF_Operation* y = placeholder(graph, "y", TF_FLOAT);
  shapes(x);
  TF_OperationDescription* desc = TF_NewOperation(graph, "AddN", "sum");
  TF_Output inputs[] = {out(x), out(y), out(x)};
  TF_AddInputList(desc, inputs, 3);
  TF_AddControlInput(desc, y);
  TF_AddControlInput(desc, x);
  TF_SetDevice(desc, "/device:CPU:0");
  TF_Operation* sum;
  OK(sum = TF_FinishOperation(desc, status));
  TF_Operation* axis = constant(graph, "axis", int32(0));
  desc = TF_NewOperation(graph, "Split", "parts");
  TF_AddInput(desc, out(axis));
  TF_AddInput(desc, out(sum));
  TF_SetAttrInt(desc, "num_split", 2);
  TF_ColocateWith(desc, x);
  TF_Operation* parts;
  OK(parts = TF_FinishOperation(desc, status));
  look_at(x);
  look_at(sum);
  look_at(parts);
  CODE(printf("%d\n", TF_OperationInputListLength(sum, "inputs", status)));
  CODE(printf("%d\n", TF_OperationOutputListLength(parts, "output", status)));
  CODE(TF_OperationInputListLength(sum, "nothing", status));
  TF_Operation* controls[2];
  int count = TF_OperationGetControlInputs(sum, controls, 2);
  printf("%d controls\n", count);
  count = TF_OperationGetControlOutputs(x, controls, 2);
  printf("%d controlled: %s\n", count, TF_OperationName(controls[0]));
  errors(x);
  size_t pos = 0;
  for (TF_Operation* each; (each = TF_GraphNextOperation(graph, &pos)) != NULL;)
    printf("%s %d\n", TF_OperationName(each),
           TF_GraphOperationByName(graph, TF_OperationName(each)) == each);
  TF_Tensor* value;
  printf("%d\n", TF_TryEvaluateConstant(graph, out(axis), &value, status));
  show("axis", value);
  printf("%d\n", TF_TryEvaluateConstant(graph, out(sum), &value, status));
  show("sum", value);
  TF_Buffer* buffer = TF_NewBuffer();
  OK(TF_OperationToNodeDef(axis, buffer, status));
  printf("%d\n", buffer->length > 20);
  CODE(TF_OperationToNodeDef(axis, buffer, status)); /* it is not empty */
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  CODE(TF_GraphGetOpDef(graph, "MatMul", buffer, status));
  printf("%d\n", buffer->length > 20);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  CODE(TF_GraphGetOpDef(graph, "NoSuchOp", buffer, status));
  CODE(TF_GraphVersions(graph, buffer, status));
  TF_DeleteBuffer(buffer);
  end();
  return 0;
}
