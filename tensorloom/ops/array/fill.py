"""Ops that make values out of a shape: Fill, ZerosLike, OnesLike, and `tf.zeros`."""

from __future__ import annotations

import functools
import operator
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    unchanged_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import with_given_shape
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.constant import constant, tensor_shape_to_tensor

# `zeros` and `ones` below this many elements are a Const, above it a Fill.
_SMALL = 1000

# --- shape functions and gradients --------------------------------------------------


def _fill_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    c.with_rank(1, 0)
    shape = c.input_value_as_shape(0)
    value = c.input_value(0)
    if value is not None and (value < 0).any():
        c.fail("Fill dimensions must be >= 0")
    return shape


def _zeros_like_shape(c: InferenceContext) -> TensorShape:
    handle = c.handle_data(0)
    if handle is not None:
        c.set_output_handle_data(0, handle)
    return c.input_shape(0)


def _empty_shape(c: InferenceContext) -> TensorShape:
    return c.input_value_as_shape(0)


# --- definitions --------------------------------------------------------------------

register_op(
    "Fill",
    inputs=["dims: index_type", "value: T"],
    outputs=["output: T"],
    attrs=["T: type", "index_type: {int32, int64} = DT_INT32"],
    shape_fn=_fill_shape,
    doc="A tensor of shape `dims` in which every element is `value`.",
)

register_op(
    "ZerosLike",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=["T: type"],
    shape_fn=_zeros_like_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Zeros of the input's shape and dtype.",
)

register_op(
    "OnesLike",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=[
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, int64, "
        "complex64, complex128, bool, uint32, uint64}"
    ],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Ones of the input's shape and dtype.",
)

register_op(
    "Empty",
    inputs=["shape: int32"],
    outputs=["output: dtype"],
    attrs=["dtype: type", "init: bool = false"],
    shape_fn=_empty_shape,
    stateful=True,
    doc="A tensor of a shape; zeros when `init`, any values otherwise.",
)

# --- builders -----------------------------------------------------------------------


@export("fill")
def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` in which every element is `value`, a scalar.

    Raises:
      ValueError: a size is negative.
    """
    filled = apply_op("Fill", dims=dims, value=value, name=name)
    return with_given_shape(filled, dims)


@export("zeros")
def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (False, or empty strings) of a shape.

    Args:
      shape: sizes, a TensorShape or an integer tensor.
    """
    dtype = as_dtype(dtype).base_dtype
    zero: Any = 0
    if dtype == dtypes.bool:
        zero = False
    elif dtype == dtypes.string:
        zero = ""
    return _filled("zeros", zero, shape, dtype, name)


@export("ones")
def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones (True) of a shape.

    Args:
      shape: sizes, a TensorShape or an integer tensor.
    """
    dtype = as_dtype(dtype).base_dtype
    one: Any = True if dtype == dtypes.bool else 1
    return _filled("ones", one, shape, dtype, name)


def _filled(
    default_name: str, value: Any, shape: Any, dtype: DType, name: str | None
) -> Tensor:
    with name_scope(name, default_name, [shape]) as scope:
        if not isinstance(shape, Tensor):
            try:
                output = _constant_if_small(value, shape, dtype, scope)
                if output is not None:
                    return output
                shape = tensor_shape_to_tensor(TensorShape(shape))
            except (TypeError, ValueError):
                shape = convert_to_tensor(shape, dtype=dtypes.int32)
        if not shape.shape.dims_tuple:
            shape = reshape_ops.reshape(shape, [-1])
        return fill(shape, constant(value, dtype=dtype), name=scope)


def _constant_if_small(
    value: Any, shape: Any, dtype: DType, name: str
) -> Tensor | None:
    """A Const, or None where the shape is not static and small.

    Where sizes are tensors their product is built and compared all the same: these
    nodes are in TensorFlow's graph too, so the names of what follows depend on them.
    """
    try:
        if _product(shape) < _SMALL:
            return constant(value, shape=shape, dtype=dtype, name=name)
    except TypeError:
        pass
    return None


def _product(shape: Any) -> Any:
    try:
        sizes = list(shape)
    except TypeError:
        return shape
    return functools.reduce(operator.mul, sizes) if sizes else 1


@export("zeros_like")
def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros of the shape of `tensor`, and of its dtype unless `dtype` is given.

    Args:
      optimize: make a constant when the static shape is known.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        if (
            optimize
            and tensor.shape.is_fully_defined()
            and tensor.dtype != dtypes.variant
        ):
            return zeros(tensor.shape, dtype=dtype or tensor.dtype, name=scope)
        if dtype is not None and dtype != tensor.dtype and dtype != dtypes.variant:
            sizes = shape_ops.shape_internal(tensor, optimize=optimize)
            return zeros(sizes, dtype=dtype, name=scope)
        return apply_op("ZerosLike", x=tensor, name=scope)  # type: ignore[no-any-return]


@export("ones_like")
def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones of the shape of `tensor`, and of its dtype unless `dtype` is given.

    Args:
      optimize: make a constant shape when the static shape is known.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        sizes = shape_ops.shape_internal(tensor, optimize=optimize)
        result = ones(sizes, dtype=tensor.dtype if dtype is None else dtype, name=scope)
        result.set_shape(tensor.shape)
        return result
