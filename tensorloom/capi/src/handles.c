/* Graphs and operations of Python as handles. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* --- Graphs -------------------------------------------------------------------- */

TF_Graph* TF_NewGraph(void) {
  tl_gil gil;
  TF_Graph* graph = calloc(1, sizeof *graph);
  if (graph == NULL) return NULL;
  graph->references = 1;
  if (!tl_enter(&gil, NULL)) {
    free(graph);
    return NULL;
  }
  graph->graph = tl_call(NULL, "graphs.new_graph", "()");
  graph->operations = PyDict_New();
  tl_leave(gil);
  if (graph->graph != NULL && graph->operations != NULL) return graph;
  TF_DeleteGraph(graph);
  return NULL;
}

void TF_DeleteGraph(TF_Graph* graph) {
  tl_gil gil;
  if (graph == NULL || !tl_enter(&gil, NULL)) return;
  tl_graph_release(graph);
  tl_leave(gil);
}

void tl_graph_hold(TF_Graph* graph) { graph->references++; }

void tl_graph_release(TF_Graph* graph) {
  if (--graph->references != 0) return;
  for (TF_Operation* each = graph->first; each != NULL;) {
    TF_Operation* next = each->next;
    free(each);
    each = next;
  }
  Py_XDECREF(graph->operations);
  Py_XDECREF(graph->graph);
  free(graph);
}

/* --- Operations ---------------------------------------------------------------- */

/* Puts a string behind the ones before it in a block of memory. */
static const char* append(char** at, const char* text) {
  char* copy = *at;
  size_t size = strlen(text) + 1;
  memcpy(copy, text, size);
  *at += size;
  return copy;
}

static TF_Operation* new_operation(PyObject* facts) {
  const char *name, *type, *device;
  PyObject* types;
  if (!PyArg_ParseTuple(facts, "sssO!", &name, &type, &device, &PyTuple_Type, &types))
    return NULL;
  size_t count = (size_t)PyTuple_GET_SIZE(types);
  size_t size = sizeof(TF_Operation) + count * sizeof(TF_DataType);
  TF_Operation* made =
      malloc(size + strlen(name) + strlen(type) + strlen(device) + 3);
  if (made == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  char* at = (char*)made + size;
  made->name = append(&at, name);
  made->type = append(&at, type);
  made->device = append(&at, device);
  made->num_outputs = (int)count;
  for (size_t i = 0; i < count; i++)
    made->output_types[i] =
        (TF_DataType)PyLong_AsLong(PyTuple_GET_ITEM(types, (Py_ssize_t)i));
  return made;
}

TF_Operation* tl_operation(TF_Graph* graph, PyObject* operation, TF_Status* status) {
  PyObject* known = PyDict_GetItemWithError(graph->operations, operation);
  if (known != NULL) return PyLong_AsVoidPtr(known);
  PyObject* facts = tl_call(status, "graphs.facts", "(O)", operation);
  TF_Operation* made = facts == NULL ? NULL : new_operation(facts);
  PyObject* address = made == NULL ? NULL : PyLong_FromVoidPtr(made);
  if (address == NULL ||
      PyDict_SetItem(graph->operations, operation, address) < 0) {
    if (PyErr_Occurred()) tl_raised(status);
    free(made);
    made = NULL;
  } else {
    made->graph = graph;
    made->operation = operation;
    made->next = graph->first;
    graph->first = made;
  }
  Py_XDECREF(address);
  Py_XDECREF(facts);
  return made;
}

PyObject* tl_output(TF_Output output, const char* what, TF_Status* status) {
  if (!tl_given(output.oper, what, status)) return NULL;
  if (output.index < 0 || output.index >= output.oper->num_outputs) {
    tl_fail(status, TF_OUT_OF_RANGE,
            "Node '%s' (type: '%s', num of outputs: %d) does not have output %d",
            output.oper->name, output.oper->type, output.oper->num_outputs,
            output.index);
    return NULL;
  }
  static PyObject* name; /* of the attribute */
  if (name == NULL) name = PyUnicode_InternFromString("_outputs");
  PyObject* outputs = PyObject_GetAttr(output.oper->operation, name);
  PyObject* tensor = outputs ? PySequence_GetItem(outputs, output.index) : NULL;
  Py_XDECREF(outputs);
  if (tensor == NULL) tl_raised(status);
  return tensor;
}

PyObject* tl_output_list(const TF_Output* outputs, int count, const char* what,
                         TF_Status* status) {
  if (!tl_array_given(outputs, count, what, status)) return NULL;
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    PyObject* tensor = tl_output(outputs[i], what, status);
    if (tensor == NULL) Py_CLEAR(list);
    else PyList_SET_ITEM(list, i, tensor);
  }
  return list;
}

PyObject* tl_operation_list(const TF_Operation* const* operations, int count,
                            const char* what, TF_Status* status) {
  if (!tl_array_given(operations, count, what, status)) return NULL;
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    if (!tl_given(operations[i], what, status)) {
      Py_CLEAR(list);
      break;
    }
    Py_INCREF(operations[i]->operation);
    PyList_SET_ITEM(list, i, operations[i]->operation);
  }
  return list;
}

int tl_put_outputs(TF_Graph* graph, PyObject* tensors, TF_Output* outputs, int count,
                   TF_Status* status) {
  for (int i = 0; i < count; i++) {
    PyObject* pair = NULL;
    PyObject* tensor = PySequence_GetItem(tensors, i);
    outputs[i].oper = NULL;
    outputs[i].index = -1;
    if (tensor != NULL && tensor != Py_None)
      pair = tl_call(status, "graphs.place_of", "(O)", tensor);
    int worked = tensor == Py_None;
    if (pair != NULL) {
      PyObject* operation = PyTuple_GET_ITEM(pair, 0);
      outputs[i].oper = tl_operation(graph, operation, status);
      outputs[i].index = (int)PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
      worked = outputs[i].oper != NULL;
      Py_DECREF(pair);
    }
    Py_XDECREF(tensor);
    if (!worked) {
      if (PyErr_Occurred()) tl_raised(status);
      return 0;
    }
  }
  return 1;
}
