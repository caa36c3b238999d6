/* TFE_Op: an op with its device, attrs and inputs; TFE_Execute runs it. */
#include <stdlib.h>

#include "eager.h"
#include "values.h"

TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(ctx, "ctx", status) ||
      !tl_given(op_or_function_name, "op_or_function_name", status))
    return NULL;
  TFE_Op* made = calloc(1, sizeof *made);
  if (made == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
    return NULL;
  }
  if (tl_enter(&gil, status)) {
    made->op =
        tl_call(status, "eager.Op", "(Oy)", ctx->context, op_or_function_name);
    tl_leave(gil);
  }
  if (made->op != NULL) return made;
  free(made);
  return NULL;
}

void TFE_DeleteOp(TFE_Op* op) {
  tl_gil gil;
  if (op == NULL) return;
  if (tl_enter(&gil, NULL)) {
    Py_DECREF(op->op);
    Py_XDECREF(op->device);
    tl_leave(gil);
  }
  free(op);
}

void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) || !tl_enter(&gil, status)) return;
  tl_do(status, "eager.set_device", "(Oy)", op->op, device_name ? device_name : "");
  tl_leave(gil);
}

const char* TFE_OpGetDevice(TFE_Op* op, TF_Status* status) {
  tl_gil gil;
  const char* name = NULL;
  if (!tl_given(op, "op", status) || !tl_enter(&gil, status)) return NULL;
  PyObject* device = tl_call(status, "eager.device", "(O)", op->op);
  if (device != NULL) {
    Py_XDECREF(op->device);
    op->device = device;
    name = PyBytes_AsString(device);
  }
  tl_leave(gil);
  return name;
}

void TFE_OpSetXLACompilation(TFE_Op* op, unsigned char enable) {
  (void)op, (void)enable;
}

/* --- Inputs -------------------------------------------------------------------- */

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) || !tl_given(input, "input", status) ||
      !tl_enter(&gil, status))
    return;
  tl_do(status, "eager.add_input", "(OO)", op->op, input->handle);
  tl_leave(gil);
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs,
                        TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) ||
      !tl_array_given(inputs, num_inputs, "inputs", status))
    return;
  for (int i = 0; i < num_inputs; i++)
    if (!tl_given(inputs[i], "one of inputs", status)) return;
  if (!tl_enter(&gil, status)) return;
  PyObject* list = LIST(num_inputs, inputs, Py_NewRef(inputs[i]->handle));
  if (list == NULL) tl_raised(status);
  else tl_do(status, "eager.add_input_list", "(ON)", op->op, list);
  tl_leave(gil);
}

/* --- What an op tells ---------------------------------------------------------- */

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name, unsigned char* is_list,
                              TF_Status* status) {
  tl_gil gil;
  int type = TF_ATTR_INT, list = 0;
  if (!tl_given(op, "op", status) || !tl_given(attr_name, "attr_name", status) ||
      !tl_given(is_list, "is_list", status) || !tl_enter(&gil, status))
    return TF_ATTR_INT;
  PyObject* pair = tl_call(status, "eager.attr_type", "(Oy)", op->op, attr_name);
  if (pair != NULL && PyArg_ParseTuple(pair, "ip", &type, &list))
    *is_list = (unsigned char)list;
  Py_XDECREF(pair);
  tl_leave(gil);
  return (TF_AttrType)type;
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx, const char* op_or_function_name,
                                  const char* attr_name, unsigned char* is_list,
                                  TF_Status* status) {
  TFE_Op* op = TFE_NewOp(ctx, op_or_function_name, status);
  if (op == NULL) return TF_ATTR_INT;
  TF_AttrType type = TFE_OpGetAttrType(op, attr_name, is_list, status);
  TFE_DeleteOp(op);
  return type;
}

static int length_of(TFE_Op* op, const char* name, const char* function,
                     TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) || !tl_given(name, "the name", status) ||
      !tl_enter(&gil, status))
    return -1;
  long long length = tl_number(status, -1, function, "(Oy)", op->op, name);
  tl_leave(gil);
  return (int)length;
}

int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status) {
  return length_of(op, input_name, "eager.input_length", status);
}

int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status) {
  return length_of(op, output_name, "eager.output_length", status);
}

/* --- Running ------------------------------------------------------------------- */

static int put_results(PyObject* results, TFE_TensorHandle** retvals,
                       TF_Status* status) {
  Py_ssize_t count = PyList_GET_SIZE(results);
  for (Py_ssize_t i = 0; i < count; i++) {
    retvals[i] = tl_handle(Py_NewRef(PyList_GET_ITEM(results, i)), status);
    if (retvals[i] != NULL) continue;
    while (i-- > 0) TFE_DeleteTensorHandle(retvals[i]);
    return 0;
  }
  return (int)count;
}

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals,
                 TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) || !tl_given(num_retvals, "num_retvals", status) ||
      !tl_array_given(retvals, *num_retvals, "retvals", status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* results = tl_call(status, "eager.execute", "(Oi)", op->op, *num_retvals);
  if (results != NULL) *num_retvals = put_results(results, retvals, status);
  Py_XDECREF(results);
  tl_leave(gil);
}
