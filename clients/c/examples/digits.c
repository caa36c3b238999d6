/* Trains a perceptron on handwritten digits, with gradients and Adam: digits FILE
 *
 * The file is of clients/conformance/digits_data.py. The program fails when less than
 * 97 % of the digits that it has not seen are told apart. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

enum { PIXELS = 64, HIDDEN = 64, CLASSES = 10, BATCH = 100, EPOCHS = 30, UNSEEN = 297 };
enum { MOST = 16 };

static TF_Status* status;
static TF_Graph* graph;
static int made; /* operations, which their names count */

static void check(void) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(status));
  exit(1);
}

static TF_OperationDescription* begin(const char* type) {
  char name[64];
  snprintf(name, sizeof name, "%s_%d", type, made++);
  return TF_NewOperation(graph, type, name);
}

static TF_Output finish(TF_OperationDescription* description) {
  TF_Operation* operation = TF_FinishOperation(description, status);
  check();
  return (TF_Output){operation, 0};
}

/* An operation of so many inputs that needs no attributes. */
static TF_Output op(const char* type, int num_inputs, ...) {
  TF_OperationDescription* description = begin(type);
  va_list inputs;
  va_start(inputs, num_inputs);
  for (int i = 0; i < num_inputs; i++)
    TF_AddInput(description, va_arg(inputs, TF_Output));
  va_end(inputs);
  return finish(description);
}

static TF_Tensor* tensor(TF_DataType dtype, int rank, const int64_t* dims,
                         const void* data) {
  size_t size = TF_DataTypeSize(dtype);
  for (int i = 0; i < rank; i++) size *= (size_t)dims[i];
  TF_Tensor* made_tensor = TF_AllocateTensor(dtype, dims, rank, size);
  memcpy(TF_TensorData(made_tensor), data, size);
  return made_tensor;
}

static TF_Output constant(TF_DataType dtype, int rank, int64_t length,
                          const void* data) {
  TF_OperationDescription* description = begin("Const");
  TF_Tensor* value = tensor(dtype, rank, &length, data);
  TF_SetAttrType(description, "dtype", dtype);
  TF_SetAttrTensor(description, "value", value, status);
  TF_DeleteTensor(value);
  return finish(description);
}

static TF_Output number(float value) { return constant(TF_FLOAT, 0, 1, &value); }
static TF_Output integer(int32_t value) { return constant(TF_INT32, 0, 1, &value); }

static TF_Output placeholder(TF_DataType dtype) {
  TF_OperationDescription* description = begin("Placeholder");
  TF_SetAttrType(description, "dtype", dtype);
  return finish(description);
}

typedef struct {
  TF_Output handle, value;
  int rank;
  int32_t shape[2];
} Variable;

typedef struct {
  Variable learned[MOST];
  int num_learned, num_init;
  const TF_Operation* init[MOST * 4];
} Model;

static Variable variable(Model* model, TF_Output initial, int rank,
                         const int32_t* shape) {
  Variable variable = {.rank = rank};
  int64_t dims[2];
  char name[32];
  for (int i = 0; i < rank; i++) dims[i] = variable.shape[i] = shape[i];
  snprintf(name, sizeof name, "variable%d", made);
  TF_OperationDescription* handle = begin("VarHandleOp");
  TF_SetAttrType(handle, "dtype", TF_FLOAT);
  TF_SetAttrShape(handle, "shape", dims, rank);
  TF_SetAttrString(handle, "shared_name", name, strlen(name));
  variable.handle = finish(handle);
  TF_OperationDescription* read = begin("ReadVariableOp");
  TF_AddInput(read, variable.handle);
  TF_SetAttrType(read, "dtype", TF_FLOAT);
  variable.value = finish(read);
  model->init[model->num_init++] =
      op("AssignVariableOp", 2, variable.handle, initial).oper;
  return variable;
}

static TF_Output zeros(int rank, const int32_t* shape) {
  return op("Fill", 2, constant(TF_INT32, 1, rank, shape), number(0));
}

static TF_Output dense(Model* model, TF_Output x, int32_t in, int32_t out) {
  const int32_t shape[] = {in, out};
  TF_OperationDescription* random = begin("RandomStandardNormal");
  TF_AddInput(random, constant(TF_INT32, 1, 2, shape));
  TF_SetAttrType(random, "dtype", TF_FLOAT);
  TF_SetAttrInt(random, "seed", 1);
  TF_SetAttrInt(random, "seed2", made);
  TF_Output initial = op("Mul", 2, finish(random), number(0.1f));
  Variable weights = variable(model, initial, 2, shape);
  Variable bias = variable(model, zeros(1, &out), 1, &out);
  model->learned[model->num_learned++] = weights;
  model->learned[model->num_learned++] = bias;
  return op("BiasAdd", 2, op("MatMul", 2, x, weights.value), bias.value);
}

/* Adam; the targets of a step are the two last operations. */
static void adam(Model* model, TF_Output loss, const TF_Operation* train[2]) {
  TF_Output values[MOST], gradients[MOST];
  int count = model->num_learned;
  for (int i = 0; i < count; i++) values[i] = model->learned[i].value;
  TF_AddGradients(graph, &loss, 1, values, count, NULL, status, gradients);
  check();
  TF_Output beta1 = number(0.9f), beta2 = number(0.999f);
  Variable powers[] = {variable(model, beta1, 0, NULL),
                       variable(model, beta2, 0, NULL)};
  TF_Operation* steps[MOST];
  for (int i = 0; i < count; i++) {
    Variable* of = &model->learned[i];
    TF_Output start = zeros(of->rank, of->shape);
    Variable first = variable(model, start, of->rank, of->shape);
    Variable second = variable(model, start, of->rank, of->shape);
    steps[i] = op("ResourceApplyAdam", 10, of->handle, first.handle, second.handle,
                  powers[0].value, powers[1].value, number(0.005f), beta1, beta2,
                  number(1e-8f), gradients[i])
                   .oper;
  }
  for (int i = 0; i < 2; i++) {
    TF_Output next = op("Mul", 2, powers[i].value, i ? beta2 : beta1);
    TF_OperationDescription* set = begin("AssignVariableOp");
    TF_AddInput(set, powers[i].handle);
    TF_AddInput(set, next);
    for (int j = 0; j < count; j++) TF_AddControlInput(set, steps[j]);
    train[i] = finish(set).oper;
  }
}

typedef struct {
  int32_t count;
  float* images;
  int32_t* labels;
} Digits;

static Digits read_digits(const char* path) {
  Digits digits = {0, NULL, NULL};
  FILE* file = fopen(path, "rb");
  if (!file || fread(&digits.count, 4, 1, file) != 1) exit(2);
  size_t count = (size_t)digits.count;
  digits.images = malloc(count * PIXELS * sizeof(float));
  digits.labels = malloc(count * sizeof(int32_t));
  if (fread(digits.images, PIXELS * sizeof(float), count, file) != count ||
      fread(digits.labels, sizeof(int32_t), count, file) != count)
    exit(2);
  fclose(file);
  return digits;
}

/* One step on some of the digits; the value of a scalar, when one is fetched. */
static float run(TF_Session* session, const TF_Output feeds[2], const Digits* digits,
                 int from, int count, const TF_Output* fetch,
                 const TF_Operation* const* targets, int num_targets) {
  const int64_t dims[] = {count, PIXELS};
  TF_Tensor* values[] = {
      tensor(TF_FLOAT, 2, dims, digits->images + (size_t)from * PIXELS),
      tensor(TF_INT32, 1, dims, digits->labels + from)};
  TF_Tensor* result = NULL;
  TF_SessionRun(session, NULL, feeds, values, 2, fetch, &result, fetch ? 1 : 0, targets,
                num_targets, NULL, status);
  check();
  float found = result ? *(float*)TF_TensorData(result) : 0;
  for (int i = 0; i < 2; i++) TF_DeleteTensor(values[i]);
  if (result) TF_DeleteTensor(result);
  return found;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Digits digits = read_digits(argv[1]);
  status = TF_NewStatus();
  graph = TF_NewGraph();
  Model model = {.num_learned = 0};
  TF_Output feeds[] = {placeholder(TF_FLOAT), placeholder(TF_INT32)};
  TF_Output layer = op("Relu", 1, dense(&model, feeds[0], PIXELS, HIDDEN));
  TF_Output logits = dense(&model, layer, HIDDEN, CLASSES);
  TF_Output targets =
      op("OneHot", 4, feeds[1], integer(CLASSES), number(1), number(0));
  const int32_t zero = 0;
  TF_Output axis = constant(TF_INT32, 1, 1, &zero);
  TF_Output each = op("SoftmaxCrossEntropyWithLogits", 2, logits, targets);
  TF_Output loss = op("Mean", 2, each, axis);
  const TF_Operation* train[2];
  adam(&model, loss, train);
  TF_OperationDescription* best = begin("ArgMax");
  TF_AddInput(best, logits);
  TF_AddInput(best, integer(1));
  TF_SetAttrType(best, "output_type", TF_INT32);
  TF_OperationDescription* cast = begin("Cast");
  TF_AddInput(cast, op("Equal", 2, finish(best), feeds[1]));
  TF_SetAttrType(cast, "DstT", TF_FLOAT);
  TF_Output accuracy = op("Mean", 2, finish(cast), axis);

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check();
  int seen = digits.count - UNSEEN;
  run(session, feeds, &digits, 0, 1, NULL, model.init, model.num_init);
  for (int epoch = 0; epoch < EPOCHS; epoch++)
    for (int at = 0; at + BATCH <= seen; at += BATCH)
      run(session, feeds, &digits, at, BATCH, NULL, train, 2);
  float found = run(session, feeds, &digits, seen, UNSEEN, &accuracy, NULL, 0);
  printf("%.1f %% of %d digits that it has not seen\n", 100 * found, UNSEEN);

  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  free(digits.images);
  free(digits.labels);
  return found < 0.97f;
}
