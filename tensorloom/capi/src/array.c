/* Tensors as arrays of Python, and back, without a copy of numbers. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* Results of fewer bytes than this are copied: that costs less than to hold Python's
   object, and to take the lock again when the tensor is deleted. */
enum { FEW_BYTES = 1024 };

/* --- Memory of a tensor as an object with a buffer ----------------------------- */

typedef struct {
  PyObject_HEAD
  tl_memory* memory;
} MemoryObject;

static void memory_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  tl_memory_release(((MemoryObject*)self)->memory);
  type->tp_free(self);
  Py_DECREF(type);
}

static int memory_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  tl_memory* memory = ((MemoryObject*)self)->memory;
  static char nothing;
  void* data = memory->data == NULL ? &nothing : memory->data;
  return PyBuffer_FillInfo(view, self, data, (Py_ssize_t)memory->length, 0, flags);
}

static PyType_Slot memory_slots[] = {
    {Py_tp_dealloc, memory_dealloc},
    {Py_bf_getbuffer, memory_get_buffer},
    {Py_tp_doc, "The memory of a TF_Tensor."},
    {0, NULL},
};

static PyType_Spec memory_spec = {
    .name = "tensorloom.capi.TensorMemory",
    .basicsize = sizeof(MemoryObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

static PyObject* memory_object(tl_memory* memory) {
  static PyTypeObject* type;
  if (type == NULL) type = (PyTypeObject*)PyType_FromSpec(&memory_spec);
  MemoryObject* object = type == NULL ? NULL : PyObject_New(MemoryObject, type);
  if (object == NULL) return NULL;
  tl_memory_hold(memory);
  object->memory = memory;
  return (PyObject*)object;
}

/* --- From a tensor to an array ------------------------------------------------- */

static void release_object(void* data, size_t length, void* object) {
  (void)length;
  free(data);
  tl_drop(object);
}

static PyObject* dims_tuple(const TF_Tensor* tensor) {
  PyObject* dims = PyTuple_New(tensor->num_dims);
  for (int i = 0; dims != NULL && i < tensor->num_dims; i++) {
    PyObject* size = PyLong_FromLongLong(tensor->dims[i]);
    if (size == NULL) Py_CLEAR(dims);
    else PyTuple_SET_ITEM(dims, i, size);
  }
  return dims;
}

/* The strings of a tensor as a list of bytes. */
static PyObject* string_list(const TF_Tensor* tensor, TF_Status* status) {
  int64_t count = TF_TensorElementCount(tensor);
  size_t length = tensor->memory->length;
  const char* table = tensor->memory->data;
  if (count < 0 || (uint64_t)count > length / sizeof(uint64_t)) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "Malformed TF_STRING tensor; too short to hold number of elements");
    return NULL;
  }
  size_t table_size = (size_t)count * sizeof(uint64_t);
  const char* strings = table + table_size;
  size_t room = length - table_size;
  PyObject* list = PyList_New(count);
  for (int64_t i = 0; list != NULL && i < count; i++) {
    uint64_t start;
    const char* text;
    size_t size;
    memcpy(&start, table + (size_t)i * sizeof start, sizeof start);
    if (start >= room) {
      tl_fail(status, TF_INVALID_ARGUMENT,
              "Malformed TF_STRING tensor; element %lld out of range", (long long)i);
      Py_CLEAR(list);
      break;
    }
    TF_StringDecode(strings + start, room - start, &text, &size, status);
    PyObject* item = TF_GetCode(status) == TF_OK
                         ? PyBytes_FromStringAndSize(text, (Py_ssize_t)size)
                         : NULL;
    if (item == NULL) {
      if (PyErr_Occurred()) tl_raised(status);
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, i, item);
    }
  }
  return list;
}

static PyObject* number_array(const TF_Tensor* tensor) {
  static PyObject *array_type, *dtypes; /* np.ndarray, and dtypes by their number */
  if (array_type == NULL) array_type = tl_function("arrays.ndarray");
  if (dtypes == NULL) dtypes = tl_function("arrays.DTYPES");
  if (array_type == NULL || dtypes == NULL) return NULL;
  PyObject* dtype = PyTuple_GetItem(dtypes, tensor->dtype);
  PyObject* dims = dims_tuple(tensor);
  PyObject* memory = memory_object(tensor->memory);
  PyObject* array = NULL;
  if (dtype != NULL && dims != NULL && memory != NULL) {
    PyObject* arguments[] = {dims, dtype, memory};
    array = PyObject_Vectorcall(array_type, arguments, 3, NULL);
  }
  Py_XDECREF(dims), Py_XDECREF(memory);
  return array;
}

PyObject* tl_array(const TF_Tensor* tensor, TF_Status* status) {
  PyObject* array = NULL;
  if (!tl_given(tensor, "a tensor", status)) return NULL;
  if (tensor->dtype == TF_STRING) {
    TF_Status own = {TF_OK, NULL}; /* the caller may have none */
    PyObject* strings = string_list(tensor, &own);
    if (strings == NULL) {
      if (status != NULL) TF_SetStatus(status, own.code, own.message);
      tl_ok(&own);
      return NULL;
    }
    return tl_call(status, "arrays.of_strings", "(NN)", strings, dims_tuple(tensor));
  }
  if (tensor->memory->deallocator == release_object) {
    array = tensor->memory->deallocator_arg; /* a resource or variant of a step */
    Py_INCREF(array);
  } else if (TF_DataTypeSize(tensor->dtype) != 0) {
    array = number_array(tensor);
    if (array == NULL) tl_raised(status);
  } else {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "a tensor of type %d can be fed only as a fetch gave it",
            (int)tensor->dtype);
  }
  return array;
}

PyObject* tl_array_list(TF_Tensor* const* tensors, int count, const char* what,
                        TF_Status* status) {
  if (!tl_array_given(tensors, count, what, status)) return NULL;
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    PyObject* array = tl_array(tensors[i], status);
    if (array == NULL) Py_CLEAR(list);
    else PyList_SET_ITEM(list, i, array);
  }
  return list;
}

/* --- From a value to a tensor -------------------------------------------------- */

static void release_view(void* data, size_t length, void* view) {
  tl_gil gil;
  (void)data, (void)length;
  if (tl_enter(&gil, NULL)) {
    PyBuffer_Release(view);
    tl_leave(gil);
  }
  free(view);
}

static TF_Tensor* tensor_of_strings(PyObject* value, TF_Status* status) {
  PyObject* pair = tl_call(status, "arrays.strings_of", "(O)", value);
  if (pair == NULL) return NULL;
  PyObject* strings = PyTuple_GET_ITEM(pair, 0); /* a list of bytes */
  PyObject* shape = PyTuple_GET_ITEM(pair, 1);
  Py_ssize_t count = PyList_GET_SIZE(strings), num_dims = PyTuple_GET_SIZE(shape);
  int64_t dims[256];
  for (Py_ssize_t i = 0; i < num_dims && i < 256; i++)
    dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
  size_t table = (size_t)count * sizeof(uint64_t), length = table;
  for (Py_ssize_t i = 0; i < count; i++)
    length += TF_StringEncodedSize((size_t)PyBytes_GET_SIZE(PyList_GET_ITEM(strings, i)));
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, dims, (int)num_dims, length);
  if (tensor == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for %zu bytes", length);
  } else {
    char* base = TF_TensorData(tensor);
    size_t at = table;
    for (Py_ssize_t i = 0; i < count; i++) {
      PyObject* item = PyList_GET_ITEM(strings, i);
      uint64_t start = at - table;
      memcpy(base + (size_t)i * sizeof start, &start, sizeof start);
      at += TF_StringEncode(PyBytes_AS_STRING(item), (size_t)PyBytes_GET_SIZE(item),
                            base + at, length - at, NULL);
    }
  }
  Py_DECREF(pair);
  return tensor;
}

/* A handle has no bytes that mean something outside: the tensor holds the object. */
static TF_Tensor* tensor_of_object(PyObject* value, TF_DataType dtype,
                                   TF_Status* status) {
  void* data = calloc(1, 1);
  tl_memory* memory = data ? tl_memory_new(data, 1, release_object, value) : NULL;
  if (memory == NULL) {
    free(data);
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for a handle");
    return NULL;
  }
  Py_INCREF(value);
  return tl_tensor_over(dtype, NULL, 0, memory);
}

static TF_Tensor* tensor_of_view(Py_buffer* view, TF_DataType dtype) {
  size_t length = (size_t)view->len;
  int64_t dims[256];
  int num_dims = view->ndim > 256 ? 256 : view->ndim;
  for (int i = 0; i < num_dims; i++) dims[i] = view->shape[i];
  if (length <= FEW_BYTES || view->readonly) {
    TF_Tensor* tensor = TF_AllocateTensor(dtype, dims, num_dims, length);
    if (tensor != NULL) memcpy(TF_TensorData(tensor), view->buf, length);
    PyBuffer_Release(view);
    return tensor;
  }
  Py_buffer* kept = malloc(sizeof *kept);
  tl_memory* memory = NULL;
  if (kept != NULL) {
    *kept = *view;
    memory = tl_memory_new(view->buf, length, release_view, kept);
  }
  if (memory != NULL) return tl_tensor_over(dtype, dims, num_dims, memory);
  free(kept);
  PyBuffer_Release(view);
  return NULL;
}

TF_Tensor* tl_tensor(PyObject* value, TF_DataType dtype, TF_Status* status) {
  Py_buffer view;
  if (dtype == TF_STRING) return tensor_of_strings(value, status);
  if (dtype == TF_RESOURCE || dtype == TF_VARIANT)
    return tensor_of_object(value, dtype, status);
  if (PyObject_GetBuffer(value, &view, PyBUF_ND) < 0) {
    PyErr_Clear(); /* not in one piece, or a dtype that NumPy does not know */
    PyObject* array = tl_call(status, "arrays.in_one_piece", "(O)", value);
    int worked = array != NULL && PyObject_GetBuffer(array, &view, PyBUF_ND) == 0;
    Py_XDECREF(array); /* the view holds it */
    if (!worked) {
      if (PyErr_Occurred()) tl_raised(status);
      return NULL;
    }
  }
  TF_Tensor* tensor = tensor_of_view(&view, dtype);
  if (tensor == NULL)
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for a tensor of type %d",
            (int)dtype);
  return tensor;
}
