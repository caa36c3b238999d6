/* Status and tensor as the library's files see them. No interpreter is needed here. */
#ifndef TENSORLOOM_CAPI_MEMORY_H_
#define TENSORLOOM_CAPI_MEMORY_H_

#include <stdatomic.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"

/* printf's checks for functions that take a format. */
#define TL_FORMAT(at) __attribute__((format(printf, at, at + 1)))
/* For what several files of the library use, and programs do not. */
#define TL_LOCAL __attribute__((visibility("hidden")))

struct TF_Status {
  TF_Code code;
  char* message; /* NULL for an empty one */
};

/* Bytes with an owner, shared by tensors and by arrays of the interpreter. */
typedef struct tl_memory {
  atomic_int references;
  void* data;
  size_t length;
  void (*deallocator)(void* data, size_t length, void* arg);
  void* deallocator_arg;
  int is_own; /* the library allocated it: it may be written in place */
} tl_memory;

struct TF_Tensor {
  TF_DataType dtype;
  int num_dims;
  int64_t* dims;
  tl_memory* memory;
};

/* status.c */
TL_LOCAL void tl_ok(TF_Status* status);
/* Sets a status that may be NULL. */
TL_LOCAL void tl_fail(TF_Status* status, TF_Code code, const char* format, ...)
    TL_FORMAT(3);
/* Whether a pointer is there; otherwise TF_INVALID_ARGUMENT says that `what` is NULL. */
TL_LOCAL int tl_given(const void* pointer, const char* what, TF_Status* status);
/* Whether a count is not negative, and an array of that many is there. */
TL_LOCAL int tl_array_given(const void* array, int64_t count, const char* what,
                            TF_Status* status);

/* buffer.c */
/* Copies bytes into an empty buffer. Whether it worked. */
TL_LOCAL int tl_fill_buffer(TF_Buffer* buffer, const void* data, size_t length,
                            TF_Status* status);

/* tensor.c */
TL_LOCAL tl_memory* tl_memory_new(void* data, size_t length,
                                  void (*deallocator)(void*, size_t, void*), void* arg);
TL_LOCAL void tl_memory_hold(tl_memory* memory);
TL_LOCAL void tl_memory_release(tl_memory* memory);
/* A tensor that takes over a reference to memory; NULL if there is no room for it. */
TL_LOCAL TF_Tensor* tl_tensor_over(TF_DataType dtype, const int64_t* dims, int num_dims,
                                   tl_memory* memory);
/* How many elements dimensions have; -1 if one is negative or they are too many. */
TL_LOCAL int64_t tl_element_count(const int64_t* dims, int num_dims);

#endif /* TENSORLOOM_CAPI_MEMORY_H_ */
