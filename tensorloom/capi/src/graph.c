/* TF_Graph: static shapes, operations by name and in order, and messages. */
#include "bridge.h"

/* --- Static shapes --- */

void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims,
                            const int num_dims, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(graph, "graph", status) ||
      (num_dims > 0 && !tl_given(dims, "dims", status)) || !tl_enter(&gil, status))
    return;
  PyObject* tensor = tl_output(output, "output", status);
  if (tensor != NULL) {
    PyObject* list = num_dims < 0 ? Py_NewRef(Py_None) : PyList_New(num_dims);
    for (int i = 0; list != NULL && i < num_dims; i++)
      PyList_SET_ITEM(list, i, PyLong_FromLongLong(dims[i]));
    tl_do(status, "graphs.set_shape", "(ONN)", graph->graph, tensor, list);
  }
  tl_leave(gil);
}

/* The sizes as a list, None for an unknown rank. */
static PyObject* shape_of(TF_Graph* graph, TF_Output output, TF_Status* status) {
  PyObject* tensor = tl_output(output, "output", status);
  if (tensor == NULL) return NULL;
  return tl_call(status, "graphs.shape", "(ON)", graph->graph, tensor);
}

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) {
  tl_gil gil;
  int rank = -1;
  if (!tl_given(graph, "graph", status) || !tl_enter(&gil, status)) return -1;
  PyObject* shape = shape_of(graph, output, status);
  if (shape != NULL && shape != Py_None) rank = (int)PyList_GET_SIZE(shape);
  Py_XDECREF(shape);
  tl_leave(gil);
  return rank;
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims,
                            int num_dims, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(graph, "graph", status) ||
      (num_dims > 0 && !tl_given(dims, "dims", status)) || !tl_enter(&gil, status))
    return;
  PyObject* shape = shape_of(graph, output, status);
  if (shape != NULL) {
    int rank = shape == Py_None ? -1 : (int)PyList_GET_SIZE(shape);
    if (rank != num_dims)
      tl_fail(status, TF_INVALID_ARGUMENT, "Expected rank is %d but actual rank is %d",
              num_dims, rank);
    else
      for (int i = 0; i < rank; i++)
        dims[i] = PyLong_AsLongLong(PyList_GET_ITEM(shape, i));
    Py_DECREF(shape);
  }
  tl_leave(gil);
}

/* --- Operations --- */

/* The handle of an operation, whose reference is taken over; NULL for None. */
static TF_Operation* handle_of(TF_Graph* graph, PyObject* operation) {
  TF_Operation* found = NULL;
  if (operation != NULL && operation != Py_None)
    found = tl_operation(graph, operation, NULL);
  Py_XDECREF(operation);
  return found;
}

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name) {
  tl_gil gil;
  if (graph == NULL || oper_name == NULL || !tl_enter(&gil, NULL)) return NULL;
  PyObject* operation =
      tl_call(NULL, "graphs.operation_by_name", "(Oy)", graph->graph, oper_name);
  TF_Operation* found = handle_of(graph, operation);
  tl_leave(gil);
  return found;
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  tl_gil gil;
  if (graph == NULL || pos == NULL || !tl_enter(&gil, NULL)) return NULL;
  PyObject* operation =
      tl_call(NULL, "graphs.operation_at", "(On)", graph->graph, (Py_ssize_t)*pos);
  TF_Operation* found = handle_of(graph, operation);
  if (found != NULL) *pos += 1;
  tl_leave(gil);
  return found;
}

unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output,
                                     TF_Tensor** result, TF_Status* status) {
  tl_gil gil;
  unsigned char is_known = 0;
  if (!tl_given(result, "result", status)) return 0;
  *result = NULL;
  if (!tl_given(graph, "graph", status) || !tl_enter(&gil, status)) return 0;
  PyObject* tensor = tl_output(output, "output", status);
  PyObject* value =
      tensor ? tl_call(status, "graphs.constant_value", "(ON)", graph->graph, tensor)
             : NULL;
  if (value != NULL && value != Py_None) {
    *result = tl_tensor(value, TF_OperationOutputType(output), status);
    is_known = *result != NULL;
  }
  Py_XDECREF(value);
  tl_leave(gil);
  return is_known;
}

/* --- Messages --- */

static void write_message(TF_Graph* graph, TF_Buffer* buffer, const char* function,
                          TF_Status* status) {
  tl_gil gil;
  if (!tl_given(graph, "graph", status) || !tl_given(buffer, "the buffer", status) ||
      !tl_enter(&gil, status))
    return;
  tl_message(status, buffer, function, "(O)", graph->graph);
  tl_leave(gil);
}

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def,
                        TF_Status* status) {
  write_message(graph, output_graph_def, "graphs.graph_def", status);
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def,
                      TF_Status* status) {
  write_message(graph, output_version_def, "graphs.versions", status);
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def,
                      TF_Status* status) {
  tl_gil gil;
  if (!tl_given(graph, "graph", status) || !tl_given(op_name, "op_name", status) ||
      !tl_given(output_op_def, "output_op_def", status) || !tl_enter(&gil, status))
    return;
  tl_message(status, output_op_def, "graphs.op_def", "(Os)", graph->graph, op_name);
  tl_leave(gil);
}
