/* TF_OperationDescription: an operation before it is in its graph.

   Most of these functions have no status: what is wrong is kept by the description, and
   TF_FinishOperation says it. */
#include <stdlib.h>

#include "description.h"

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type,
                                         const char* oper_name) {
  tl_gil gil;
  if (graph == NULL || op_type == NULL || oper_name == NULL) return NULL;
  TF_OperationDescription* desc = calloc(1, sizeof *desc);
  if (desc == NULL) return NULL;
  if (!tl_enter(&gil, NULL)) {
    free(desc);
    return NULL;
  }
  desc->graph = graph;
  desc->description = tl_call(NULL, "descriptions.Description", "(Oyy)", graph->graph,
                              op_type, oper_name);
  tl_leave(gil);
  if (desc->description != NULL) return desc;
  free(desc);
  return NULL;
}

void tl_describe(TF_OperationDescription* desc, const char* function, PyObject* value) {
  if (value == NULL || !tl_do(NULL, function, "(OO)", desc->description, value))
    PyErr_Clear();
  Py_XDECREF(value);
}

/* Keeps what a status says, for TF_FinishOperation. */
static void keep_problem(TF_OperationDescription* desc, TF_Status* problem) {
  if (TF_GetCode(problem) != TF_OK)
    tl_do(NULL, "descriptions.keep_problem", "(Ois)", desc->description,
          (int)TF_GetCode(problem), TF_Message(problem));
  tl_ok(problem);
}

void TF_SetDevice(TF_OperationDescription* desc, const char* device) {
  tl_gil gil;
  if (desc == NULL || !tl_enter(&gil, NULL)) return;
  tl_describe(desc, "descriptions.set_device", Py_BuildValue("z", device));
  tl_leave(gil);
}

void TF_AddInput(TF_OperationDescription* desc, TF_Output input) {
  tl_gil gil;
  TF_Status problem = {TF_OK, NULL};
  if (desc == NULL || !tl_enter(&gil, NULL)) return;
  tl_describe(desc, "descriptions.add_input", tl_output(input, "an input", &problem));
  keep_problem(desc, &problem);
  tl_leave(gil);
}

void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs,
                     int num_inputs) {
  tl_gil gil;
  TF_Status problem = {TF_OK, NULL};
  if (desc == NULL || !tl_enter(&gil, NULL)) return;
  tl_describe(desc, "descriptions.add_input",
              tl_output_list(inputs, num_inputs, "inputs", &problem));
  keep_problem(desc, &problem);
  tl_leave(gil);
}

static void add_operation(TF_OperationDescription* desc, TF_Operation* oper,
                          const char* function) {
  tl_gil gil;
  TF_Status problem = {TF_OK, NULL};
  if (desc == NULL || !tl_enter(&gil, NULL)) return;
  if (tl_given(oper, "an operation", &problem)) {
    Py_INCREF(oper->operation);
    tl_describe(desc, function, oper->operation);
  }
  keep_problem(desc, &problem);
  tl_leave(gil);
}

void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) {
  add_operation(desc, input, "descriptions.add_control_input");
}

void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* oper) {
  add_operation(desc, oper, "descriptions.colocate_with");
}

TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) {
  tl_gil gil;
  TF_Operation* made = NULL;
  if (!tl_given(desc, "desc", status)) return NULL;
  if (tl_enter(&gil, status)) {
    PyObject* operation =
        tl_call(status, "descriptions.finish", "(O)", desc->description);
    if (operation != NULL) made = tl_operation(desc->graph, operation, status);
    Py_XDECREF(operation);
    Py_DECREF(desc->description);
    tl_leave(gil);
  }
  free(desc);
  return made;
}
