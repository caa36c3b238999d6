/* The handles of the eager API, for the files that fill them. */
#ifndef TENSORLOOM_CAPI_EAGER_H_
#define TENSORLOOM_CAPI_EAGER_H_

#include "bridge.h"
#include "tensorflow/c/eager/c_api.h"

struct TFE_Context {
  PyObject* context; /* tensorloom.eager.Context */
};

struct TFE_TensorHandle {
  PyObject* handle; /* tensorloom.eager.TensorHandle */
  PyObject* facts;  /* (dtype, dims, device, backing device); NULL until it is asked for */
};

struct TFE_Op {
  PyObject* op;     /* capi.eager.Op */
  PyObject* device; /* bytes: what TFE_OpGetDevice gave last */
};

/* A handle that takes over the reference to one of Python; NULL with a status. */
TL_LOCAL TFE_TensorHandle* tl_handle(PyObject* handle, TF_Status* status);

#endif /* TENSORLOOM_CAPI_EAGER_H_ */
