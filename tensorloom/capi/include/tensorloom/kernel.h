/* Ops whose kernels are written in C (or any language that can export C functions).

   A shared library has one symbol, tensorloom_ops: an array of pointers to TL_Op, with
   NULL at its end. tf.load_op_library registers the ops and their kernels, which then
   run where the library is loaded: in this process and at every server that loads it.
   This header is all that is needed; the library links to nothing.

     static void twice(TL_Call* call) {
       const TL_Array* x = &call->inputs[0];
       float* y = call->output(call, 0, x->dims, x->num_dims);
       if (y == NULL) return;
       for (int64_t i = 0; i < x->num_elements; i++) y[i] = 2 * ((const float*)x->data)[i];
     }
     static const char* const in[] = {"x: float", NULL};
     static const char* const out[] = {"y: float", NULL};
     static const TL_Op op = {"Twice", in, out, NULL, "y = 2 x.", TL_SAME_SHAPE, twice};
     const TL_Op* const tensorloom_ops[] = {&op, NULL};
*/
#ifndef TENSORLOOM_KERNEL_H_
#define TENSORLOOM_KERNEL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input: numbers in row-major order. It must not be written to. */
typedef struct TL_Array {
  const void* data;
  const int64_t* dims;
  int64_t num_elements;
  int32_t num_dims;
  int32_t dtype; /* a number of TF_DataType, as in tensorflow/c/tf_datatype.h */
} TL_Array;

/* One run of a kernel. Several threads may run a kernel at once. */
typedef struct TL_Call TL_Call;
struct TL_Call {
  const TL_Array* inputs;
  int32_t num_inputs;
  int32_t num_outputs;
  /* Memory for an output of these dimensions, whose dtype the node tells. Each output
     is to be asked for once. NULL, and the step fails, if there is no such output or no
     room for it. */
  void* (*output)(TL_Call* call, int32_t index, const int64_t* dims, int32_t num_dims);
  /* The attr of that name: of an int, bool or type; of a float; of a string, which
     lives as long as the call. 0, 0 and NULL if there is none. */
  int64_t (*int_attr)(TL_Call* call, const char* name);
  double (*float_attr)(TL_Call* call, const char* name);
  const char* (*string_attr)(TL_Call* call, const char* name);
  /* Lets the step fail, with a code of TF_Code and a message, which is copied. */
  void (*fail)(TL_Call* call, int32_t code, const char* message);
};

enum {
  TL_SAME_SHAPE = 1, /* every output has the shape of the first input */
  TL_STATEFUL = 2    /* a run has effects: it is not repeated, shared or left out */
};

typedef struct TL_Op {
  const char* name; /* CamelCase, and new */
  /* Signatures as in TensorFlow's op definitions: "x: T", "y: float", "T: {float,
     double}", "count: int >= 1 = 3". NULL at the end of each; the arrays may be NULL. */
  const char* const* inputs;
  const char* const* outputs;
  const char* const* attrs;
  const char* doc; /* may be NULL */
  uint32_t flags;
  void (*compute)(TL_Call* call);
} TL_Op;

/* What the library exports. */
extern const TL_Op* const tensorloom_ops[];

#ifdef __cplusplus
}
#endif

#endif /* TENSORLOOM_KERNEL_H_ */
