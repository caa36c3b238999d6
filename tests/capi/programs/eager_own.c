/* The eager C API where TensorFlow ends with a signal: NULL, use after the end of a
   context, attrs that are no values. Each line has a status code. */
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/eager/c_api.h"

static TF_Status* status;

#define SAY(CALL)                                      \
  do {                                                 \
    CALL;                                              \
    printf("%s: %d\n", #CALL, (int)TF_GetCode(status)); \
    TF_SetStatus(status, TF_OK, "");                   \
  } while (0)

static TFE_TensorHandle* scalar(float value) {
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof value);
  memcpy(TF_TensorData(tensor), &value, sizeof value);
  TFE_TensorHandle* made = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return made;
}

int main(void) {
  status = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* ctx = TFE_NewContext(options, status);
  TFE_TensorHandle *x = scalar(3), *results[2];
  TFE_TensorHandle* none[] = {NULL};
  unsigned char is_list;
  int count = 2;
  TFE_Op* op = TFE_NewOp(ctx, "AddV2", status);

  SAY(TFE_ContextOptionsSetConfig(options, NULL, 3, status));
  SAY(TFE_NewContext(NULL, status));
  SAY(TFE_ContextListDevices(NULL, status));
  SAY(TFE_ContextAddFunctionDef(ctx, NULL, 3, status));
  SAY(TFE_ContextAddFunction(ctx, NULL, status));
  SAY(TFE_ContextRemoveFunction(ctx, NULL, status));
  SAY(TFE_ContextRemoveFunction(ctx, "none", status));
  SAY(TFE_ContextExportRunMetadata(ctx, NULL, status));
  SAY(TFE_ContextSetServerDef(ctx, 0, NULL, 0, status));
  SAY(TFE_NewTensorHandle(NULL, status));
  SAY(TFE_TensorHandleNumDims(NULL, status));
  SAY(TFE_TensorHandleNumElements(NULL, status));
  SAY(TFE_TensorHandleDim(x, 0, status));
  SAY(TFE_TensorHandleDim(x, -1, status));
  SAY(TFE_TensorHandleDeviceName(NULL, status));
  SAY(TFE_TensorHandleResolve(NULL, status));
  SAY(TFE_TensorHandleCopySharingTensor(NULL, status));
  SAY(TFE_TensorHandleCopyToDevice(x, NULL, "", status));
  SAY(TFE_TensorHandleTensorDebugInfo(NULL, status));
  SAY(TFE_NewOp(NULL, "AddV2", status));
  SAY(TFE_NewOp(ctx, NULL, status));
  SAY(TFE_OpAddInput(op, NULL, status));
  SAY(TFE_OpAddInputList(op, NULL, 2, status));
  SAY(TFE_OpAddInputList(op, none, 1, status));
  SAY(TFE_OpAddInputList(op, none, -1, status));
  SAY(TFE_OpGetAttrType(op, NULL, &is_list, status));
  SAY(TFE_OpGetAttrType(op, "T", NULL, status));
  SAY(TFE_OpGetInputLength(op, NULL, status));
  SAY(TFE_OpSetAttrTensor(op, "value", NULL, status));
  SAY(TFE_OpSetAttrShape(op, "shape", NULL, 2, status));
  SAY(TFE_Execute(NULL, results, &count, status));
  SAY(TFE_Execute(op, NULL, &count, status));
  SAY(TFE_Execute(op, results, NULL, status));

  TFE_OpSetAttrInt(op, NULL, 1);
  SAY(TFE_Execute(op, results, &count, status));
  TFE_DeleteOp(op);
  op = TFE_NewOp(ctx, "Neg", status);
  TFE_OpAddInput(op, x, status);
  TFE_OpSetAttrType(op, "T", (TF_DataType)77);
  SAY(TFE_Execute(op, results, &count, status));
  TFE_DeleteOp(op);
  op = TFE_NewOp(ctx, "Neg", status);
  TFE_OpSetAttrFunction(op, "f", NULL);
  TFE_OpSetAttrStringList(op, "s", NULL, NULL, 2);
  SAY(TFE_Execute(op, results, &count, status));
  TFE_DeleteOp(op);

  op = TFE_NewOp(ctx, "Neg", status);
  TFE_OpAddInput(op, x, status);
  TFE_DeleteContext(ctx); /* its ops and handles stay */
  SAY(TFE_Execute(op, results, &count, status));
  TF_Tensor* value = TFE_TensorHandleResolve(x, status);
  printf("a value after its context: %g\n", *(float*)TF_TensorData(value));
  TF_DeleteTensor(value);
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteContextOptions(options);

  TFE_DeleteContextOptions(NULL), TFE_DeleteContext(NULL), TFE_DeleteOp(NULL);
  TFE_DeleteTensorHandle(NULL), TFE_DeleteTensorDebugInfo(NULL);
  TFE_ContextClearCaches(NULL), TFE_ContextStartStep(NULL), TFE_ContextEndStep(NULL);
  TFE_ContextEnableRunMetadata(NULL), TFE_ContextDisableRunMetadata(NULL);
  printf("has a function: %d\n", (int)TFE_ContextHasFunction(NULL, "f"));
  TF_DeleteStatus(status);
  printf("end\n");
  return 0;
}
