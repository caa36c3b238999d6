// TensorFlow graphs in C++: this header and libtensorloom.so. C++17.
#pragma once

#include "tensorloom/graph.h"
#include "tensorloom/scope.h"
#include "tensorloom/session.h"
#include "tensorloom/tensor.h"
