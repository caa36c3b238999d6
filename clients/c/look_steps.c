/* Steps that look at what was built, and compare it with the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

static void format_shape(const int64_t* dims, int rank, char* text) {
  if (rank < 0) strcpy(text, "unknown");
  if (rank == 0) strcpy(text, "scalar");
  for (int i = 0; i < rank; i++) {
    if (i) *text++ = ',';
    text += dims[i] < 0 ? sprintf(text, "?") : sprintf(text, "%lld", (long long)dims[i]);
  }
}

static void shape(World* world, int argc, char** argv) {
  (void)argc;
  TF_Output output = output_of(world, argv[0]);
  int rank = TF_GraphGetTensorNumDims(world->graph, output, world->status);
  int64_t dims[MOST];
  char shown[512];
  if (rank > 0) TF_GraphGetTensorShape(world->graph, output, dims, rank, world->status);
  format_shape(dims, rank, shown);
  expect_text(world, "the shape", shown, argv[1]);
}

static void dtype(World* world, int argc, char** argv) {
  (void)argc;
  TF_DataType got = TF_OperationOutputType(output_of(world, argv[0]));
  expect_text(world, "the dtype", dtype_name(got), argv[1]);
}

static void join_names(TF_Operation** operations, int count, char* text) {
  *text = '\0';
  for (int i = 0; i < count; i++) {
    if (i) strcat(text, ",");
    strcat(text, TF_OperationName(operations[i]));
  }
}

/* op-info NAME [type=] [device=] [inputs=N] [outputs=N] [controls=A,...]
 *     [followers=A,...] */
static void op_info(World* world, int argc, char** argv) {
  TF_Operation* op = operation_of(world, argv[0]);
  if (!op) return;
  char names[2048];
  TF_Operation* found[MOST];
  const char* text;
  if ((text = option(argc, argv, "type")))
    expect_text(world, "the type", TF_OperationOpType(op), text);
  if ((text = option(argc, argv, "device")))
    expect_text(world, "the device", TF_OperationDevice(op), text);
  if ((text = option(argc, argv, "inputs")))
    expect_int(world, "the inputs", TF_OperationNumInputs(op), atoi(text));
  if ((text = option(argc, argv, "outputs")))
    expect_int(world, "the outputs", TF_OperationNumOutputs(op), atoi(text));
  if ((text = option(argc, argv, "controls"))) {
    join_names(found, TF_OperationGetControlInputs(op, found, MOST), names);
    expect_text(world, "the control inputs", names, text);
  }
  if ((text = option(argc, argv, "followers"))) {
    join_names(found, TF_OperationGetControlOutputs(op, found, MOST), names);
    expect_text(world, "the control outputs", names, text);
  }
}

static void input(World* world, int argc, char** argv) {
  (void)argc;
  TF_Output of = output_of(world, argv[0]);
  TF_Output got = TF_OperationInput((TF_Input){of.oper, of.index});
  char shown[256];
  snprintf(shown, sizeof shown, "%s:%d", TF_OperationName(got.oper), got.index);
  expect_text(world, "the input", shown, argv[1]);
}

static void consumers(World* world, int argc, char** argv) {
  TF_Output output = output_of(world, argv[0]);
  TF_Input found[MOST];
  char shown[2048] = "";
  int count = TF_OperationOutputConsumers(output, found, MOST);
  expect_int(world, "the number of consumers",
             TF_OperationOutputNumConsumers(output), count);
  for (int i = 0; i < count; i++)
    sprintf(shown + strlen(shown), "%s%s:%d", i ? "," : "",
            TF_OperationName(found[i].oper), found[i].index);
  expect_text(world, "the consumers", shown, argc > 1 ? argv[1] : "");
}

/* list-length NAME in|out ARG LENGTH */
static void list_length(World* world, int argc, char** argv) {
  TF_Operation* op = operation_of(world, argv[0]);
  int got = strcmp(argv[1], "in") == 0
                ? TF_OperationInputListLength(op, argv[2], world->status)
                : TF_OperationOutputListLength(op, argv[2], world->status);
  if (argc > 3 && is_ok(world)) expect_int(world, "the length", got, atoi(argv[3]));
}

static void ops(World* world, int argc, char** argv) {
  size_t position = 0;
  char shown[4096] = "";
  TF_Operation* op;
  while ((op = TF_GraphNextOperation(world->graph, &position)))
    sprintf(shown + strlen(shown), "%s%s", *shown ? "," : "", TF_OperationName(op));
  expect_text(world, "the operations", shown, argc ? argv[0] : "");
}

/* attr NAME ATTR KIND:VALUE */
static void attr(World* world, int argc, char** argv) {
  (void)argc;
  TF_Operation* op = operation_of(world, argv[0]);
  const char* name = argv[1];
  TF_AttrMetadata about = TF_OperationGetAttrMetadata(op, name, world->status);
  if (!is_ok(world) || argc < 3) return;
  char* text = strchr(argv[2], ':') + 1;
  char shown[4096] = "";
  int64_t ints[MOST];
  int count = (int)about.list_size;
  if (about.is_list && about.type == TF_ATTR_INT) {
    TF_OperationGetAttrIntList(op, name, ints, count, world->status);
    for (int i = 0; i < count; i++)
      sprintf(shown + strlen(shown), "%s%lld", i ? "," : "", (long long)ints[i]);
  } else if (about.is_list && about.type == TF_ATTR_FLOAT) {
    float floats[MOST];
    TF_OperationGetAttrFloatList(op, name, floats, count, world->status);
    for (int i = 0; i < count; i++)
      sprintf(shown + strlen(shown), "%s%g", i ? "," : "", floats[i]);
  } else if (about.is_list && about.type == TF_ATTR_BOOL) {
    unsigned char bools[MOST];
    TF_OperationGetAttrBoolList(op, name, bools, count, world->status);
    for (int i = 0; i < count; i++)
      sprintf(shown + strlen(shown), "%s%s", i ? "," : "", bools[i] ? "true" : "false");
  } else if (about.is_list && about.type == TF_ATTR_TYPE) {
    TF_DataType types[MOST];
    TF_OperationGetAttrTypeList(op, name, types, count, world->status);
    for (int i = 0; i < count; i++)
      sprintf(shown + strlen(shown), "%s%s", i ? "," : "", dtype_name(types[i]));
  } else if (about.is_list && about.type == TF_ATTR_STRING) {
    void* values[MOST];
    size_t lengths[MOST];
    char storage[4096];
    TF_OperationGetAttrStringList(op, name, values, lengths, count, storage,
                                  sizeof storage, world->status);
    for (int i = 0; i < count; i++)
      sprintf(shown + strlen(shown), "%s%.*s", i ? "," : "", (int)lengths[i],
              (char*)values[i]);
  } else if (about.is_list && about.type == TF_ATTR_SHAPE) {
    int64_t *dims[MOST], storage[MOST];
    int ranks[MOST];
    TF_OperationGetAttrShapeList(op, name, dims, ranks, count, storage, MOST,
                                 world->status);
    for (int i = 0; i < count; i++) {
      if (i) strcat(shown, ";");
      format_shape(dims[i], ranks[i], shown + strlen(shown));
    }
  } else if (about.type == TF_ATTR_INT) {
    TF_OperationGetAttrInt(op, name, ints, world->status);
    sprintf(shown, "%lld", (long long)ints[0]);
  } else if (about.type == TF_ATTR_FLOAT) {
    float value;
    TF_OperationGetAttrFloat(op, name, &value, world->status);
    sprintf(shown, "%g", value);
  } else if (about.type == TF_ATTR_BOOL) {
    unsigned char value;
    TF_OperationGetAttrBool(op, name, &value, world->status);
    strcpy(shown, value ? "true" : "false");
  } else if (about.type == TF_ATTR_TYPE) {
    TF_DataType value;
    TF_OperationGetAttrType(op, name, &value, world->status);
    strcpy(shown, dtype_name(value));
  } else if (about.type == TF_ATTR_STRING) {
    TF_OperationGetAttrString(op, name, shown, sizeof shown, world->status);
    shown[about.total_size] = '\0';
    unescape(text);
  } else if (about.type == TF_ATTR_SHAPE) {
    int rank = (int)about.total_size;
    TF_OperationGetAttrShape(op, name, ints, rank < 0 ? 0 : rank, world->status);
    format_shape(ints, rank, shown);
  } else if (about.type == TF_ATTR_TENSOR) {
    TF_Tensor* value = NULL;
    TF_OperationGetAttrTensor(op, name, &value, world->status);
    if (!is_ok(world)) return;
    expect_tensor(world, name, value, text);
    TF_DeleteTensor(value);
    return;
  } else {
    broken(world, "attribute %s of kind %d", name, about.type);
  }
  if (is_ok(world)) expect_text(world, name, shown, text);
}

/* metadata NAME ATTR is-list list-size type total-size; "-" is not looked at */
static void metadata(World* world, int argc, char** argv) {
  (void)argc;
  TF_AttrMetadata got = TF_OperationGetAttrMetadata(operation_of(world, argv[0]),
                                                    argv[1], world->status);
  if (!is_ok(world)) return;
  expect_int(world, "is_list", got.is_list, atoi(argv[2]));
  if (argv[3][0] != '-') expect_int(world, "list_size", got.list_size, atoi(argv[3]));
  expect_int(world, "the type", got.type, atoi(argv[4]));
  if (strcmp(argv[5], "-") != 0)
    expect_int(world, "total_size", got.total_size, atoi(argv[5]));
}

/* contains graph-def|node-def|op-def|function-def|op-list|kernels NAME BYTES */
static void contains(World* world, int argc, char** argv) {
  (void)argc;
  TF_Buffer* buffer = NULL;
  if (strcmp(argv[0], "op-list") == 0)
    buffer = TF_GetAllOpList();
  else if (strcmp(argv[0], "kernels") == 0)
    buffer = TF_GetRegisteredKernelsForOp(argv[1], world->status);
  else
    buffer = TF_NewBuffer();
  if (strcmp(argv[0], "graph-def") == 0)
    TF_GraphToGraphDef(world->graph, buffer, world->status);
  else if (strcmp(argv[0], "node-def") == 0)
    TF_OperationToNodeDef(operation_of(world, argv[1]), buffer, world->status);
  else if (strcmp(argv[0], "op-def") == 0)
    TF_GraphGetOpDef(world->graph, argv[1], buffer, world->status);
  else if (strcmp(argv[0], "function-def") == 0)
    TF_FunctionToFunctionDef(function_of(world, argv[1]), buffer, world->status);
  if (is_ok(world)) {
    size_t length = unescape(argv[2]);
    if (!memmem(buffer->data, buffer->length, argv[2], length))
      broken(world, "%s %s has no bytes \"%s\"", argv[0], argv[1], argv[2]);
  }
  if (buffer) TF_DeleteBuffer(buffer);
}

/* constant OUTPUT TENSOR|none: what the graph knows without a session */
static void constant(World* world, int argc, char** argv) {
  (void)argc;
  TF_Tensor* value = NULL;
  bool known = TF_TryEvaluateConstant(world->graph, output_of(world, argv[0]), &value,
                                      world->status);
  if (strcmp(argv[1], "none") == 0)
    expect_int(world, "known", known, 0);
  else if (!known)
    broken(world, "%s is not known to be constant", argv[0]);
  else
    expect_tensor(world, argv[0], value, argv[1]);
  if (value) TF_DeleteTensor(value);
}

Step look_step(const char* verb) {
  static const struct {
    const char* verb;
    Step step;
  } STEPS[] = {{"shape", shape},         {"dtype", dtype},
               {"op-info", op_info},     {"input", input},
               {"consumers", consumers}, {"list-length", list_length},
               {"ops", ops},             {"attr", attr},
               {"metadata", metadata},   {"contains", contains},
               {"constant", constant}};
  for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++)
    if (strcmp(STEPS[i].verb, verb) == 0) return STEPS[i].step;
  return NULL;
}
