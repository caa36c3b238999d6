/* Values of C as those of Python, for the functions that set attrs. */
#ifndef TENSORLOOM_CAPI_VALUES_H_
#define TENSORLOOM_CAPI_VALUES_H_

#include "bridge.h"

/* A list of what MAKE makes for each i; None when an array is missing. */
#define LIST(COUNT, ARRAY, MAKE)                                    \
  ({                                                                \
    PyObject* list_ = NULL;                                         \
    if ((COUNT) >= 0 && ((COUNT) == 0 || (ARRAY) != NULL)) {        \
      list_ = PyList_New(COUNT);                                    \
      for (int i = 0; list_ != NULL && i < (COUNT); i++) {          \
        PyObject* item_ = (MAKE);                                   \
        if (item_ == NULL) Py_CLEAR(list_);                         \
        else PyList_SET_ITEM(list_, i, item_);                      \
      }                                                             \
    }                                                               \
    list_;                                                          \
  })

static inline PyObject* bytes_of(const void* data, size_t length) {
  if (data == NULL && length != 0) return NULL;
  return PyBytes_FromStringAndSize(data == NULL ? "" : data, (Py_ssize_t)length);
}

/* Dimensions as a list; None for an unknown rank; an empty tuple where the array is
   missing, which is no shape. */
static inline PyObject* shape_of(const int64_t* dims, int num_dims) {
  if (num_dims < 0) return Py_NewRef(Py_None);
  if (num_dims > 0 && dims == NULL) return PyTuple_New(0);
  return LIST(num_dims, dims, PyLong_FromLongLong(dims[i]));
}

#endif /* TENSORLOOM_CAPI_VALUES_H_ */
