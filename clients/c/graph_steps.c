/* Steps that build: operations with every kind of attribute, shapes, graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

static int split_shapes(char* text, int64_t dims[][16], const int64_t** pointers,
                        int* ranks) {
  char* parts[MOST];
  int count = split(text, ';', parts, MOST);
  for (int i = 0; i < count; i++) {
    ranks[i] = parse_shape(parts[i], dims[i]);
    pointers[i] = dims[i];
  }
  return count;
}

static void set_list(World* world, TF_OperationDescription* op, const char* attr,
                     const char* kind, char* text) {
  char* parts[MOST];
  bool nested = strcmp(kind, "shapes") == 0 || strcmp(kind, "tensors") == 0;
  if (strcmp(kind, "shapes") == 0) {
    static int64_t dims[64][16];
    const int64_t* pointers[64];
    int ranks[64];
    int count = split_shapes(text, dims, pointers, ranks);
    TF_SetAttrShapeList(op, attr, pointers, ranks, count);
    return;
  }
  int count = split(text, nested ? ';' : ',', parts, MOST);
  if (strcmp(kind, "ints") == 0) {
    int64_t values[MOST];
    for (int i = 0; i < count; i++) values[i] = atoll(parts[i]);
    TF_SetAttrIntList(op, attr, values, count);
  } else if (strcmp(kind, "floats") == 0) {
    float values[MOST];
    for (int i = 0; i < count; i++) values[i] = strtof(parts[i], NULL);
    TF_SetAttrFloatList(op, attr, values, count);
  } else if (strcmp(kind, "bools") == 0) {
    unsigned char values[MOST];
    for (int i = 0; i < count; i++) values[i] = strcmp(parts[i], "true") == 0;
    TF_SetAttrBoolList(op, attr, values, count);
  } else if (strcmp(kind, "types") == 0) {
    TF_DataType values[MOST];
    for (int i = 0; i < count; i++) values[i] = dtype_named(parts[i]);
    TF_SetAttrTypeList(op, attr, values, count);
  } else if (strcmp(kind, "strings") == 0) {
    size_t lengths[MOST];
    for (int i = 0; i < count; i++) lengths[i] = unescape(parts[i]);
    TF_SetAttrStringList(op, attr, (const void* const*)parts, lengths, count);
  } else if (strcmp(kind, "tensors") == 0) {
    TF_Tensor* values[MOST];
    for (int i = 0; i < count; i++) values[i] = parse_tensor(world, parts[i]);
    TF_SetAttrTensorList(op, attr, values, count, world->status);
    for (int i = 0; i < count; i++) TF_DeleteTensor(values[i]);
  } else {
    broken(world, "no kind of attribute \"%s\"", kind);
  }
}

static void set_attr(World* world, TF_OperationDescription* op, const char* attr,
                     char* text) {
  char* kind = text;
  text = strchr(text, ':');
  if (!text) {
    broken(world, "%s=%s has no kind", attr, kind);
    return;
  }
  *text++ = '\0';
  if (strcmp(kind, "int") == 0) {
    TF_SetAttrInt(op, attr, atoll(text));
  } else if (strcmp(kind, "float") == 0) {
    TF_SetAttrFloat(op, attr, strtof(text, NULL));
  } else if (strcmp(kind, "bool") == 0) {
    TF_SetAttrBool(op, attr, strcmp(text, "true") == 0);
  } else if (strcmp(kind, "type") == 0) {
    TF_SetAttrType(op, attr, dtype_named(text));
  } else if (strcmp(kind, "string") == 0) {
    size_t length = unescape(text);
    TF_SetAttrString(op, attr, text, length);
  } else if (strcmp(kind, "func") == 0) {
    TF_SetAttrFuncName(op, attr, text, strlen(text));
  } else if (strcmp(kind, "shape") == 0) {
    int64_t dims[MOST];
    int rank = parse_shape(text, dims);
    TF_SetAttrShape(op, attr, dims, rank);
  } else if (strcmp(kind, "tensor") == 0) {
    TF_Tensor* value = parse_tensor(world, text);
    if (!value) return;
    TF_SetAttrTensor(op, attr, value, world->status);
    TF_DeleteTensor(value);
  } else if (strcmp(kind, "proto") == 0) {
    size_t length = unescape(text);
    TF_SetAttrValueProto(op, attr, text, length, world->status);
  } else {
    set_list(world, op, attr, kind, text);
  }
}

/* op TYPE NAME INPUT... [INPUT,...] ATTR=KIND:VALUE ^CONTROL @DEVICE ~COLOCATED */
static void op(World* world, int argc, char** argv) {
  TF_OperationDescription* op = TF_NewOperation(world->graph, argv[0], argv[1]);
  for (int i = 2; i < argc; i++) {
    char* text = argv[i];
    char* equals = strchr(text, '=');
    if (*text == '[') {
      TF_Output inputs[MOST];
      text[strlen(text) - 1] = '\0';
      int count = outputs_of(world, text + 1, inputs);
      TF_AddInputList(op, inputs, count);
    } else if (*text == '^') {
      TF_AddControlInput(op, operation_of(world, text + 1));
    } else if (*text == '@') {
      TF_SetDevice(op, text + 1);
    } else if (*text == '~') {
      TF_ColocateWith(op, operation_of(world, text + 1));
    } else if (equals) {
      *equals = '\0';
      set_attr(world, op, text, equals + 1);
    } else {
      TF_Output input = output_of(world, text);
      if (input.oper) TF_AddInput(op, input);
    }
  }
  TF_Status* earlier = TF_NewStatus(); /* finishing clears it */
  TF_SetStatus(earlier, TF_GetCode(world->status), TF_Message(world->status));
  TF_FinishOperation(op, world->status);
  if (TF_GetCode(earlier) != TF_OK)
    TF_SetStatus(world->status, TF_GetCode(earlier), TF_Message(earlier));
  TF_DeleteStatus(earlier);
}

/* graph NAME: it is the current one from here on */
static void graph(World* world, int argc, char** argv) {
  (void)argc;
  TF_Graph* found = graph_of(world, argv[0]);
  if (!found) {
    found = TF_NewGraph();
    world->graphs[world->num_graphs++] = (NamedGraph){strdup(argv[0]), found};
  }
  world->graph = found;
}

static void set_shape(World* world, int argc, char** argv) {
  (void)argc;
  int64_t dims[MOST];
  int rank = parse_shape(argv[1], dims);
  TF_GraphSetTensorShape(world->graph, output_of(world, argv[0]), dims, rank,
                         world->status);
}

/* import GRAPH [prefix=] [map=SRC:0>DST:0,...] [control-map=A>B] [depend=A]
 *     [return=A:0,...] [return-ops=A,...] [alias=NAME] [uniquify=true] [device=]
 *     [missing=NAME:0,...] */
static void import(World* world, int argc, char** argv) {
  TF_Buffer* def = TF_NewBuffer();
  TF_GraphToGraphDef(graph_of(world, argv[0]), def, world->status);
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  char* parts[MOST];
  char* text = option(argc, argv, "prefix");
  TF_ImportGraphDefOptionsSetPrefix(options, text ? text : "");
  if ((text = option(argc, argv, "device")))
    TF_ImportGraphDefOptionsSetDefaultDevice(options, text);
  if (option(argc, argv, "uniquify"))
    TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  int count = split(option(argc, argv, "map"), ',', parts, MOST);
  for (int i = 0; i < count; i++) {
    char* sides[2];
    split(parts[i], '>', sides, 2);
    char* colon = strrchr(sides[0], ':');
    *colon = '\0';
    TF_ImportGraphDefOptionsAddInputMapping(options, sides[0], atoi(colon + 1),
                                            output_of(world, sides[1]));
  }
  count = split(option(argc, argv, "control-map"), ',', parts, MOST);
  for (int i = 0; i < count; i++) {
    char* sides[2];
    split(parts[i], '>', sides, 2);
    TF_ImportGraphDefOptionsRemapControlDependency(options, sides[0],
                                                   operation_of(world, sides[1]));
  }
  count = split(option(argc, argv, "depend"), ',', parts, MOST);
  for (int i = 0; i < count; i++)
    TF_ImportGraphDefOptionsAddControlDependency(options,
                                                 operation_of(world, parts[i]));
  count = split(option(argc, argv, "return"), ',', parts, MOST);
  for (int i = 0; i < count; i++) {
    char* colon = strrchr(parts[i], ':');
    *colon = '\0';
    TF_ImportGraphDefOptionsAddReturnOutput(options, parts[i], atoi(colon + 1));
  }
  count = split(option(argc, argv, "return-ops"), ',', parts, MOST);
  for (int i = 0; i < count; i++)
    TF_ImportGraphDefOptionsAddReturnOperation(options, parts[i]);
  TF_ImportGraphDefResults* results =
      TF_GraphImportGraphDefWithResults(world->graph, def, options, world->status);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  if (TF_GetCode(world->status) != TF_OK) return;
  const char* alias = option(argc, argv, "alias");
  TF_Output* outputs;
  TF_Operation** operations;
  int num_outputs, num_operations;
  TF_ImportGraphDefResultsReturnOutputs(results, &num_outputs, &outputs);
  for (int i = 0; alias && i < num_outputs; i++)
    add_alias(world, alias, i, outputs[i]);
  TF_ImportGraphDefResultsReturnOperations(results, &num_operations, &operations);
  for (int i = 0; alias && i < num_operations; i++)
    add_alias(world, alias, num_outputs + i, (TF_Output){operations[i], 0});
  const char** missing;
  int* indices;
  int num_missing;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &num_missing, &missing,
                                                     &indices);
  count = split(option(argc, argv, "missing"), ',', parts, MOST);
  expect_int(world, "the number of unused mappings", num_missing, count);
  for (int i = 0; i < count && !is_broken(world); i++) {
    char shown[256];
    snprintf(shown, sizeof shown, "%s:%d", missing[i], indices[i]);
    expect_text(world, "an unused mapping", shown, parts[i]);
  }
  TF_DeleteImportGraphDefResults(results);
}

/* import-bytes ESCAPED: a GraphDef byte by byte */
static void import_bytes(World* world, int argc, char** argv) {
  (void)argc;
  size_t length = unescape(argv[0]);
  TF_Buffer* def = TF_NewBufferFromString(argv[0], length);
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(world->graph, def, options, world->status);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
}

/* gradients NAME Y,... X,... [DY,...] [prefix=P]: the results are NAME:0 and on */
static void gradients(World* world, int argc, char** argv) {
  TF_Output y[MOST], x[MOST], dx[MOST], dy[MOST];
  const char* prefix = option(argc, argv, "prefix");
  int num_y = outputs_of(world, argv[1], y);
  int num_x = outputs_of(world, argv[2], x);
  bool has_dx = argc > 3 && !strchr(argv[3], '=');
  if (has_dx) outputs_of(world, argv[3], dx);
  if (is_broken(world)) return;
  if (prefix)
    TF_AddGradientsWithPrefix(world->graph, prefix, y, num_y, x, num_x,
                              has_dx ? dx : NULL, world->status, dy);
  else
    TF_AddGradients(world->graph, y, num_y, x, num_x, has_dx ? dx : NULL,
                    world->status, dy);
  for (int i = 0; is_ok(world) && i < num_x; i++) add_alias(world, argv[0], i, dy[i]);
}

Step graph_step(const char* verb) {
  if (strcmp(verb, "op") == 0) return op;
  if (strcmp(verb, "graph") == 0) return graph;
  if (strcmp(verb, "set-shape") == 0) return set_shape;
  if (strcmp(verb, "import") == 0) return import;
  if (strcmp(verb, "import-bytes") == 0) return import_bytes;
  if (strcmp(verb, "gradients") == 0) return gradients;
  return NULL;
}
