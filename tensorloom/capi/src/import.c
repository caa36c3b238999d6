/* TF_GraphImportGraphDef* with its options and results. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

struct TF_ImportGraphDefOptions {
  PyObject* options; /* capi.imports.Options */
  int num_outputs;
  int num_operations;
};

struct TF_ImportGraphDefResults {
  TF_Output* outputs;
  int num_outputs;
  TF_Operation** operations;
  int num_operations;
  const char** unused_names; /* each is freed */
  int* unused_indexes;
  int num_unused;
};

/* --- Options ------------------------------------------------------------------- */

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void) {
  tl_gil gil;
  TF_ImportGraphDefOptions* opts = calloc(1, sizeof *opts);
  if (opts == NULL) return NULL;
  if (tl_enter(&gil, NULL)) {
    opts->options = tl_call(NULL, "imports.Options", "()");
    tl_leave(gil);
  }
  if (opts->options != NULL) return opts;
  free(opts);
  return NULL;
}

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) {
  if (opts == NULL) return;
  tl_drop(opts->options);
  free(opts);
}

static void set_text(TF_ImportGraphDefOptions* opts, const char* name,
                     const char* value) {
  tl_gil gil;
  if (opts == NULL || value == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, "imports.set_option", "(Oss)", opts->options, name, value);
  tl_leave(gil);
}

static void set_flag(TF_ImportGraphDefOptions* opts, const char* name, int value) {
  tl_gil gil;
  if (opts == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, "imports.set_option", "(OsN)", opts->options, name,
        PyBool_FromLong(value));
  tl_leave(gil);
}

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts,
                                       const char* prefix) {
  set_text(opts, "prefix", prefix);
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts,
                                              const char* device) {
  set_text(opts, "default_device", device);
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts,
                                              unsigned char uniquify_names) {
  set_flag(opts, "uniquify_names", uniquify_names);
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts,
                                               unsigned char uniquify_prefix) {
  set_flag(opts, "uniquify_prefix", uniquify_prefix);
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts,
                                             const char* src_name, int src_index,
                                             TF_Output dst) {
  tl_gil gil;
  if (opts == NULL || src_name == NULL || !tl_enter(&gil, NULL)) return;
  PyObject* tensor = tl_output(dst, "dst", NULL);
  if (tensor != NULL)
    tl_do(NULL, "imports.map_input", "(OsiN)", opts->options, src_name, src_index,
          tensor);
  tl_leave(gil);
}

void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* opts,
                                                    const char* src_name,
                                                    TF_Operation* dst) {
  tl_gil gil;
  if (opts == NULL || src_name == NULL || dst == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, "imports.map_control", "(OsO)", opts->options, src_name, dst->operation);
  tl_leave(gil);
}

void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* opts,
                                                  TF_Operation* oper) {
  tl_gil gil;
  if (opts == NULL || oper == NULL || !tl_enter(&gil, NULL)) return;
  tl_do(NULL, "imports.add_control_dependency", "(OO)", opts->options, oper->operation);
  tl_leave(gil);
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts,
                                             const char* oper_name, int index) {
  tl_gil gil;
  if (opts == NULL || oper_name == NULL || !tl_enter(&gil, NULL)) return;
  opts->num_outputs =
      (int)tl_number(NULL, opts->num_outputs, "imports.add_return_output", "(Osi)",
                     opts->options, oper_name, index);
  tl_leave(gil);
}

int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts) {
  return opts == NULL ? 0 : opts->num_outputs;
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts,
                                                const char* oper_name) {
  tl_gil gil;
  if (opts == NULL || oper_name == NULL || !tl_enter(&gil, NULL)) return;
  opts->num_operations =
      (int)tl_number(NULL, opts->num_operations, "imports.add_return_operation", "(Os)",
                     opts->options, oper_name);
  tl_leave(gil);
}

int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts) {
  return opts == NULL ? 0 : opts->num_operations;
}

/* --- Results ------------------------------------------------------------------- */

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results,
                                           int* num_outputs, TF_Output** outputs) {
  if (results == NULL || num_outputs == NULL || outputs == NULL) return;
  *num_outputs = results->num_outputs;
  *outputs = results->outputs;
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results,
                                              int* num_opers, TF_Operation*** opers) {
  if (results == NULL || num_opers == NULL || opers == NULL) return;
  *num_opers = results->num_operations;
  *opers = results->operations;
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings,
    const char*** src_names, int** src_indexes) {
  if (results == NULL || num_missing_unused_input_mappings == NULL ||
      src_names == NULL || src_indexes == NULL)
    return;
  *num_missing_unused_input_mappings = results->num_unused;
  *src_names = results->unused_names;
  *src_indexes = results->unused_indexes;
}

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) {
  if (results == NULL) return;
  for (int i = 0; i < results->num_unused; i++) free((char*)results->unused_names[i]);
  free(results->unused_names);
  free(results->unused_indexes);
  free(results->operations);
  free(results->outputs);
  free(results);
}

static void* array_of(int count, size_t size) {
  return calloc((size_t)(count ? count : 1), size);
}

/* Fills the results with three lists; whether there is room for them. */
static int fill(TF_ImportGraphDefResults* results, TF_Graph* graph, PyObject* lists,
                TF_Status* status) {
  PyObject* outputs = PyTuple_GET_ITEM(lists, 0);
  PyObject* operations = PyTuple_GET_ITEM(lists, 1);
  PyObject* unused = PyTuple_GET_ITEM(lists, 2);
  int num_unused = (int)PyList_GET_SIZE(unused);
  results->num_outputs = (int)PyList_GET_SIZE(outputs);
  results->num_operations = (int)PyList_GET_SIZE(operations);
  results->outputs = array_of(results->num_outputs, sizeof(TF_Output));
  results->operations = array_of(results->num_operations, sizeof(TF_Operation*));
  results->unused_names = array_of(num_unused, sizeof(char*));
  results->unused_indexes = array_of(num_unused, sizeof(int));
  if (results->outputs == NULL || results->operations == NULL ||
      results->unused_names == NULL || results->unused_indexes == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for the results");
    return 0;
  }
  if (!tl_put_outputs(graph, outputs, results->outputs, results->num_outputs, status))
    return 0;
  for (int i = 0; i < results->num_operations; i++) {
    results->operations[i] =
        tl_operation(graph, PyList_GET_ITEM(operations, i), status);
    if (results->operations[i] == NULL) return 0;
  }
  for (int i = 0; i < num_unused; i++) {
    const char* name;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(unused, i), "si", &name,
                          &results->unused_indexes[i])) {
      tl_raised(status);
      return 0;
    }
    results->unused_names[i] = strdup(name);
    results->num_unused = i + 1;
  }
  return 1;
}

/* --- Import -------------------------------------------------------------------- */

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Status* status) {
  tl_gil gil;
  TF_ImportGraphDefResults* results = NULL;
  if (!tl_given(graph, "graph", status) || !tl_given(graph_def, "graph_def", status) ||
      !tl_given(options, "options", status) ||
      (graph_def->length && !tl_given(graph_def->data, "graph_def", status)) ||
      !tl_enter(&gil, status))
    return NULL;
  PyObject* lists =
      tl_call(status, "imports.import_serialized", "(Oy#O)", graph->graph,
              graph_def->length ? graph_def->data : "", (Py_ssize_t)graph_def->length,
              options->options);
  if (lists != NULL) {
    results = calloc(1, sizeof *results);
    if (results != NULL && !fill(results, graph, lists, status)) {
      TF_DeleteImportGraphDefResults(results);
      results = NULL;
    }
    Py_DECREF(lists);
  }
  tl_leave(gil);
  return results;
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph,
                                             const TF_Buffer* graph_def,
                                             const TF_ImportGraphDefOptions* options,
                                             TF_Output* return_outputs,
                                             int num_return_outputs,
                                             TF_Status* status) {
  if (!tl_given(options, "options", status)) return;
  if (num_return_outputs != options->num_outputs) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "Expected 'num_return_outputs' to be %d, got %d", options->num_outputs,
            num_return_outputs);
    return;
  }
  if (num_return_outputs > 0 && return_outputs == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "'return_outputs' must be preallocated to length %d", num_return_outputs);
    return;
  }
  TF_ImportGraphDefResults* results =
      TF_GraphImportGraphDefWithResults(graph, graph_def, options, status);
  if (results == NULL) return;
  for (int i = 0; i < num_return_outputs; i++) return_outputs[i] = results->outputs[i];
  TF_DeleteImportGraphDefResults(results);
}

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def,
                            const TF_ImportGraphDefOptions* options,
                            TF_Status* status) {
  TF_DeleteImportGraphDefResults(
      TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
}
