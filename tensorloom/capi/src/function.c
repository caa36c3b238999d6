/* TF_Function: operations of a graph as a function. */
#include <stdio.h>
#include <stdlib.h>

#include "bridge.h"

/* A handle that takes over the reference to a function of Python, which may be NULL. */
static TF_Function* handle_of(PyObject* function, TF_Status* status) {
  PyObject* name =
      function ? tl_call(status, "functions.name_of", "(O)", function) : NULL;
  TF_Function* made = name == NULL ? NULL : calloc(1, sizeof *made);
  if (made == NULL) {
    Py_XDECREF(name), Py_XDECREF(function);
    return NULL;
  }
  made->function = function;
  made->name_object = name;
  made->name = PyUnicode_AsUTF8(name);
  return made;
}

/* Names as a list; None for a missing array. */
static PyObject* name_list(const char* const* names, int count) {
  if (names == NULL) return Py_NewRef(Py_None);
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    PyObject* name = Py_BuildValue("z", names[i]);
    if (name == NULL) Py_CLEAR(list);
    else PyList_SET_ITEM(list, i, name);
  }
  return list;
}

/* Whether inputs or outputs of a function are outputs of operations. */
static int are_outputs(const TF_Output* outputs, int count, const char* kind,
                       const char* how, const char* function, TF_Status* status) {
  for (int i = 0; outputs != NULL && i < count; i++) {
    const TF_Operation* oper = outputs[i].oper;
    int index = outputs[i].index;
    if (oper != NULL && index >= 0 && index < oper->num_outputs) continue;
    char what[512] = "Node is null";
    if (oper != NULL)
      snprintf(what, sizeof what,
               "Node '%s' (type: '%s', num of outputs: %d) does not have output %d",
               oper->name, oper->type, oper->num_outputs, index);
    tl_fail(status, oper == NULL ? TF_INVALID_ARGUMENT : TF_OUT_OF_RANGE,
            "%s\n\tEncountered while processing %s %d %s function '%s'", what, kind, i,
            how, function);
    return 0;
  }
  return 1;
}

TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs,
    const TF_Output* inputs, int noutputs, const TF_Output* outputs,
    const char* const* output_names, int ncontrol_outputs,
    const TF_Operation* const* control_outputs, const char* const* control_output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status) {
  tl_gil gil;
  TF_Function* made = NULL;
  (void)opts;
  if (!tl_given(fn_body, "fn_body", status) || !tl_given(fn_name, "fn_name", status) ||
      !are_outputs(inputs, ninputs, "input", "into", fn_name, status) ||
      !are_outputs(outputs, noutputs, "output", "from", fn_name, status) ||
      !tl_enter(&gil, status))
    return NULL;
  PyObject* body = num_opers == -1
                       ? Py_NewRef(Py_None)
                       : tl_operation_list(opers, num_opers, "opers", status);
  PyObject* ins = body ? tl_output_list(inputs, ninputs, "inputs", status) : NULL;
  PyObject* outs = ins ? tl_output_list(outputs, noutputs, "outputs", status) : NULL;
  PyObject* controls = outs ? tl_operation_list(control_outputs, ncontrol_outputs,
                                                "control_outputs", status)
                            : NULL;
  if (controls != NULL)
    made = handle_of(
        tl_call(status, "functions.from_graph", "(OsiOOONONz)", fn_body->graph, fn_name,
                (int)append_hash_to_fn_name, body, ins, outs,
                name_list(output_names, noutputs), controls,
                name_list(control_output_names, ncontrol_outputs), description),
        status);
  Py_XDECREF(body), Py_XDECREF(ins), Py_XDECREF(outs), Py_XDECREF(controls);
  tl_leave(gil);
  return made;
}

TF_Function* TF_GraphToFunction(const TF_Graph* fn_body, const char* fn_name,
                                unsigned char append_hash_to_fn_name, int num_opers,
                                const TF_Operation* const* opers, int ninputs,
                                const TF_Output* inputs, int noutputs,
                                const TF_Output* outputs,
                                const char* const* output_names,
                                const TF_FunctionOptions* opts, const char* description,
                                TF_Status* status) {
  return TF_GraphToFunctionWithControlOutputs(
      fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs, inputs,
      noutputs, outputs, output_names, 0, NULL, NULL, opts, description, status);
}

const char* TF_FunctionName(TF_Function* func) { return func ? func->name : NULL; }

void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def,
                              TF_Status* status) {
  tl_gil gil;
  if (!tl_given(func, "func", status) ||
      !tl_given(output_func_def, "output_func_def", status) || !tl_enter(&gil, status))
    return;
  tl_message(status, output_func_def, "functions.definition", "(O)", func->function);
  tl_leave(gil);
}

TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len,
                                          TF_Status* status) {
  tl_gil gil;
  if ((proto_len && !tl_given(proto, "proto", status)) || !tl_enter(&gil, status))
    return NULL;
  TF_Function* made =
      handle_of(tl_call(status, "functions.from_serialized", "(y#)",
                        proto_len ? proto : "", (Py_ssize_t)proto_len),
                status);
  tl_leave(gil);
  return made;
}

void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name,
                                  const void* proto, size_t proto_len,
                                  TF_Status* status) {
  tl_gil gil;
  if (!tl_given(func, "func", status) || !tl_given(attr_name, "attr_name", status) ||
      (proto_len && !tl_given(proto, "proto", status)) || !tl_enter(&gil, status))
    return;
  tl_do(status, "functions.set_attr", "(Osy#)", func->function, attr_name,
        proto_len ? proto : "", (Py_ssize_t)proto_len);
  tl_leave(gil);
}

void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name,
                                  TF_Buffer* output_attr_value, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(func, "func", status) || !tl_given(attr_name, "attr_name", status) ||
      !tl_given(output_attr_value, "output_attr_value", status) ||
      !tl_enter(&gil, status))
    return;
  tl_message(status, output_attr_value, "functions.get_attr", "(Os)", func->function,
             attr_name);
  tl_leave(gil);
}

void TF_DeleteFunction(TF_Function* func) {
  if (func == NULL) return;
  tl_drop(func->name_object);
  tl_drop(func->function);
  free(func);
}

/* --- Functions of a graph ------------------------------------------------------ */

void TF_GraphCopyFunction(TF_Graph* graph, const TF_Function* func,
                          const TF_Function* grad, TF_Status* status) {
  tl_gil gil;
  if (func == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "'func' argument to TF_GraphCopyFunction cannot be null");
    return;
  }
  if (!tl_given(graph, "g", status) || !tl_enter(&gil, status)) return;
  tl_do(status, "functions.copy_to_graph", "(OOO)", graph->graph, func->function,
        grad ? grad->function : Py_None);
  tl_leave(gil);
}

int TF_GraphNumFunctions(TF_Graph* graph) {
  tl_gil gil;
  if (graph == NULL || !tl_enter(&gil, NULL)) return 0;
  int count = (int)tl_number(NULL, 0, "functions.count_in_graph", "(O)", graph->graph);
  tl_leave(gil);
  return count;
}

int TF_GraphGetFunctions(TF_Graph* graph, TF_Function** funcs, int max_func,
                         TF_Status* status) {
  tl_gil gil;
  int count = 0;
  if (!tl_given(graph, "g", status) ||
      !tl_array_given(funcs, max_func, "funcs", status) || !tl_enter(&gil, status))
    return 0;
  PyObject* list = tl_call(status, "functions.of_graph", "(O)", graph->graph);
  while (list != NULL && count < max_func && count < PyList_GET_SIZE(list)) {
    funcs[count] = handle_of(Py_NewRef(PyList_GET_ITEM(list, count)), status);
    if (funcs[count] == NULL) break;
    count++;
  }
  Py_XDECREF(list);
  tl_leave(gil);
  return count;
}
