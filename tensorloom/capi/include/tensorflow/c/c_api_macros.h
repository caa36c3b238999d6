/* What every header of the C API needs. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

/* A function that the shared library exports. */
#ifndef TF_CAPI_EXPORT
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

#endif /* TENSORFLOW_C_C_API_MACROS_H_ */
