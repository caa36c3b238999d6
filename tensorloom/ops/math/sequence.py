"""Range, LinSpace, Cross, and polynomials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.dtypes import DType

_UNKNOWN_VECTOR: Final = TensorShape.of((None,))

# --- Range and LinSpace ------------------------------------------------------


def _range_shape(c: InferenceContext) -> TensorShape:
    for i, name in enumerate(("start", "limit", "delta")):
        rank = c.input_shape(i).rank
        if rank:
            c.fail(f"Shape must be rank 0 but is rank {rank}\n\t for '{name}'")
    values = [c.input_value(i) for i in (0, 1, 2)]
    if any(value is None for value in values):
        return _UNKNOWN_VECTOR
    start, limit, delta = (value.item() for value in values)  # type: ignore[union-attr]
    if not all(math.isfinite(value) for value in (start, limit, delta)):
        return _UNKNOWN_VECTOR  # the kernel refuses it
    if delta == 0:
        c.fail("Requires delta != 0")
    if start > limit and delta > 0:
        c.fail(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if start < limit and delta < 0:
        c.fail(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(delta, int):
        return TensorShape.of((-(-abs(limit - start) // abs(delta)),))
    size = abs((limit - start) / delta)
    return TensorShape.of((math.ceil(size),)) if size < 2.0**63 else _UNKNOWN_VECTOR


register_op(
    "Range",
    inputs=["start: Tidx", "limit: Tidx", "delta: Tidx"],
    outputs=["output: Tidx"],
    attrs=[
        "Tidx: {bfloat16, float, double, int32, int64, half, int8, int16, uint16, "
        "uint32, uint64} = DT_INT32"
    ],
    shape_fn=_range_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Numbers from start up to limit (exclusive) in steps of delta.",
)


def _lin_space_shape(c: InferenceContext) -> TensorShape:
    for i in (0, 1, 2):
        c.with_rank(i, 0)
    num = c.input_value(2)
    if num is None:
        return _UNKNOWN_VECTOR
    if num <= 0:
        c.fail(f"Requires num > 0: {int(num)}")
    return TensorShape.of((int(num),))


register_op(
    "LinSpace",
    inputs=["start: T", "stop: T", "num: Tidx"],
    outputs=["output: T"],
    attrs=["T: {bfloat16, float, double, half}", "Tidx: {int32, int64} = DT_INT32"],
    shape_fn=_lin_space_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="num numbers from start to stop, both included, at equal distances.",
)

_RANGE_TYPES: Final = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@export("range")
def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = "range",
) -> Tensor:
    """Numbers from start (0 if only one is given) up to limit in steps of delta.

    Args:
      dtype: of the result; the widest of the arguments' when None.

    Raises:
      ValueError: delta is 0 or leads away from the limit (known statically).
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start = convert_to_tensor(start, dtype=dtype, name="start")
        limit = convert_to_tensor(limit, dtype=dtype, name="limit")
        delta = convert_to_tensor(delta, dtype=dtype, name="delta")
        if dtype is None:
            wide = _widest(start.dtype, limit.dtype, delta.dtype)
            start, limit, delta = (cast(v, wide) for v in (start, limit, delta))
        return apply_op(  # type: ignore[no-any-return]
            "Range", scope, start=start, limit=limit, delta=delta
        )


def _widest(*types: DType) -> DType:
    assert all(dtype in _RANGE_TYPES for dtype in types)
    return max(types, key=_RANGE_TYPES.index)


@export("lin_space", "linspace")
def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """num numbers from start to stop, both included, at equal distances.

    Raises:
      ValueError: num is known and not positive.
    """
    return apply_op(  # type: ignore[no-any-return]
        "LinSpace", name, start=start, stop=stop, num=num
    )


# --- Cross -------------------------------------------------------------------


def _cross_shape(c: InferenceContext) -> TensorShape:
    shape = c.merge(c.with_rank_at_least(0, 1), c.with_rank_at_least(1, 1))
    dims = shape.dims_tuple
    if dims is not None and dims[-1] not in (None, 3):
        c.fail(f"Dimension must be 3 but is {dims[-1]}")
    return shape


def _cross_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    u, v = op.inputs
    return [cross(v, grad), cross(grad, u)]


register_op(
    "Cross",
    inputs=["a: T", "b: T"],
    outputs=["product: T"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
        "uint32, uint64}"
    ],
    shape_fn=_cross_shape,
    gradient=_cross_grad,
    doc="The cross product of 3-vectors, which are the last axis.",
)


@export("linalg.cross", "cross")
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of 3-vectors, which are the last axis."""
    return apply_op("Cross", name, a=a, b=b)  # type: ignore[no-any-return]


@export("math.polyval")
def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients (highest power first) at x, by Horner."""
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return fill_ops.zeros_like(x, name=scope)
        tensors = [
            convert_to_tensor(coeff, name=f"coeff_{i}")
            for i, coeff in enumerate(coeffs)
        ]
        value = tensors[0]
        for tensor in tensors[1:]:
            value = tensor + value * x
        return value
