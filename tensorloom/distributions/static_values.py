"""Shapes, ranks and values: as arrays where they are known, as tensors elsewhere."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of a number, an array or a constant tensor; None where it is unknown.

    Args:
      dtype: of the array that is given back.
    """
    if x is None:
        return x
    value = constant_value(x) if isinstance(x, Tensor) else x
    if value is None or dtype is None:
        return value
    return np.array(value, dtype)


def prefer_static_value(x: Tensor) -> Any:
    """The value if it is known, else the tensor."""
    value = constant_value(x)
    return x if value is None else value


def prefer_static_rank(x: Tensor) -> Any:
    """The rank if it is known, else a tensor."""
    return prefer_static_value(array_ops.rank(x))


def prefer_static_shape(x: Tensor) -> Any:
    """The shape if it is known, else a tensor."""
    return prefer_static_value(array_ops.shape(x))


def prefer_static_broadcast_shape(
    shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape"
) -> Any:
    """The shape of what is broadcast: a TensorShape if both are known.

    Raises:
      ValueError: one is a TensorShape with unknown sizes, and the other is a tensor.
    """
    with name_scope(name, values=[shape1, shape2]):
        known = [_known_shape(shape) for shape in (shape1, shape2)]
        if None not in known:
            return array_ops.broadcast_static_shape(*known)
        tensors = [_shape_tensor(shape) for shape in (shape1, shape2)]
        return array_ops.broadcast_dynamic_shape(*tensors)


def _known_shape(shape: Any) -> TensorShape | None:
    if isinstance(shape, TensorShape):
        return shape
    value = constant_value(convert_to_tensor(shape, dtypes.int32, name="shape"))
    return None if value is None else TensorShape(value)


def _shape_tensor(shape: Any) -> Tensor:
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
        shape = shape.as_list()
    return convert_to_tensor(shape, dtypes.int32, name="shape")


def same_dynamic_shape(a: Any, b: Any) -> Tensor:
    """Whether two tensors have the same shape when they run, a bool scalar."""
    from tensorloom.client.control_flow.cond import cond

    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    same: Tensor = cond(
        math_ops.equal(array_ops.rank(a), array_ops.rank(b)),
        # Of unknown length: static shapes must not say that these cannot be compared.
        lambda: math_ops.reduce_all(
            math_ops.equal(
                array_ops.concat([array_ops.shape(a), array_ops.shape(b)], 0),
                array_ops.concat([array_ops.shape(b), array_ops.shape(a)], 0),
            )
        ),
        lambda: constant(False),
    )
    return same


def dimension_size(x: Tensor, axis: int) -> Any:
    """The size of an axis, a number if it is known."""
    if x.shape.ndims is not None:
        size = x.shape.as_list()[axis]
        if size is not None:
            return size
    return array_ops.shape(x)[axis]


def pick_vector(
    cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector"
) -> Any:
    """One of two vectors, which may be of different lengths.

    Args:
      cond: bool scalar; where it is known, the vector is given back as it is.

    Raises:
      TypeError: `cond` is not bool, or the vectors are of different dtypes.
    """
    with name_scope(name, values=(cond, true_vector, false_vector)):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError(f"{cond}.dtype={cond.dtype} which is not {dtypes.bool}")
        known = constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        first = convert_to_tensor(true_vector, name="true_vector")
        second = convert_to_tensor(false_vector, name="false_vector")
        if first.dtype != second.dtype:
            raise TypeError(
                f"{first}.dtype={first.dtype} does not match {second}.dtype="
                f"{second.dtype}"
            )
        size = array_ops.shape(first)[0]
        return array_ops.slice(
            array_ops.concat([first, second], 0),
            [array_ops.where_v2(cond, 0, size)],
            [array_ops.where(cond, size, -1)],
        )


def reduce_weighted_logsumexp(
    logx: Any,
    w: Any = None,
    axis: Any = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """The logarithm of the absolute sum of exponentials with weights.

    Args:
      logx: the exponents.
      w: weights, of any sign; ones by default.
      axis: what is summed over; all axes by default.
      keep_dims: whether these axes stay, of size 1.
      return_sign: whether the sum's sign is given, too.
    """
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = math_ops.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, array_ops.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + math_ops.log(math_ops.abs(w))
        largest = math_ops.reduce_max(logs, axis=axis, keepdims=True)
        largest = array_ops.where(
            math_ops.is_inf(largest), array_ops.zeros_like(largest), largest
        )
        parts = math_ops.sign(w) * math_ops.exp(logs - largest)
        rest = math_ops.reduce_sum(parts, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = array_ops.squeeze(largest, axis)
        sign = math_ops.sign(rest)
        total = largest + math_ops.log(sign * rest)
        return (total, sign) if return_sign else total


def softplus_inverse(x: Any, name: str | None = None) -> Tensor:
    """The number whose softplus is x: log(exp(x) - 1), exact for small and large x."""
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        limit = math.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small, large = x < math.exp(limit), x > -limit
        middle = array_ops.where(
            math_ops.logical_or(small, large), array_ops.ones_like(x), x
        )
        exact = middle + math_ops.log(-math_ops.expm1(-middle))
        return array_ops.where(small, math_ops.log(x), array_ops.where(large, x, exact))


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls, by name; those of `**kwargs` too."""
    frame = inspect.currentframe()
    if frame is None or frame.f_back is None:
        return {}
    names, _, keywords, values = inspect.getargvalues(frame.f_back)
    found = {name: values[name] for name in names}
    found.update(values[keywords] if keywords else {})
    return found
