/* TF_SetAttr*: values of C as attrs of an operation that is being described. */
#include "description.h"
#include "values.h"

/* Sets an attr to a value, whose reference is taken over. `kind` is how it is to be
   read: as the type of an attr in an OpDef. */
static void set_attr(TF_OperationDescription* desc, const char* name, const char* kind,
                     PyObject* value) {
  PyErr_Clear();
  tl_describe(desc, "descriptions.set_attr",
              Py_BuildValue("(zsN)", name, kind, value ? value : Py_NewRef(Py_None)));
}

/* A function without a status that sets one attr. */
#define SETTER(NAME, KIND, VALUE, ...)                                            \
  void NAME(TF_OperationDescription* desc, const char* attr_name, __VA_ARGS__) { \
    tl_gil gil;                                                                   \
    if (desc == NULL || !tl_enter(&gil, NULL)) return;                            \
    set_attr(desc, attr_name, KIND, VALUE);                                       \
    tl_leave(gil);                                                                \
  }

SETTER(TF_SetAttrString, "string", bytes_of(value, length), const void* value,
       size_t length)
SETTER(TF_SetAttrStringList, "list(string)",
       lengths == NULL && num_values > 0
           ? NULL
           : LIST(num_values, values, bytes_of(values[i], lengths[i])),
       const void* const* values, const size_t* lengths, int num_values)
SETTER(TF_SetAttrInt, "int", PyLong_FromLongLong(value), int64_t value)
SETTER(TF_SetAttrIntList, "list(int)",
       LIST(num_values, values, PyLong_FromLongLong(values[i])), const int64_t* values,
       int num_values)
SETTER(TF_SetAttrFloat, "float", PyFloat_FromDouble(value), float value)
SETTER(TF_SetAttrFloatList, "list(float)",
       LIST(num_values, values, PyFloat_FromDouble(values[i])), const float* values,
       int num_values)
SETTER(TF_SetAttrBool, "bool", PyBool_FromLong(value), unsigned char value)
SETTER(TF_SetAttrBoolList, "list(bool)",
       LIST(num_values, values, PyBool_FromLong(values[i])),
       const unsigned char* values, int num_values)
SETTER(TF_SetAttrType, "type", PyLong_FromLong(value), TF_DataType value)
SETTER(TF_SetAttrTypeList, "list(type)",
       LIST(num_values, values, PyLong_FromLong(values[i])), const TF_DataType* values,
       int num_values)
SETTER(TF_SetAttrPlaceholder, "placeholder", Py_BuildValue("z", placeholder),
       const char* placeholder)
SETTER(TF_SetAttrFuncName, "func", bytes_of(value, length), const char* value,
       size_t length)
SETTER(TF_SetAttrShape, "shape",
       Py_BuildValue("(N)", shape_of(dims, num_dims)), const int64_t* dims,
       int num_dims)
SETTER(TF_SetAttrShapeList, "list(shape)",
       num_dims == NULL && num_shapes > 0
           ? NULL
           : LIST(num_shapes, dims, shape_of(dims[i], num_dims[i])),
       const int64_t* const* dims, const int* num_dims, int num_shapes)

/* --- Those with a status ------------------------------------------------------- */

/* Takes over the reference to `value`; NULL leaves the status as it is. */
static void set_checked(TF_OperationDescription* desc, const char* function,
                        const char* name, PyObject* value, TF_Status* status) {
  if (value == NULL) {
    if (PyErr_Occurred()) tl_raised(status);
    return;
  }
  tl_do(status, function, "(OsN)", desc->description, name, value);
}

static int are_given(TF_OperationDescription* desc, const char* name, const void* value,
                     TF_Status* status) {
  return tl_given(desc, "desc", status) && tl_given(name, "attr_name", status) &&
         tl_given(value, "the value", status);
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc, const char* attr_name,
                                const void* proto, size_t proto_len,
                                TF_Status* status) {
  tl_gil gil;
  if (!are_given(desc, attr_name, proto_len ? proto : "", status) ||
      !tl_enter(&gil, status))
    return;
  set_checked(desc, "descriptions.set_shape_proto", attr_name,
              bytes_of(proto, proto_len), status);
  tl_leave(gil);
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc,
                                    const char* attr_name, const void* const* protos,
                                    const size_t* proto_lens, int num_shapes,
                                    TF_Status* status) {
  tl_gil gil;
  if (!are_given(desc, attr_name, "", status) ||
      !tl_array_given(protos, num_shapes, "protos", status) ||
      !tl_array_given(proto_lens, num_shapes, "proto_lens", status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* list = LIST(num_shapes, protos, bytes_of(protos[i], proto_lens[i]));
  if (list == NULL && !PyErr_Occurred())
    tl_fail(status, TF_INVALID_ARGUMENT, "one of the protos is NULL");
  set_checked(desc, "descriptions.set_shape_protos", attr_name, list, status);
  tl_leave(gil);
}

void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name,
                      TF_Tensor* value, TF_Status* status) {
  tl_gil gil;
  if (!are_given(desc, attr_name, value, status) || !tl_enter(&gil, status)) return;
  set_checked(desc, "descriptions.set_tensor", attr_name, tl_array(value, status),
              status);
  tl_leave(gil);
}

void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name,
                          TF_Tensor* const* values, int num_values, TF_Status* status) {
  tl_gil gil;
  if (!are_given(desc, attr_name, "", status) || !tl_enter(&gil, status)) return;
  set_checked(desc, "descriptions.set_tensors", attr_name,
              tl_array_list(values, num_values, "values", status), status);
  tl_leave(gil);
}

void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name,
                          const void* proto, size_t proto_len, TF_Status* status) {
  tl_gil gil;
  if (!are_given(desc, attr_name, proto_len ? proto : "", status) ||
      !tl_enter(&gil, status))
    return;
  set_checked(desc, "descriptions.set_value_proto", attr_name,
              bytes_of(proto, proto_len), status);
  tl_leave(gil);
}
