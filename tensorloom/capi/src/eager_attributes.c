/* TFE_OpSetAttr*: values of C as attrs of an op. */
#include "eager.h"
#include "values.h"

/* Sets an attr to a value, whose reference is taken over. `kind` is the type of the attr
   in an OpDef. What is wrong is kept, and TFE_Execute says it. */
static void set_attr(TFE_Op* op, const char* name, const char* kind, PyObject* value) {
  PyErr_Clear();
  tl_do(NULL, "eager.set_attr", "(O(zsN))", op->op, name, kind,
        value ? value : Py_NewRef(Py_None));
}

/* A function without a status that sets one attr. */
#define SETTER(NAME, KIND, VALUE, ...)                           \
  void NAME(TFE_Op* op, const char* attr_name, __VA_ARGS__) {    \
    tl_gil gil;                                                  \
    if (op == NULL || !tl_enter(&gil, NULL)) return;             \
    set_attr(op, attr_name, KIND, VALUE);                        \
    tl_leave(gil);                                               \
  }

/* One with a status, which says at once what is wrong with a shape. */
#define SHAPE_SETTER(NAME, KIND, VALUE, ...)                                         \
  void NAME(TFE_Op* op, const char* attr_name, __VA_ARGS__, TF_Status* out_status) { \
    tl_gil gil;                                                                      \
    if (!tl_given(op, "op", out_status) || !tl_enter(&gil, out_status)) return;      \
    PyErr_Clear();                                                                   \
    PyObject* value = VALUE;                                                         \
    tl_do(out_status, "eager.set_shape", "(O(zsN))", op->op, attr_name, KIND,        \
          value ? value : Py_NewRef(Py_None));                                       \
    tl_leave(gil);                                                                   \
  }

/* What another op stands for as a function: an object of Python. */
static PyObject* function_of(const TFE_Op* value) {
  return value == NULL ? NULL : Py_NewRef(value->op);
}

SETTER(TFE_OpSetAttrString, "string", bytes_of(value, length), const void* value,
       size_t length)
SETTER(TFE_OpSetAttrInt, "int", PyLong_FromLongLong(value), int64_t value)
SETTER(TFE_OpSetAttrFloat, "float", PyFloat_FromDouble(value), float value)
SETTER(TFE_OpSetAttrBool, "bool", PyBool_FromLong(value), unsigned char value)
SETTER(TFE_OpSetAttrType, "type", PyLong_FromLong(value), TF_DataType value)
SETTER(TFE_OpSetAttrFunctionName, "func", bytes_of(data, length), const char* data,
       size_t length)
SETTER(TFE_OpSetAttrFunction, "call", function_of(value), const TFE_Op* value)
SETTER(TFE_OpSetAttrStringList, "list(string)",
       lengths == NULL && num_values > 0
           ? NULL
           : LIST(num_values, values, bytes_of(values[i], lengths[i])),
       const void* const* values, const size_t* lengths, int num_values)
SETTER(TFE_OpSetAttrIntList, "list(int)",
       LIST(num_values, values, PyLong_FromLongLong(values[i])), const int64_t* values,
       int num_values)
SETTER(TFE_OpSetAttrFloatList, "list(float)",
       LIST(num_values, values, PyFloat_FromDouble(values[i])), const float* values,
       int num_values)
SETTER(TFE_OpSetAttrBoolList, "list(bool)",
       LIST(num_values, values, PyBool_FromLong(values[i])),
       const unsigned char* values, int num_values)
SETTER(TFE_OpSetAttrTypeList, "list(type)",
       LIST(num_values, values, PyLong_FromLong(values[i])), const TF_DataType* values,
       int num_values)
SETTER(TFE_OpSetAttrFunctionList, "list(call)",
       LIST(num_values, value, function_of(value[i])), const TFE_Op** value,
       int num_values)
SHAPE_SETTER(TFE_OpSetAttrShape, "shape", Py_BuildValue("(N)", shape_of(dims, num_dims)),
             const int64_t* dims, const int num_dims)
SHAPE_SETTER(TFE_OpSetAttrShapeList, "list(shape)",
             num_dims == NULL && num_values > 0
                 ? NULL
                 : LIST(num_values, dims, shape_of(dims[i], num_dims[i])),
             const int64_t** dims, const int* num_dims, int num_values)

void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor,
                         TF_Status* status) {
  tl_gil gil;
  if (!tl_given(op, "op", status) || !tl_given(attr_name, "attr_name", status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* value = tl_array(tensor, status);
  if (value != NULL)
    tl_do(status, "descriptions.set_tensor", "(OsN)", op->op, attr_name, value);
  tl_leave(gil);
}
