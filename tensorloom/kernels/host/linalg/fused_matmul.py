"""Products with bias and activation in host memory, for small matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.array.checks import in_advance
from tensorloom.kernels.host.linalg.matmul import check_matrices, product_of
from tensorloom.kernels.host.nn.checks import check_bias
from tensorloom.kernels.torch.control_flow.composition import fused

_Array = NDArray[Any]


def _relu(x: _Array) -> _Array:
    np.maximum(x, x.dtype.type(0), out=x)
    return x


def _sigmoid(x: _Array) -> _Array:
    np.negative(x, x)
    np.exp(x, x)
    x += 1
    np.reciprocal(x, x)
    return x


# Each may use the memory of its argument.
_ACTIVATIONS: dict[bytes, Callable[[_Array], _Array]] = {
    b"Relu": _relu,
    b"Relu6": lambda x: np.minimum(_relu(x), x.dtype.type(6), out=x),
    b"Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    b"Tanh": lambda x: np.tanh(x, x),
    b"Sigmoid": _sigmoid,
}


@host_kernel("_FusedMatMul")
def fused_mat_mul(c: OpKernelConstruction) -> Compute:
    """act(a @ b + bias)"""
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    names = c["fused_ops"]
    simple = names[:1] == [b"BiasAdd"] and len(names) <= 2 and c["num_args"] == 1
    if not simple or not set(names[1:]) <= set(_ACTIVATIONS):
        return fused(c, "MatMul", host=True)
    activation = _ACTIVATIONS[names[1]] if len(names) > 1 else None
    multiply = product_of(c)

    def check(a: Any, b: Any, bias: Any) -> bool:
        check_matrices(a, b, transpose_a, transpose_b)
        rows, columns = a[1 if transpose_a else 0], b[0 if transpose_b else 1]
        check_bias((rows, columns), bias, -1)
        return True

    first, *others = c.input_shapes
    fits = all(s.is_fully_defined() for s in others) and in_advance(
        check, first, *[s.dims_tuple for s in others]
    )

    @makes_array
    def compute(a: _Array, b: _Array, bias: _Array) -> _Array:
        if not fits:
            check(a.shape, b.shape, bias.shape)
        result = multiply(a.T if transpose_a else a, b.T if transpose_b else b)
        result += bias
        return result if activation is None else activation(result)

    return compute


# From so many elements on, the compiled loop is worth its loading.
_LEAST_IN_LOOP = 1 << 10


@host_kernel("_SigmoidCrossEntropy")
def sigmoid_cross_entropy(c: OpKernelConstruction) -> Compute:
    """max(x, 0) - x * z + log(1 + exp(-abs(x)))"""

    @makes_array
    def compute(x: _Array, z: _Array) -> _Array:
        linear: _Array = np.maximum(x, 0) - x * z
        return linear + np.log1p(np.exp(-np.abs(x)))

    return _in_loop_if_many(c, compute)


@host_kernel("_SigmoidCrossEntropyGrad")
def sigmoid_cross_entropy_grad(c: OpKernelConstruction) -> Compute:
    """g * sigmoid(x) + rest"""

    @makes_array
    def compute(g: _Array, x: _Array, rest: _Array) -> _Array:
        return np.asarray(g / (1 + np.exp(-x)) + rest)

    return _in_loop_if_many(c, compute)


def _in_loop_if_many(c: OpKernelConstruction, compute: Compute) -> Compute:
    """What computes elements of one shape by the node's loop, if they are many.

    Which of the two it is follows from the static shapes, or from those of the step.
    """
    if c["T"] != dtypes.float32:
        return compute
    shapes = [shape.dims_tuple for shape in c.input_shapes]
    if all(shape.is_fully_defined() for shape in c.input_shapes):
        return _loop(c) if _are_many(shapes) else compute

    loop = functools.cache(lambda: _loop(c))

    @makes_array
    def choose(*inputs: _Array) -> _Array:
        chosen = loop() if _are_many([x.shape for x in inputs]) else compute
        result: _Array = chosen(*inputs)
        return result

    return choose


def _are_many(shapes: Sequence[Any]) -> bool:
    first = shapes[0]
    return math.prod(first) >= _LEAST_IN_LOOP and all(s == first for s in shapes)


def _loop(c: OpKernelConstruction) -> Compute:
    from tensorloom.kernels.loops.nn import losses

    loops: dict[str, Callable[..., None]] = {
        "_SigmoidCrossEntropy": losses.sigmoid_cross_entropy,
        "_SigmoidCrossEntropyGrad": losses.sigmoid_cross_entropy_grad,
    }
    run = loops[c.op]

    @makes_array
    def compute(*inputs: _Array) -> _Array:
        out = np.empty(inputs[0].size, np.float32)
        run(*[x.ravel() for x in inputs], out)
        return out.reshape(inputs[0].shape)

    return compute


@host_kernel("_MeanGrad", any_inputs=("x",))
def mean_grad(c: OpKernelConstruction) -> Compute:
    """grad / (size of x // outputs), in the shape of x."""
    outputs, to = c["outputs"], c["T"].np_dtype

    def compute(grad: _Array, x: Any) -> _Array:
        count = math.prod(x.shape) // outputs
        return np.full(tuple(x.shape), np.ravel(grad) / to.type(count), to)

    return compute
