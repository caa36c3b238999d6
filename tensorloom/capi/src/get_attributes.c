/* TF_OperationGetAttr*: attrs of an operation as values of C. */
#include <string.h>

#include "bridge.h"

static int is_given(TF_Operation* oper, const char* name, TF_Status* status) {
  return tl_given(oper, "oper", status) && tl_given(name, "attr_name", status);
}

/* Whether values of a list are to be written, and where. */
static int is_list_given(TF_Operation* oper, const char* name, const void* values,
                         int most, TF_Status* status) {
  return is_given(oper, name, status) &&
         tl_array_given(values, most < 0 ? 0 : most, "values", status);
}

static PyObject* single(TF_Operation* oper, const char* name, const char* kind,
                        TF_Status* status) {
  return tl_call(status, "attributes.single", "(Oss)", oper->operation, name, kind);
}

/* The elements of a list; a new reference to a list. */
static PyObject* elements(TF_Operation* oper, const char* name, const char* kind,
                          TF_Status* status) {
  return tl_call(status, "attributes.elements", "(Oss)", oper->operation, name, kind);
}

static int fewer(PyObject* list, int most) {
  Py_ssize_t count = PyList_GET_SIZE(list);
  return count < most ? (int)count : most < 0 ? 0 : most;
}

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* attr_name,
                                            TF_Status* status) {
  tl_gil gil;
  TF_AttrMetadata metadata = {0, -1, TF_ATTR_STRING, -1};
  if (!is_given(oper, attr_name, status) || !tl_enter(&gil, status)) return metadata;
  PyObject* facts =
      tl_call(status, "attributes.metadata", "(Os)", oper->operation, attr_name);
  int is_list, type;
  long long list_size, total_size;
  if (facts != NULL) {
    if (PyArg_ParseTuple(facts, "iLiL", &is_list, &list_size, &type, &total_size)) {
      metadata.is_list = (unsigned char)is_list;
      metadata.list_size = list_size;
      metadata.type = (TF_AttrType)type;
      metadata.total_size = total_size;
    } else {
      tl_raised(status);
    }
    Py_DECREF(facts);
  }
  tl_leave(gil);
  return metadata;
}

/* --- Strings ------------------------------------------------------------------- */

void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name, void* value,
                               size_t max_length, TF_Status* status) {
  tl_gil gil;
  if (!is_given(oper, attr_name, status) ||
      (max_length != 0 && !tl_given(value, "value", status)) || !tl_enter(&gil, status))
    return;
  PyObject* text =
      tl_call(status, "attributes.string", "(Os)", oper->operation, attr_name);
  if (text != NULL) {
    size_t length = (size_t)PyBytes_GET_SIZE(text);
    if (max_length != 0)
      memcpy(value, PyBytes_AS_STRING(text), length < max_length ? length : max_length);
    Py_DECREF(text);
  }
  tl_leave(gil);
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name,
                                   void** values, size_t* lengths, int max_values,
                                   void* storage, size_t storage_size,
                                   TF_Status* status) {
  tl_gil gil;
  if (!is_list_given(oper, attr_name, values, max_values, status) ||
      !tl_array_given(lengths, max_values < 0 ? 0 : max_values, "lengths", status) ||
      (storage_size != 0 && !tl_given(storage, "storage", status)) ||
      !tl_enter(&gil, status))
    return;
  PyObject* list = elements(oper, attr_name, "string", status);
  size_t at = 0;
  for (int i = 0; list != NULL && i < fewer(list, max_values); i++) {
    PyObject* text = PyList_GET_ITEM(list, i);
    size_t length = (size_t)PyBytes_GET_SIZE(text);
    if (length > storage_size - at) {
      tl_fail(status, TF_INVALID_ARGUMENT,
              "Not enough storage to hold the requested list of strings");
      break;
    }
    values[i] = (char*)storage + at;
    lengths[i] = length;
    if (length != 0) memcpy(values[i], PyBytes_AS_STRING(text), length);
    at += length;
  }
  Py_XDECREF(list);
  tl_leave(gil);
}

/* --- Numbers, booleans, types -------------------------------------------------- */

/* A getter of one value and one of a list, where FROM makes a C value of an object. */
#define GETTERS(NAME, TYPE, KIND, FROM)                                                \
  void NAME(TF_Operation* oper, const char* attr_name, TYPE* value,                    \
            TF_Status* status) {                                                       \
    tl_gil gil;                                                                        \
    if (!is_given(oper, attr_name, status) || !tl_given(value, "value", status) ||     \
        !tl_enter(&gil, status))                                                       \
      return;                                                                          \
    PyObject* found = single(oper, attr_name, KIND, status);                           \
    if (found != NULL) *value = (TYPE)FROM(found);                                     \
    Py_XDECREF(found);                                                                 \
    tl_leave(gil);                                                                     \
  }                                                                                    \
  void NAME##List(TF_Operation* oper, const char* attr_name, TYPE* values,             \
                  int max_values, TF_Status* status) {                                 \
    tl_gil gil;                                                                        \
    if (!is_list_given(oper, attr_name, values, max_values, status) ||                 \
        !tl_enter(&gil, status))                                                       \
      return;                                                                          \
    PyObject* list = elements(oper, attr_name, KIND, status);                          \
    for (int i = 0; list != NULL && i < fewer(list, max_values); i++)                  \
      values[i] = (TYPE)FROM(PyList_GET_ITEM(list, i));                                \
    Py_XDECREF(list);                                                                  \
    tl_leave(gil);                                                                     \
  }

GETTERS(TF_OperationGetAttrInt, int64_t, "int", PyLong_AsLongLong)
GETTERS(TF_OperationGetAttrFloat, float, "float", PyFloat_AsDouble)
GETTERS(TF_OperationGetAttrBool, unsigned char, "bool", PyObject_IsTrue)
GETTERS(TF_OperationGetAttrType, TF_DataType, "type", PyLong_AsLong)

/* --- Shapes -------------------------------------------------------------------- */

void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name, int64_t* value,
                              int num_dims, TF_Status* status) {
  tl_gil gil;
  if (!is_given(oper, attr_name, status) || !tl_enter(&gil, status)) return;
  PyObject* dims = single(oper, attr_name, "shape", status);
  /* Of an unknown rank nothing is written, and no room is needed. */
  if (dims != NULL && dims != Py_None &&
      tl_array_given(value, fewer(dims, num_dims), "values", status))
    for (int i = 0; i < fewer(dims, num_dims); i++)
      value[i] = PyLong_AsLongLong(PyList_GET_ITEM(dims, i));
  Py_XDECREF(dims);
  tl_leave(gil);
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name,
                                  int64_t** dims, int* num_dims, int num_shapes,
                                  int64_t* storage, int storage_size,
                                  TF_Status* status) {
  tl_gil gil;
  if (!is_list_given(oper, attr_name, dims, num_shapes, status) ||
      !tl_array_given(num_dims, num_shapes < 0 ? 0 : num_shapes, "num_dims", status) ||
      !tl_array_given(storage, storage_size, "storage", status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* list = elements(oper, attr_name, "shape", status);
  int at = 0;
  for (int i = 0; list != NULL && i < fewer(list, num_shapes); i++) {
    PyObject* shape = PyList_GET_ITEM(list, i);
    int rank = shape == Py_None ? -1 : (int)PyList_GET_SIZE(shape);
    if (rank > storage_size - at) {
      tl_fail(status, TF_INVALID_ARGUMENT,
              "Not enough storage to hold the requested list of shapes");
      break;
    }
    num_dims[i] = rank;
    dims[i] = storage + at;
    for (int j = 0; j < rank; j++)
      storage[at++] = PyLong_AsLongLong(PyList_GET_ITEM(shape, j));
  }
  Py_XDECREF(list);
  tl_leave(gil);
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* attr_name,
                                         TF_Buffer* value, TF_Status* status) {
  tl_gil gil;
  if (!is_given(oper, attr_name, status) || !tl_given(value, "value", status) ||
      !tl_enter(&gil, status))
    return;
  tl_message(status, value, "attributes.shape_message", "(Os)", oper->operation,
             attr_name);
  tl_leave(gil);
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* attr_name,
                                             TF_Buffer** values, int max_values,
                                             TF_Status* status) {
  tl_gil gil;
  if (!is_list_given(oper, attr_name, values, max_values, status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* list =
      tl_call(status, "attributes.shape_messages", "(Os)", oper->operation, attr_name);
  for (int i = 0; list != NULL && i < fewer(list, max_values); i++) {
    PyObject* message = PyList_GET_ITEM(list, i);
    values[i] = TF_NewBufferFromString(PyBytes_AS_STRING(message),
                                       (size_t)PyBytes_GET_SIZE(message));
  }
  Py_XDECREF(list);
  tl_leave(gil);
}

/* --- Tensors ------------------------------------------------------------------- */

/* A tensor of a pair of a dtype's number and an array. */
static TF_Tensor* tensor_of_pair(PyObject* pair, TF_Status* status) {
  long type = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
  return tl_tensor(PyTuple_GET_ITEM(pair, 1), (TF_DataType)type, status);
}

void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name,
                               TF_Tensor** value, TF_Status* status) {
  tl_gil gil;
  if (!tl_given(value, "value", status)) return;
  *value = NULL;
  if (!is_given(oper, attr_name, status) || !tl_enter(&gil, status)) return;
  PyObject* pair = single(oper, attr_name, "tensor", status);
  if (pair != NULL) *value = tensor_of_pair(pair, status);
  Py_XDECREF(pair);
  tl_leave(gil);
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name,
                                   TF_Tensor** values, int max_values,
                                   TF_Status* status) {
  tl_gil gil;
  if (!is_list_given(oper, attr_name, values, max_values, status) ||
      !tl_enter(&gil, status))
    return;
  PyObject* list = elements(oper, attr_name, "tensor", status);
  for (int i = 0; list != NULL && i < fewer(list, max_values); i++)
    values[i] = tensor_of_pair(PyList_GET_ITEM(list, i), status);
  Py_XDECREF(list);
  tl_leave(gil);
}

/* --- Any attr ------------------------------------------------------------------ */

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name,
                                   TF_Buffer* output_attr_value, TF_Status* status) {
  tl_gil gil;
  if (!is_given(oper, attr_name, status) ||
      !tl_given(output_attr_value, "output_attr_value", status) ||
      !tl_enter(&gil, status))
    return;
  tl_message(status, output_attr_value, "attributes.message", "(Os)", oper->operation,
             attr_name);
  tl_leave(gil);
}

int TF_OperationGetNumAttrs(TF_Operation* oper) {
  tl_gil gil;
  if (oper == NULL || !tl_enter(&gil, NULL)) return 0;
  PyObject* names = tl_call(NULL, "attributes.names", "(O)", oper->operation);
  int count = names == NULL ? 0 : (int)PyList_GET_SIZE(names);
  Py_XDECREF(names);
  tl_leave(gil);
  return count;
}

/* The length of the name of an attr, which is copied if there is room for it. */
static int attr_name(TF_Operation* oper, int i, char* output, TF_Status* status) {
  tl_gil gil;
  Py_ssize_t length = -1;
  if (!tl_given(oper, "oper", status) || !tl_enter(&gil, status)) return -1;
  PyObject* names = tl_call(status, "attributes.names", "(O)", oper->operation);
  if (names != NULL && (i < 0 || i >= PyList_GET_SIZE(names))) {
    tl_fail(status, TF_OUT_OF_RANGE, "'%s' has %d attrs, and no number %d", oper->name,
            (int)PyList_GET_SIZE(names), i);
  } else if (names != NULL) {
    const char* name = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(names, i), &length);
    if (name != NULL && output != NULL) memcpy(output, name, (size_t)length);
  }
  Py_XDECREF(names);
  tl_leave(gil);
  return (int)length;
}

int TF_OperationGetAttrNameLength(TF_Operation* oper, int i) {
  return attr_name(oper, i, NULL, NULL);
}

void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output,
                             TF_Status* status) {
  if (tl_given(output, "output", status)) attr_name(oper, i, output, status);
}
