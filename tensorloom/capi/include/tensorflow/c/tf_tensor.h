/* A tensor in memory: dtype, dimensions, bytes, and who frees them. */
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements lie in row-major order.

   The bytes of a TF_STRING tensor of n elements are, as in TensorFlow 1.15:
     uint64_t start[n];   where each string begins, counted from the end of this table
     then, at each start, what TF_StringEncode writes: the length as a varint, and the
     bytes.
   TensorFlow 2 has another layout (TF_TString); this library does not read it.

   The bytes of a TF_RESOURCE scalar are a handle that a step has fetched. */
typedef struct TF_Tensor TF_Tensor;

/* A tensor over `data`, which `deallocator` frees when nobody needs it any more: it
   may be called by any thread. Data whose address does not fit the elements' size is
   copied, and freed before this returns.

   NULL if `len` is too small for the dimensions, or a dimension is negative; the
   deallocator is called then, too. */
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(
    TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);

/* A tensor with `len` bytes of its own, which are not set. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype,
                                                   const int64_t* dims, int num_dims,
                                                   size_t len);

/* The tensor itself if nobody else uses its memory, and the library allocated it;
   otherwise NULL, and the caller keeps the tensor. */
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);
/* The size of one dimension; -1 if there is no such dimension. */
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);

/* Makes `to` a view of the memory of `from` with other dimensions and another dtype of
   numbers. The bytes must be as many. */
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                                                TF_Tensor* to, const int64_t* new_dims,
                                                int num_new_dims, TF_Status* status);

/* Whether the memory begins where kernels like it best. */
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);

/* Writes one string of a TF_STRING tensor to `dst`. Returns the bytes written, which
   are TF_StringEncodedSize(src_len); 0 with a status if `dst_len` is too small. */
TF_CAPI_EXPORT extern size_t TF_StringEncode(const char* src, size_t src_len, char* dst,
                                             size_t dst_len, TF_Status* status);

/* Reads one string: `dst` points into `src`. Returns the bytes read; 0 with a status
   if they are no whole string. */
TF_CAPI_EXPORT extern size_t TF_StringDecode(const char* src, size_t src_len,
                                             const char** dst, size_t* dst_len,
                                             TF_Status* status);

TF_CAPI_EXPORT extern size_t TF_StringEncodedSize(size_t len);

#ifdef __cplusplus
}
#endif

#endif /* TENSORFLOW_C_TF_TENSOR_H_ */
