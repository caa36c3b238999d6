/* TFE_TensorHandle: a value of eager execution. */
#include <stdlib.h>

#include "eager.h"

TFE_TensorHandle* tl_handle(PyObject* handle, TF_Status* status) {
  TFE_TensorHandle* made = handle == NULL ? NULL : calloc(1, sizeof *made);
  if (made != NULL) {
    made->handle = handle;
    return made;
  }
  if (handle != NULL) {
    Py_DECREF(handle);
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
  }
  return NULL;
}

/* Whether there is a handle; else the status says so in TensorFlow's words. */
static int is_given(const TFE_TensorHandle* h, TF_Status* status) {
  if (h == NULL)
    tl_fail(status, TF_INVALID_ARGUMENT, "The passed in handle is a nullptr");
  return h != NULL;
}

TFE_TensorHandle* TFE_NewTensorHandle(TF_Tensor* t, TF_Status* status) {
  tl_gil gil;
  TFE_TensorHandle* made = NULL;
  if (!tl_given(t, "t", status) || !tl_enter(&gil, status)) return NULL;
  PyObject* array = tl_array(t, status);
  if (array != NULL)
    made = tl_handle(
        tl_call(status, "eager.new_handle", "(Ni)", array, (int)TF_TensorType(t)),
        status);
  tl_leave(gil);
  return made;
}

void TFE_DeleteTensorHandle(TFE_TensorHandle* h) {
  tl_gil gil;
  if (h == NULL) return;
  if (tl_enter(&gil, NULL)) {
    Py_XDECREF(h->facts);
    Py_DECREF(h->handle);
    tl_leave(gil);
  }
  free(h);
}

/* --- Facts --------------------------------------------------------------------- */

/* What does not change of a handle is asked for once: a borrowed reference. */
static PyObject* facts_of(TFE_TensorHandle* h, TF_Status* status) {
  if (h->facts == NULL) h->facts = tl_call(status, "eager.facts", "(O)", h->handle);
  else tl_ok(status);
  return h->facts;
}

enum { DTYPE, DIMS, DEVICE, BACKING };

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) {
  tl_gil gil;
  TF_DataType dtype = (TF_DataType)0;
  if (h == NULL || !tl_enter(&gil, NULL)) return dtype;
  PyObject* facts = facts_of(h, NULL);
  if (facts != NULL)
    dtype = (TF_DataType)PyLong_AsLong(PyTuple_GET_ITEM(facts, DTYPE));
  tl_leave(gil);
  return dtype;
}

/* The dims of a handle, a borrowed tuple. Takes the lock, if it is not NULL. */
static PyObject* enter_dims(TFE_TensorHandle* h, tl_gil* gil, TF_Status* status) {
  if (!is_given(h, status) || !tl_enter(gil, status)) return NULL;
  PyObject* facts = facts_of(h, status);
  if (facts != NULL) return PyTuple_GET_ITEM(facts, DIMS);
  tl_leave(*gil);
  return NULL;
}

static int64_t size_at(PyObject* dims, Py_ssize_t index) {
  return PyLong_AsLongLong(PyTuple_GET_ITEM(dims, index));
}

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) {
  tl_gil gil;
  PyObject* dims = enter_dims(h, &gil, status);
  if (dims == NULL) return -1;
  int rank = (int)PyTuple_GET_SIZE(dims);
  tl_leave(gil);
  return rank;
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  tl_gil gil;
  int64_t count = 1;
  PyObject* dims = enter_dims(h, &gil, status);
  if (dims == NULL) return -1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dims); i++) count *= size_at(dims, i);
  tl_leave(gil);
  return count;
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status) {
  tl_gil gil;
  int64_t size = -1;
  PyObject* dims = enter_dims(h, &gil, status);
  if (dims == NULL) return -1;
  if (dim_index >= 0 && dim_index < PyTuple_GET_SIZE(dims))
    size = size_at(dims, dim_index);
  else
    tl_fail(status, TF_INVALID_ARGUMENT, "dim_index %d is not within [0, %d)",
            dim_index, (int)PyTuple_GET_SIZE(dims));
  tl_leave(gil);
  return size;
}

static const char* name_of(TFE_TensorHandle* h, int which, TF_Status* status) {
  tl_gil gil;
  const char* name = NULL;
  if (!is_given(h, status) || !tl_enter(&gil, status)) return NULL;
  PyObject* facts = facts_of(h, status);
  if (facts != NULL) name = PyBytes_AsString(PyTuple_GET_ITEM(facts, which));
  tl_leave(gil);
  return name;
}

const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  return name_of(h, DEVICE, status);
}

const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  return name_of(h, BACKING, status);
}

/* --- Copies -------------------------------------------------------------------- */

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h,
                                                    TF_Status* status) {
  tl_gil gil;
  if (!is_given(h, status) || !tl_enter(&gil, status)) return NULL;
  TFE_TensorHandle* made =
      tl_handle(tl_call(status, "eager.shared", "(O)", h->handle), status);
  tl_leave(gil);
  return made;
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  tl_gil gil;
  TF_Tensor* tensor = NULL;
  if (!is_given(h, status) || !tl_enter(&gil, status)) return NULL;
  PyObject* value = tl_call(status, "eager.resolved", "(O)", h->handle);
  PyObject* facts = value == NULL ? NULL : facts_of(h, status);
  if (facts != NULL)
    tensor = tl_tensor(value,
                       (TF_DataType)PyLong_AsLong(PyTuple_GET_ITEM(facts, DTYPE)),
                       status);
  Py_XDECREF(value);
  tl_leave(gil);
  return tensor;
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* ctx,
                                               const char* device_name,
                                               TF_Status* status) {
  tl_gil gil;
  if (!is_given(h, status) || !tl_given(ctx, "ctx", status) ||
      !tl_enter(&gil, status))
    return NULL;
  TFE_TensorHandle* made =
      tl_handle(tl_call(status, "eager.copied", "(OOy)", h->handle, ctx->context,
                        device_name ? device_name : ""),
                status);
  tl_leave(gil);
  return made;
}

/* --- Sizes on the device ------------------------------------------------------- */

struct TFE_TensorDebugInfo {
  int num_dims;
  int64_t dims[];
};

TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h,
                                                     TF_Status* status) {
  int rank = TFE_TensorHandleNumDims(h, status);
  if (rank < 0) return NULL;
  TFE_TensorDebugInfo* made = malloc(sizeof *made + (size_t)rank * sizeof(int64_t));
  if (made == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory");
    return NULL;
  }
  made->num_dims = rank;
  for (int i = 0; i < rank; i++) made->dims[i] = TFE_TensorHandleDim(h, i, status);
  return made;
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info) { free(debug_info); }

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info) {
  return debug_info == NULL ? 0 : debug_info->num_dims;
}

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info, int dim_index) {
  if (debug_info == NULL || dim_index < 0 || dim_index >= debug_info->num_dims) return 0;
  return debug_info->dims[dim_index];
}
