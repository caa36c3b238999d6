/* TF_OperationDescription, for the files that fill it. */
#ifndef TENSORLOOM_CAPI_DESCRIPTION_H_
#define TENSORLOOM_CAPI_DESCRIPTION_H_

#include "bridge.h"

struct TF_OperationDescription {
  TF_Graph* graph;
  PyObject* description; /* capi.descriptions.Description */
};

/* Calls function(description, value); takes over the reference to `value`, which may be
   NULL. */
TL_LOCAL void tl_describe(TF_OperationDescription* desc, const char* function,
                          PyObject* value);

#endif /* TENSORLOOM_CAPI_DESCRIPTION_H_ */
