/* Ops in C, for the tests of tf.load_op_library. */
#include "tensorloom/kernel.h"

static void scaled(TL_Call* call) {
  const TL_Array* x = &call->inputs[0];
  double factor = call->float_attr(call, "factor");
  if (factor < 0) {
    call->fail(call, 3, "the factor is negative");
    return;
  }
  if (x->dtype == 1) {
    float* y = call->output(call, 0, x->dims, x->num_dims);
    for (int64_t i = 0; y && i < x->num_elements; i++)
      y[i] = (float)(factor * ((const float*)x->data)[i]);
  } else {
    double* y = call->output(call, 0, x->dims, x->num_dims);
    for (int64_t i = 0; y && i < x->num_elements; i++)
      y[i] = factor * ((const double*)x->data)[i];
  }
}

/* Sums of a list of vectors of ints, and how many there are. */
static void sums(TL_Call* call) {
  int64_t dims[] = {call->num_inputs};
  int32_t* totals = call->output(call, 0, dims, 1);
  int32_t* count = call->output(call, 1, dims, 0);
  if (totals == 0 || count == 0) return;
  *count = call->num_inputs + (int32_t)call->int_attr(call, "more");
  for (int i = 0; i < call->num_inputs; i++) {
    totals[i] = 0;
    for (int64_t j = 0; j < call->inputs[i].num_elements; j++)
      totals[i] += ((const int32_t*)call->inputs[i].data)[j];
  }
}

/* Asks for no output. */
static void silent(TL_Call* call) { (void)call; }

static const char* const x[] = {"x: T", 0};
static const char* const y[] = {"y: T", 0};
static const char* const lists[] = {"values: N * int32", 0};
static const char* const results[] = {"totals: int32", "count: int32", 0};
static const char* const scaled_attrs[] = {"T: {float, double}", "factor: float = 2.0", 0};
static const char* const sums_attrs[] = {"N: int >= 1", "more: int = 0", 0};
static const char* const silent_attrs[] = {"T: type", 0};

static const TL_Op scaled_op = {"ScaledInC", x,      y, scaled_attrs, "factor * x",
                                TL_SAME_SHAPE, scaled};
static const TL_Op sums_op = {"SumsInC", lists, results, sums_attrs, "sums", 0, sums};
static const TL_Op silent_op = {"SilentInC", x, y, silent_attrs, 0, TL_STATEFUL, silent};

const TL_Op* const tensorloom_ops[] = {&scaled_op, &sums_op, &silent_op, 0};
