/* TF_Operation: what an operation is, reads and feeds. */
#include "bridge.h"

const char* TF_OperationName(TF_Operation* oper) { return oper ? oper->name : NULL; }

const char* TF_OperationOpType(TF_Operation* oper) { return oper ? oper->type : NULL; }

const char* TF_OperationDevice(TF_Operation* oper) {
  return oper ? oper->device : NULL;
}

int TF_OperationNumOutputs(TF_Operation* oper) { return oper ? oper->num_outputs : 0; }

TF_DataType TF_OperationOutputType(TF_Output out) {
  if (out.oper == NULL || out.index < 0 || out.index >= out.oper->num_outputs)
    return (TF_DataType)0;
  return out.oper->output_types[out.index];
}

/* A number that Python knows of an operation; 0 when it fails. */
static int number_of(TF_Operation* oper, const char* function) {
  tl_gil gil;
  if (oper == NULL || !tl_enter(&gil, NULL)) return 0;
  int count = (int)tl_number(NULL, 0, function, "(O)", oper->operation);
  tl_leave(gil);
  return count;
}

int TF_OperationNumInputs(TF_Operation* oper) {
  return number_of(oper, "operations.num_inputs");
}

TF_DataType TF_OperationInputType(TF_Input in) {
  tl_gil gil;
  if (in.oper == NULL || !tl_enter(&gil, NULL)) return (TF_DataType)0;
  long long type = tl_number(NULL, 0, "operations.input_type", "(Oi)",
                             in.oper->operation, in.index);
  tl_leave(gil);
  return (TF_DataType)type;
}

static int list_length(TF_Operation* oper, const char* name, const char* function,
                       TF_Status* status) {
  tl_gil gil;
  if (!tl_given(oper, "oper", status) || !tl_given(name, "arg_name", status) ||
      !tl_enter(&gil, status))
    return -1;
  int length = (int)tl_number(status, -1, function, "(Os)", oper->operation, name);
  tl_leave(gil);
  return length;
}

int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name,
                                 TF_Status* status) {
  return list_length(oper, arg_name, "operations.output_list_length", status);
}

int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name,
                                TF_Status* status) {
  return list_length(oper, arg_name, "operations.input_list_length", status);
}

TF_Output TF_OperationInput(TF_Input in) {
  tl_gil gil;
  TF_Output found = {NULL, -1};
  if (in.oper == NULL || !tl_enter(&gil, NULL)) return found;
  PyObject* tensor =
      tl_call(NULL, "operations.input_of", "(Oi)", in.oper->operation, in.index);
  if (tensor != NULL) {
    PyObject* list = Py_BuildValue("[N]", tensor);
    if (list == NULL || !tl_put_outputs(in.oper->graph, list, &found, 1, NULL))
      PyErr_Clear();
    Py_XDECREF(list);
  }
  tl_leave(gil);
  return found;
}

void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs) {
  int count = TF_OperationNumInputs(oper);
  if (inputs == NULL) return;
  for (int i = 0; i < count && i < max_inputs; i++)
    inputs[i] = TF_OperationInput((TF_Input){oper, i});
}

int TF_OperationOutputNumConsumers(TF_Output out) {
  return TF_OperationOutputConsumers(out, NULL, 0);
}

int TF_OperationOutputConsumers(TF_Output out, TF_Input* consumers, int max_consumers) {
  tl_gil gil;
  int count = 0;
  if (out.oper == NULL || !tl_enter(&gil, NULL)) return 0;
  PyObject* pairs =
      tl_call(NULL, "operations.consumers", "(Oi)", out.oper->operation, out.index);
  if (pairs != NULL) {
    count = (int)PyList_GET_SIZE(pairs);
    for (int i = 0; consumers != NULL && i < count && i < max_consumers; i++) {
      PyObject* pair = PyList_GET_ITEM(pairs, i);
      consumers[i].oper =
          tl_operation(out.oper->graph, PyTuple_GET_ITEM(pair, 0), NULL);
      consumers[i].index = (int)PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
    }
    Py_DECREF(pairs);
  }
  tl_leave(gil);
  return count;
}

/* Writes the handles of a list that Python gives; returns how many it has. */
static int put_operations(TF_Operation* oper, const char* function,
                          TF_Operation** operations, int most) {
  tl_gil gil;
  int count = 0;
  if (oper == NULL || !tl_enter(&gil, NULL)) return 0;
  PyObject* list = tl_call(NULL, function, "(O)", oper->operation);
  if (list != NULL) {
    count = (int)PyList_GET_SIZE(list);
    for (int i = 0; operations != NULL && i < count && i < most; i++)
      operations[i] = tl_operation(oper->graph, PyList_GET_ITEM(list, i), NULL);
    Py_DECREF(list);
  }
  tl_leave(gil);
  return count;
}

int TF_OperationNumControlInputs(TF_Operation* oper) {
  return put_operations(oper, "operations.control_inputs", NULL, 0);
}

int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs,
                                 int max_control_inputs) {
  return put_operations(oper, "operations.control_inputs", control_inputs,
                        max_control_inputs);
}

int TF_OperationNumControlOutputs(TF_Operation* oper) {
  return put_operations(oper, "operations.control_outputs", NULL, 0);
}

int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs,
                                  int max_control_outputs) {
  return put_operations(oper, "operations.control_outputs", control_outputs,
                        max_control_outputs);
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def,
                           TF_Status* status) {
  tl_gil gil;
  if (!tl_given(oper, "oper", status) ||
      !tl_given(output_node_def, "output_node_def", status) || !tl_enter(&gil, status))
    return;
  tl_message(status, output_node_def, "operations.node_def", "(O)", oper->operation);
  tl_leave(gil);
}
