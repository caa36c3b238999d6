/* Tensors to and from the literals of the table: DTYPE[DIMS]=VALUE,VALUE,... */
#ifndef TENSORLOOM_CLIENTS_C_TENSORS_H_
#define TENSORLOOM_CLIENTS_C_TENSORS_H_

#include "world.h"

/* 0 when there is no such dtype. */
TF_DataType dtype_named(const char* name);
const char* dtype_name(TF_DataType dtype);

/* The tensor of a literal. One value fills a tensor of any size. The text is altered. */
TF_Tensor* parse_tensor(World* world, char* literal);
/* Says what differs from a literal; floats may differ by a ten thousandth. */
void expect_tensor(World* world, const char* what, TF_Tensor* got, char* literal);

/* strings.c: the one place that knows how the elements of string tensors lie. */
TF_Tensor* new_string_tensor(const int64_t* dims, int rank, char** values,
                             const size_t* lengths, int64_t count);
const char* string_element(TF_Tensor* tensor, int64_t index, size_t* length);

#endif
