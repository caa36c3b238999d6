/* Ops one at a time through the eager C API. Each line of the output is the same with any
   library that has it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/eager/c_api.h"

static TF_Status* status;
static TFE_Context* context;

/* Ends the program if the last call failed. */
static void ok(const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  printf("%s: %d %s\n", what, (int)TF_GetCode(status), TF_Message(status));
  exit(1);
}

/* Says what the last call made of a mistake; some calls leave a status as it was. */
static void code(const char* what) {
  printf("%s: code %d\n", what, (int)TF_GetCode(status));
  TF_SetStatus(status, TF_OK, "");
}

/* --- Values -------------------------------------------------------------------- */

static TFE_TensorHandle* handle(TF_DataType dtype, const int64_t* dims, int num_dims,
                                const void* data, size_t length) {
  TF_Tensor* tensor = TF_AllocateTensor(dtype, dims, num_dims, length);
  memcpy(TF_TensorData(tensor), data, length);
  TFE_TensorHandle* made = TFE_NewTensorHandle(tensor, status);
  ok("TFE_NewTensorHandle");
  TF_DeleteTensor(tensor);
  return made;
}

static TFE_TensorHandle* scalar(float value) {
  return handle(TF_FLOAT, NULL, 0, &value, sizeof value);
}

static TFE_TensorHandle* integer(int32_t value) {
  return handle(TF_INT32, NULL, 0, &value, sizeof value);
}

static TFE_TensorHandle* matrix(int rows, int columns, const float* values) {
  int64_t dims[] = {rows, columns};
  return handle(TF_FLOAT, dims, 2, values, sizeof(float) * (size_t)(rows * columns));
}

static void show(const char* what, TFE_TensorHandle* h) {
  printf("%s: type %d [", what, (int)TFE_TensorHandleDataType(h));
  int rank = TFE_TensorHandleNumDims(h, status);
  ok("TFE_TensorHandleNumDims");
  for (int i = 0; i < rank; i++)
    printf(i ? ",%lld" : "%lld", (long long)TFE_TensorHandleDim(h, i, status));
  printf("] of %lld:", (long long)TFE_TensorHandleNumElements(h, status));
  TF_Tensor* tensor = TFE_TensorHandleResolve(h, status);
  ok("TFE_TensorHandleResolve");
  int64_t count = TF_TensorElementCount(tensor);
  for (int64_t i = 0; i < count; i++) {
    const void* data = TF_TensorData(tensor);
    if (TF_TensorType(tensor) == TF_FLOAT) printf(" %g", ((const float*)data)[i]);
    if (TF_TensorType(tensor) == TF_INT32) printf(" %d", ((const int32_t*)data)[i]);
    if (TF_TensorType(tensor) == TF_INT64)
      printf(" %lld", (long long)((const int64_t*)data)[i]);
  }
  printf("\n");
  TF_DeleteTensor(tensor);
}

/* --- Ops ----------------------------------------------------------------------- */

static TFE_Op* op(const char* name) {
  TFE_Op* made = TFE_NewOp(context, name, status);
  ok(name);
  return made;
}

static TFE_Op* op_with(const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b) {
  TFE_Op* made = op(name);
  if (a != NULL) TFE_OpAddInput(made, a, status);
  ok("TFE_OpAddInput");
  if (b != NULL) TFE_OpAddInput(made, b, status);
  ok("TFE_OpAddInput");
  return made;
}

/* Runs an op with one result, and deletes it. */
static TFE_TensorHandle* run(TFE_Op* op, const char* what) {
  TFE_TensorHandle* result = NULL;
  int count = 1;
  TFE_Execute(op, &result, &count, status);
  ok(what);
  TFE_DeleteOp(op);
  return count == 1 ? result : NULL;
}

static void run_and_show(TFE_Op* op, const char* what) {
  TFE_TensorHandle* result = run(op, what);
  show(what, result);
  TFE_DeleteTensorHandle(result);
}

/* Runs an op that fails, and deletes it. */
static void run_wrong(TFE_Op* op, const char* what) {
  TFE_TensorHandle* results[4];
  int count = 4;
  TFE_Execute(op, results, &count, status);
  code(what);
  TFE_DeleteOp(op);
}

static void plain_ops(void) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  TFE_TensorHandle *a = scalar(1.5f), *b = scalar(2);
  TFE_TensorHandle *wide = matrix(2, 3, values), *high = matrix(3, 2, values);
  run_and_show(op_with("AddV2", a, b), "AddV2");
  run_and_show(op_with("MatMul", wide, high), "MatMul");
  TFE_Op* product = op_with("MatMul", wide, wide);
  TFE_OpSetAttrBool(product, "transpose_b", 1);
  run_and_show(product, "MatMul of a transposed matrix");
  TFE_TensorHandle* both[] = {wide, wide};
  TFE_TensorHandle* axis = integer(0);
  TFE_Op* concat = op("ConcatV2");
  TFE_OpAddInputList(concat, both, 2, status);
  ok("TFE_OpAddInputList");
  TFE_OpAddInput(concat, axis, status);
  ok("TFE_OpAddInput");
  printf("values of ConcatV2: %d\n", TFE_OpGetInputLength(concat, "values", status));
  printf("output of ConcatV2: %d\n", TFE_OpGetOutputLength(concat, "output", status));
  run_and_show(concat, "ConcatV2");
  TFE_Op* split = op_with("Split", axis, wide);
  TFE_OpSetAttrInt(split, "num_split", 2);
  printf("output of Split: %d\n", TFE_OpGetOutputLength(split, "output", status));
  TFE_TensorHandle* parts[3];
  int count = 3;
  TFE_Execute(split, parts, &count, status);
  ok("Split");
  printf("Split gives %d\n", count);
  for (int i = 0; i < count; i++) {
    show("part", parts[i]);
    TFE_DeleteTensorHandle(parts[i]);
  }
  TFE_DeleteOp(split);
  TFE_Op* cast = op_with("Cast", a, NULL);
  TFE_OpSetAttrType(cast, "DstT", TF_INT64);
  run_and_show(cast, "Cast");
  const int64_t sizes[] = {1, 2, 2, 1};
  TFE_Op* reshape = op("Const");
  TF_Tensor* tensor = TF_AllocateTensor(TF_INT64, (int64_t[]){4}, 1, sizeof sizes);
  memcpy(TF_TensorData(tensor), sizes, sizeof sizes);
  TFE_OpSetAttrTensor(reshape, "value", tensor, status);
  ok("TFE_OpSetAttrTensor");
  TFE_OpSetAttrType(reshape, "dtype", TF_INT64);
  TF_DeleteTensor(tensor);
  run_and_show(reshape, "Const");
  TFE_Op* nothing = op("NoOp");
  count = 3;
  TFE_Execute(nothing, parts, &count, status);
  ok("NoOp");
  printf("NoOp gives %d\n", count);
  TFE_DeleteOp(nothing);
  TFE_DeleteTensorHandle(axis);
  TFE_DeleteTensorHandle(a), TFE_DeleteTensorHandle(b);
  TFE_DeleteTensorHandle(wide), TFE_DeleteTensorHandle(high);
}

/* --- Attrs --------------------------------------------------------------------- */

static void attr_types(void) {
  const char* asked[][2] = {
      {"MatMul", "transpose_a"}, {"Conv2D", "strides"},      {"Conv2D", "padding"},
      {"IdentityN", "T"},        {"If", "then_branch"},      {"Case", "branches"},
      {"Const", "value"},        {"VarHandleOp", "shape"},   {"Softplus", "none"},
      {"LeakyRelu", "alpha"},    {"FIFOQueueV2", "shapes"},  {"Bucketize", "boundaries"},
  };
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    unsigned char is_list = 0;
    TF_AttrType type = TFE_OpNameGetAttrType(context, asked[i][0], asked[i][1], &is_list,
                                             status);
    printf("%s.%s: type %d, list %d, code %d\n", asked[i][0], asked[i][1], (int)type,
           (int)is_list, (int)TF_GetCode(status));
  }
  TFE_Op* pool = op("MaxPool");
  const int64_t ones[] = {1, 1, 1, 1};
  float image[] = {1, 2, 3, 4};
  const int64_t dims[] = {1, 2, 2, 1};
  TFE_TensorHandle* picture = handle(TF_FLOAT, dims, 4, image, sizeof image);
  TFE_OpAddInput(pool, picture, status);
  TFE_OpSetAttrIntList(pool, "ksize", (int64_t[]){1, 2, 2, 1}, 4);
  TFE_OpSetAttrIntList(pool, "strides", ones, 4);
  TFE_OpSetAttrString(pool, "padding", "VALID", 5);
  run_and_show(pool, "MaxPool");
  TFE_Op* bucketize = op_with("Bucketize", picture, NULL);
  TFE_OpSetAttrFloatList(bucketize, "boundaries", (float[]){1.5f, 3.5f}, 2);
  run_and_show(bucketize, "Bucketize");
  TFE_Op* relu = op_with("LeakyRelu", picture, NULL);
  TFE_OpSetAttrFloat(relu, "alpha", 0.5f);
  run_and_show(relu, "LeakyRelu");
  TFE_DeleteTensorHandle(picture);
  TFE_Op* variable = op("VarHandleOp");
  const int64_t many[300] = {0};
  TFE_OpSetAttrShape(variable, "shape", many, 300, status);
  code("a shape of 300 dimensions");
  TFE_DeleteOp(variable);
}

/* --- State --------------------------------------------------------------------- */

static TFE_TensorHandle* variable_handle(const char* name) {
  TFE_Op* made = op("VarHandleOp");
  TFE_OpSetAttrType(made, "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(made, "shape", NULL, 0, status);
  ok("TFE_OpSetAttrShape");
  TFE_OpSetAttrString(made, "container", "", 0);
  TFE_OpSetAttrString(made, "shared_name", name, strlen(name));
  return run(made, "VarHandleOp");
}

static void show_variable(TFE_TensorHandle* variable, const char* what) {
  TFE_Op* read = op_with("ReadVariableOp", variable, NULL);
  TFE_OpSetAttrType(read, "dtype", TF_FLOAT);
  run_and_show(read, what);
}

static void run_for_effect(TFE_Op* op, const char* what) {
  int count = 0;
  TFE_Execute(op, NULL, &count, status);
  ok(what);
  TFE_DeleteOp(op);
}

static void state(void) {
  TFE_TensorHandle *variable = variable_handle("v"), *value = scalar(10);
  printf("a variable: type %d, rank %d\n", (int)TFE_TensorHandleDataType(variable),
         TFE_TensorHandleNumDims(variable, status));
  run_for_effect(op_with("AssignVariableOp", variable, value), "AssignVariableOp");
  run_for_effect(op_with("AssignAddVariableOp", variable, value), "AssignAdd");
  show_variable(variable, "the variable");
  TFE_TensorHandle* again = variable_handle("v");
  show_variable(again, "the same variable");
  TFE_DeleteTensorHandle(again);
  TFE_TensorHandle* other = variable_handle("w");
  TFE_Op* read = op_with("ReadVariableOp", other, NULL);
  TFE_OpSetAttrType(read, "dtype", TF_FLOAT);
  TFE_TensorHandle* result;
  int count = 1;
  TFE_Execute(read, &result, &count, status);
  printf("a variable without a value fails: %d\n", TF_GetCode(status) != TF_OK);
  TFE_DeleteOp(read);
  TFE_DeleteTensorHandle(other);
  TFE_DeleteTensorHandle(variable), TFE_DeleteTensorHandle(value);

  TFE_TensorHandle* shape = handle(TF_INT32, (int64_t[]){1}, 1, (int32_t[]){2}, 4);
  for (int i = 0; i < 3; i++) {
    if (i == 2) TFE_ContextClearCaches(context);
    TFE_Op* draw = op_with("RandomUniform", shape, NULL);
    TFE_OpSetAttrType(draw, "dtype", TF_FLOAT);
    TFE_OpSetAttrInt(draw, "seed", 1);
    TFE_OpSetAttrInt(draw, "seed2", 2);
    run_and_show(draw, "RandomUniform");
  }
  TFE_DeleteTensorHandle(shape);

  TFE_Op* queue = op("FIFOQueueV2");
  TFE_OpSetAttrTypeList(queue, "component_types", (TF_DataType[]){TF_FLOAT}, 1);
  const int64_t* no_dims[] = {NULL};
  int scalars[] = {0};
  TFE_OpSetAttrShapeList(queue, "shapes", no_dims, scalars, 1, status);
  ok("TFE_OpSetAttrShapeList");
  TFE_TensorHandle* numbers = run(queue, "FIFOQueueV2");
  TFE_TensorHandle* items[] = {scalar(7)};
  TFE_Op* enqueue = op_with("QueueEnqueueV2", numbers, NULL);
  TFE_OpAddInputList(enqueue, items, 1, status);
  run_for_effect(enqueue, "QueueEnqueueV2");
  TFE_Op* dequeue = op_with("QueueDequeueV2", numbers, NULL);
  TFE_OpSetAttrTypeList(dequeue, "component_types", (TF_DataType[]){TF_FLOAT}, 1);
  run_and_show(dequeue, "QueueDequeueV2");
  TFE_DeleteTensorHandle(items[0]), TFE_DeleteTensorHandle(numbers);
}

/* --- Functions ----------------------------------------------------------------- */

/* FunctionDef: Twice(x: float) -> y: float { two = AddV2[T=float](x, x); y = two } */
static const char twice[] =
    "\x0a\x15\x0a\x05Twice\x12\x05\x0a\x01x\x18\x01\x1a\x05\x0a\x01y\x18\x01"
    "\x1a\x1b\x0a\x03two\x12\x05" "AddV2\x1a\x01x\x1a\x01x*\x07\x0a\x01T\x12\x02" "0\x01"
    "\"\x0c\x0a\x01y\x12\x07two:z:0";

static void call_by_ops(TFE_TensorHandle* x, TFE_TensorHandle* yes) {
  TFE_Op* call = op("PartitionedCall");
  TFE_OpAddInputList(call, &x, 1, status);
  ok("TFE_OpAddInputList");
  TFE_OpSetAttrTypeList(call, "Tout", (TF_DataType[]){TF_FLOAT}, 1);
  TFE_OpSetAttrFunctionName(call, "f", "Twice", 5);
  run_and_show(call, "PartitionedCall");
  TFE_Op *branch = op_with("StatelessIf", yes, NULL), *function = op("Twice");
  TFE_OpAddInputList(branch, &x, 1, status);
  ok("TFE_OpAddInputList");
  TFE_OpSetAttrTypeList(branch, "Tout", (TF_DataType[]){TF_FLOAT}, 1);
  TFE_OpSetAttrFunction(branch, "then_branch", function);
  TFE_OpSetAttrFunction(branch, "else_branch", function);
  run_and_show(branch, "StatelessIf");
  TFE_DeleteOp(function);
}

/* `with_calls`: also by ops, where TensorFlow 1.15 ends with a signal. */
static void functions(int with_calls) {
  TFE_TensorHandle *x = scalar(3), *yes = handle(TF_BOOL, NULL, 0, "\1", 1);
  printf("Twice is there: %d\n", (int)TFE_ContextHasFunction(context, "Twice"));
  TFE_ContextAddFunctionDef(context, "\xff\xff", 2, status);
  code("no FunctionDef");
  TFE_ContextAddFunctionDef(context, twice, sizeof twice - 1, status);
  ok("TFE_ContextAddFunctionDef");
  printf("Twice is there: %d\n", (int)TFE_ContextHasFunction(context, "Twice"));
  run_and_show(op_with("Twice", x, NULL), "Twice");
  if (with_calls) call_by_ops(x, yes);
  TFE_ContextRemoveFunction(context, "Twice", status);
  ok("TFE_ContextRemoveFunction");
  printf("Twice is there: %d\n", (int)TFE_ContextHasFunction(context, "Twice"));
  TFE_DeleteTensorHandle(x), TFE_DeleteTensorHandle(yes);
}

/* --- What is wrong ------------------------------------------------------------- */

static void mistakes(void) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  TFE_TensorHandle *a = scalar(1), *n = integer(1), *wide = matrix(2, 3, values);
  TFE_Op* none = TFE_NewOp(context, "NoSuchOp", status);
  printf("an unknown op: %d, code %d\n", none != NULL, (int)TF_GetCode(status));
  run_wrong(op_with("AddV2", a, n), "two dtypes");
  run_wrong(op_with("AddV2", a, NULL), "too few inputs");
  run_wrong(op_with("MatMul", wide, wide), "sizes that do not fit");
  run_wrong(op_with("Conv2D", wide, wide), "an attr that is missing");
  TFE_Op* assign = op_with("Assign", a, a);
  run_wrong(assign, "a reference");
  TFE_Op* placeholder = op("Placeholder");
  TFE_OpSetAttrType(placeholder, "dtype", TF_FLOAT);
  run_wrong(placeholder, "Placeholder");
  TFE_Op* add = op_with("AddV2", a, a);
  TFE_OpSetDevice(add, "not a device", status);
  code("a malformed device");
  int count = 0;
  TFE_Execute(add, NULL, &count, status);
  code("no room for results");
  TFE_OpGetInputLength(add, "none", status);
  code("an argument that does not exist");
  TFE_DeleteOp(add);
  TFE_TensorHandle* there =
      TFE_TensorHandleCopyToDevice(a, context, "/device:GPU:7", status);
  printf("a copy to nowhere: %d, failed %d\n", there != NULL,
         TF_GetCode(status) != TF_OK);
  TFE_Op* far = op_with("AddV2", a, a);
  TFE_OpSetDevice(far, "/job:nowhere/device:CPU:0", status);
  ok("TFE_OpSetDevice");
  run_wrong(far, "a device of another job");
  TFE_DeleteTensorHandle(a), TFE_DeleteTensorHandle(n), TFE_DeleteTensorHandle(wide);
}

/* --- Devices, copies, records, threads ----------------------------------------- */

static void devices(void) {
  TF_DeviceList* list = TFE_ContextListDevices(context, status);
  ok("TFE_ContextListDevices");
  printf("first device: %s, %s\n", TF_DeviceListName(list, 0, status),
         TF_DeviceListType(list, 0, status));
  TF_DeleteDeviceList(list);
  printf("policy: %d\n", (int)TFE_ContextGetDevicePlacementPolicy(context));
  TFE_ContextSetThreadLocalDevicePlacementPolicy(context, TFE_DEVICE_PLACEMENT_WARN);
  printf("policy: %d\n", (int)TFE_ContextGetDevicePlacementPolicy(context));
  const float values[] = {1, 2, 3, 4, 5, 6};
  TFE_TensorHandle* a = matrix(2, 3, values);
  TFE_TensorHandle* copies[] = {
      TFE_TensorHandleCopySharingTensor(a, status),
      TFE_TensorHandleCopyToDevice(a, context, "/device:CPU:0", status)};
  ok("copies");
  printf("device: %s\n", TFE_TensorHandleDeviceName(a, status));
  printf("backing device: %s\n", TFE_TensorHandleBackingDeviceName(a, status));
  TFE_DeleteTensorHandle(a);
  for (int i = 0; i < 2; i++) {
    TFE_TensorDebugInfo* info = TFE_TensorHandleTensorDebugInfo(copies[i], status);
    ok("TFE_TensorHandleTensorDebugInfo");
    printf("on its device: rank %d, sizes %lld and %lld\n",
           TFE_TensorDebugInfoOnDeviceNumDims(info),
           (long long)TFE_TensorDebugInfoOnDeviceDim(info, 0),
           (long long)TFE_TensorDebugInfoOnDeviceDim(info, 1));
    TFE_DeleteTensorDebugInfo(info);
    show("copy", copies[i]);
    TFE_Op* neg = op_with("Neg", copies[i], NULL);
    TFE_OpSetDevice(neg, "/job:localhost/replica:0/task:0/device:CPU:0", status);
    ok("TFE_OpSetDevice");
    printf("device of the op: %s\n", TFE_OpGetDevice(neg, status));
    run_and_show(neg, "Neg");
    TFE_DeleteTensorHandle(copies[i]);
  }
}

static void records(void) {
  TFE_TensorHandle* a = scalar(1);
  TFE_ContextEnableRunMetadata(context);
  TFE_ContextStartStep(context);
  TFE_DeleteTensorHandle(run(op_with("Neg", a, NULL), "Neg"));
  TFE_ContextEndStep(context);
  TF_Buffer* buffer = TF_NewBuffer();
  TFE_ContextExportRunMetadata(context, buffer, status);
  ok("TFE_ContextExportRunMetadata");
  TF_DeleteBuffer(buffer);
  TFE_ContextDisableRunMetadata(context);
  TFE_DeleteTensorHandle(a);
}

static void* work(void* unused) {
  TF_Status* own = TF_NewStatus();
  long sum = 0;
  (void)unused;
  for (int i = 0; i < 50; i++) {
    TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
    *(float*)TF_TensorData(tensor) = (float)i;
    TFE_TensorHandle *a = TFE_NewTensorHandle(tensor, own), *result = NULL;
    TF_DeleteTensor(tensor);
    TFE_Op* square = TFE_NewOp(context, "Square", own);
    TFE_OpAddInput(square, a, own);
    int count = 1;
    TFE_Execute(square, &result, &count, own);
    if (TF_GetCode(own) != TF_OK) break;
    tensor = TFE_TensorHandleResolve(result, own);
    sum += (long)*(float*)TF_TensorData(tensor);
    TF_DeleteTensor(tensor);
    TFE_DeleteOp(square);
    TFE_DeleteTensorHandle(a), TFE_DeleteTensorHandle(result);
  }
  TF_DeleteStatus(own);
  return (void*)sum;
}

static void threads(void) {
  pthread_t started[4];
  for (int i = 0; i < 4; i++) pthread_create(&started[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) {
    void* sum;
    pthread_join(started[i], &sum);
    printf("a thread: %ld\n", (long)sum);
  }
}

int main(int argc, char** argv) {
  (void)argv;
  setvbuf(stdout, NULL, _IOLBF, 0);
  status = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_ContextOptionsSetConfig(options, "\xff\xff", 2, status);
  code("no ConfigProto");
  /* ConfigProto { device_count { key: "GPU" value: 0 } } */
  TFE_ContextOptionsSetConfig(options, "\x0a\x07\x0a\x03GPU\x10\x00", 9, status);
  ok("TFE_ContextOptionsSetConfig");
  TFE_ContextOptionsSetAsync(options, 0);
  TFE_ContextOptionsSetDevicePlacementPolicy(options, TFE_DEVICE_PLACEMENT_SILENT);
  context = TFE_NewContext(options, status);
  ok("TFE_NewContext");
  TFE_DeleteContextOptions(options);
  plain_ops();
  attr_types();
  state();
  functions(argc == 1);
  mistakes();
  devices();
  records();
  threads();
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
  printf("end\n");
  return 0;
}
