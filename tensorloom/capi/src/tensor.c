/* TF_Tensor: dtype and dimensions over memory that may be shared. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Where memory of the library's own begins: vector instructions like it. */
enum { ALIGNMENT = 64, MAX_DIMS = 254 };

size_t TF_DataTypeSize(TF_DataType dtype) {
  static const unsigned char sizes[] = {
      [TF_FLOAT] = 4,      [TF_DOUBLE] = 8, [TF_INT32] = 4,    [TF_UINT8] = 1,
      [TF_INT16] = 2,      [TF_INT8] = 1,   [TF_COMPLEX64] = 8, [TF_INT64] = 8,
      [TF_BOOL] = 1,       [TF_QINT8] = 1,  [TF_QUINT8] = 1,   [TF_QINT32] = 4,
      [TF_BFLOAT16] = 2,   [TF_QINT16] = 2, [TF_QUINT16] = 2,  [TF_UINT16] = 2,
      [TF_COMPLEX128] = 16, [TF_HALF] = 2,  [TF_UINT32] = 4,   [TF_UINT64] = 8,
  };
  return (size_t)dtype < sizeof sizes ? sizes[dtype] : 0;
}

/* --- Memory -------------------------------------------------------------------- */

tl_memory* tl_memory_new(void* data, size_t length,
                         void (*deallocator)(void*, size_t, void*), void* arg) {
  tl_memory* memory = malloc(sizeof *memory);
  if (memory == NULL) return NULL;
  atomic_init(&memory->references, 1);
  memory->data = data;
  memory->length = length;
  memory->deallocator = deallocator;
  memory->deallocator_arg = arg;
  memory->is_own = 0;
  return memory;
}

void tl_memory_hold(tl_memory* memory) {
  atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
}

void tl_memory_release(tl_memory* memory) {
  if (atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) != 1)
    return;
  if (memory->deallocator != NULL)
    memory->deallocator(memory->data, memory->length, memory->deallocator_arg);
  free(memory);
}

static void free_data(void* data, size_t length, void* arg) {
  (void)length, (void)arg;
  free(data);
}

static tl_memory* allocate(size_t length) {
  if (length > SIZE_MAX - 2 * ALIGNMENT) return NULL;
  size_t rounded = (length + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void* data = aligned_alloc(ALIGNMENT, rounded);
  if (data == NULL) return NULL;
  tl_memory* memory = tl_memory_new(data, length, free_data, NULL);
  if (memory == NULL)
    free(data);
  else
    memory->is_own = 1;
  return memory;
}

/* --- Dimensions ---------------------------------------------------------------- */

int64_t tl_element_count(const int64_t* dims, int num_dims) {
  int64_t count = 1;
  int is_empty = 0, is_huge = 0;
  for (int i = 0; i < num_dims; i++) {
    if (dims[i] < 0) return -1;
    is_empty |= dims[i] == 0;
    is_huge |= !is_huge && __builtin_mul_overflow(count, dims[i] ? dims[i] : 1, &count);
  }
  return is_empty ? 0 : is_huge ? -1 : count;
}

/* Whether `length` bytes hold the elements. Strings have no size of their own. */
static int is_room(TF_DataType dtype, const int64_t* dims, int num_dims,
                   size_t length) {
  if (num_dims < 0 || num_dims > MAX_DIMS || (num_dims > 0 && dims == NULL)) return 0;
  int64_t count = tl_element_count(dims, num_dims);
  size_t size = TF_DataTypeSize(dtype), needed;
  if (count < 0 || __builtin_mul_overflow(size, (size_t)count, &needed)) return 0;
  return needed <= length;
}

/* What an address of this dtype is a multiple of. */
static size_t element_alignment(TF_DataType dtype) {
  size_t size = TF_DataTypeSize(dtype);
  if (dtype == TF_COMPLEX64 || dtype == TF_COMPLEX128) return size / 2;
  return size == 0 ? 1 : size;
}

/* --- Tensors ------------------------------------------------------------------- */

TF_Tensor* tl_tensor_over(TF_DataType dtype, const int64_t* dims, int num_dims,
                          tl_memory* memory) {
  TF_Tensor* tensor = NULL;
  if (is_room(dtype, dims, num_dims, memory->length))
    tensor = malloc(sizeof *tensor + (size_t)num_dims * sizeof *dims);
  if (tensor == NULL) {
    tl_memory_release(memory);
    return NULL;
  }
  tensor->dtype = dtype;
  tensor->num_dims = num_dims;
  tensor->dims = (int64_t*)(tensor + 1);
  if (num_dims > 0) memcpy(tensor->dims, dims, (size_t)num_dims * sizeof *dims);
  tensor->memory = memory;
  return tensor;
}

TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims,
                        void* data, size_t length,
                        void (*deallocator)(void*, size_t, void*), void* arg) {
  tl_memory* memory;
  if (data == NULL && length > 0) return NULL;
  if ((uintptr_t)data % element_alignment(dtype) != 0) {
    memory = allocate(length);
    if (memory != NULL) memcpy(memory->data, data, length);
    if (deallocator != NULL) deallocator(data, length, arg);
  } else {
    memory = tl_memory_new(data, length, deallocator, arg);
    if (memory == NULL && deallocator != NULL) deallocator(data, length, arg);
  }
  return memory == NULL ? NULL : tl_tensor_over(dtype, dims, num_dims, memory);
}

TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims,
                             size_t length) {
  tl_memory* memory = allocate(length);
  return memory == NULL ? NULL : tl_tensor_over(dtype, dims, num_dims, memory);
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) {
  if (tensor == NULL || !tensor->memory->is_own) return NULL;
  return atomic_load(&tensor->memory->references) == 1 ? tensor : NULL;
}

void TF_DeleteTensor(TF_Tensor* tensor) {
  if (tensor == NULL) return;
  tl_memory_release(tensor->memory);
  /* A bitcast gives a tensor dimensions of their own. */
  if (tensor->dims != (int64_t*)(tensor + 1)) free(tensor->dims);
  free(tensor);
}

TF_DataType TF_TensorType(const TF_Tensor* tensor) {
  return tensor == NULL ? (TF_DataType)0 : tensor->dtype;
}

int TF_NumDims(const TF_Tensor* tensor) { return tensor == NULL ? -1 : tensor->num_dims; }

int64_t TF_Dim(const TF_Tensor* tensor, int index) {
  if (tensor == NULL || index < 0 || index >= tensor->num_dims) return -1;
  return tensor->dims[index];
}

size_t TF_TensorByteSize(const TF_Tensor* tensor) {
  return tensor == NULL ? 0 : tensor->memory->length;
}

void* TF_TensorData(const TF_Tensor* tensor) {
  return tensor == NULL ? NULL : tensor->memory->data;
}

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
  return tensor == NULL ? 0 : tl_element_count(tensor->dims, tensor->num_dims);
}

bool TF_TensorIsAligned(const TF_Tensor* tensor) {
  return tensor != NULL && (uintptr_t)tensor->memory->data % ALIGNMENT == 0;
}

/* TensorFlow 2's header has it. */
TF_CAPI_EXPORT size_t TF_TensorDefaultAlignment(void) { return ALIGNMENT; }

/* TensorFlow 2's header has it: other dimensions for the same elements. */
TF_CAPI_EXPORT void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) {
  if (tensor == NULL || !is_room(tensor->dtype, dims, num_dims, SIZE_MAX)) return;
  if (tl_element_count(dims, num_dims) != TF_TensorElementCount(tensor)) return;
  TF_TensorBitcastFrom(tensor, tensor->dtype, tensor, dims, num_dims, NULL);
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType dtype, TF_Tensor* to,
                          const int64_t* dims, int num_dims, TF_Status* status) {
  if (!tl_given(from, "from", status) || !tl_given(to, "to", status)) return;
  size_t old_size = TF_DataTypeSize(from->dtype), new_size = TF_DataTypeSize(dtype);
  int64_t old_count = TF_TensorElementCount(from);
  int is_string = from->dtype == TF_STRING && dtype == TF_STRING;
  if (!is_string && (old_size == 0 || new_size == 0)) {
    tl_fail(status, TF_INVALID_ARGUMENT, "Cannot bitcast from type %d to type %d",
            (int)from->dtype, (int)dtype);
    return;
  }
  if (!is_room(dtype, dims, num_dims, from->memory->length) ||
      (size_t)tl_element_count(dims, num_dims) * new_size !=
          (size_t)old_count * old_size ||
      (is_string && tl_element_count(dims, num_dims) != old_count)) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "cannot bitcast a tensor of %lld elements of %zu bytes to dimensions and a "
            "type of another size",
            (long long)old_count, old_size);
    return;
  }
  int64_t* copy = malloc((size_t)(num_dims ? num_dims : 1) * sizeof *copy);
  if (copy == NULL) {
    tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for dimensions");
    return;
  }
  if (num_dims > 0) memcpy(copy, dims, (size_t)num_dims * sizeof *copy);
  tl_memory_hold(from->memory);
  tl_memory_release(to->memory);
  if (to->dims != (int64_t*)(to + 1)) free(to->dims);
  to->dtype = dtype;
  to->num_dims = num_dims;
  to->dims = copy;
  to->memory = from->memory;
  tl_ok(status);
}
