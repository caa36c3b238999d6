"""Ops that change a shape and keep the elements: Reshape, ExpandDims, Squeeze, Bitcast.

BroadcastTo, which repeats elements along new axes, stands here too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, format_shape
from tensorloom.framework.types.constant_value import with_given_shape
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import argument_aliases

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# --- shape functions ----------------------------------------------------------------


def reshape_shape(c: InferenceContext) -> TensorShape:
    """The shape that is the second input, with what the first tells of a -1."""
    c.with_rank(1, 1)
    old, new = c.input_shape(0).dims_tuple, c.input_value_as_shape(1).dims_tuple
    if new is None or old is None:
        return TensorShape.of(new)
    old_open, old_count = _count_elements(old)
    new_open, new_count = _count_elements(new)
    if old_open == 0 and new_open == 0:
        if old_count != new_count:
            c.fail(
                f"Cannot reshape a tensor with {old_count} elements to shape "
                f"{format_shape(TensorShape.of(new))} ({new_count} elements)"
            )
    elif old_open == 0 and new_open == 1 and new_count > 0:
        size = _divide(c, old_count, new_count)
        return TensorShape.of(tuple(size if s is None else s for s in new))
    elif old_open == 1 and new_open == 0 and old_count > 0:
        _divide(c, new_count, old_count)
    return TensorShape.of(new)


def _count_elements(dims: tuple[int | None, ...]) -> tuple[int, int]:
    """(number of unknown sizes, product of the known ones); a 0 settles the product."""
    if 0 in dims:
        return 0, 0
    return dims.count(None), math.prod(size for size in dims if size is not None)


def _divide(c: InferenceContext, elements: int, divisor: int) -> int:
    if elements % divisor:
        c.fail(
            f"Dimension size must be evenly divisible by {divisor} but is {elements}"
        )
    return elements // divisor


def _expand_dims_shape(c: InferenceContext) -> TensorShape:
    dims, value = c.input_shape(0).dims_tuple, c.input_value(1)
    if value is not None and value.size != 1:
        c.fail("'dim' input must be a tensor with a single value")
    if value is None or dims is None:
        return UNKNOWN
    axis, lowest = int(value.reshape(-1)[0]), -len(dims) - 1
    if not lowest <= axis <= len(dims):
        c.fail(f"dim {axis} not in the interval [{lowest}, {len(dims)}].")
    if axis < 0:
        axis += len(dims) + 1
    return TensorShape.of((*dims[:axis], 1, *dims[axis:]))


def _squeeze_shape(c: InferenceContext) -> TensorShape:
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return UNKNOWN
    axes = _squeezed_axes(c, len(dims))
    if not axes and None in dims:
        # Any unknown size may be 1, so even the rank is open.
        return UNKNOWN
    for axis in sorted(axes):
        if dims[axis] not in (1, None):
            c.fail(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, "
                f"got {dims[axis]}"
            )
    if axes:
        return TensorShape.of(tuple(s for i, s in enumerate(dims) if i not in axes))
    return TensorShape.of(tuple(size for size in dims if size != 1))


def _squeezed_axes(c: InferenceContext, rank: int) -> set[int]:
    axes = set()
    for i, axis in enumerate(c.attrs["squeeze_dims"]):
        if not -rank <= axis < rank:
            c.fail(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
        axes.add(axis % rank)
    return axes


def _broadcast_to_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 1)
    old, new = c.input_shape(0).dims_tuple, c.input_value_as_shape(1).dims_tuple
    if old is None or new is None:
        return TensorShape.of(new)
    c.with_rank_at_most(0, len(new))
    offset = len(new) - len(old)
    sizes = list(new)
    for i, size in enumerate(old):
        if size is not None and size > 1:
            sizes[offset + i] = c.merge_dim(size, new[offset + i])
    return TensorShape.of(tuple(sizes))


def _bitcast_shape(c: InferenceContext) -> TensorShape:
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return UNKNOWN
    old, new = c.input_type(0).size, c.attrs["type"].size
    if old == new:
        return c.input_shape(0)
    if old > new:
        return TensorShape.of((*dims, old // new))
    if not dims:
        c.fail("Shape must be at least rank 1 but is rank 0")
    if dims[-1] is not None and dims[-1] != new // old:
        c.fail(f"Cannot bitcast due to shape. {dims[-1]} does not match {new // old}")
    return TensorShape.of(dims[:-1])


# --- definitions --------------------------------------------------------------------

register_op(
    "Reshape",
    inputs=["tensor: T", "shape: Tshape"],
    outputs=["output: T"],
    attrs=["T: type", "Tshape: {int32, int64} = DT_INT32"],
    shape_fn=reshape_shape,
    doc="The same elements in row-major order with another shape; -1 is computed.",
)

register_op(
    "ExpandDims",
    inputs=["input: T", "dim: Tdim"],
    outputs=["output: T"],
    attrs=["T: type", "Tdim: {int32, int64} = DT_INT32"],
    shape_fn=_expand_dims_shape,
    doc="The input with an axis of size 1 inserted at `dim`.",
)

register_op(
    "Squeeze",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type", "squeeze_dims: list(int) >= 0 = []"],
    shape_fn=_squeeze_shape,
    doc="The input without its axes of size 1, or without those in `squeeze_dims`.",
)

register_op(
    "BroadcastTo",
    inputs=["input: T", "shape: Tidx"],
    outputs=["output: T"],
    attrs=["T: type", "Tidx: {int32, int64} = DT_INT32"],
    shape_fn=_broadcast_to_shape,
    doc="The input, repeated along new axes and along axes of size 1.",
)

register_op(
    "Bitcast",
    inputs=["input: T"],
    outputs=["output: type"],
    attrs=[
        "T: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, "
        "uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, "
        "qint32}",
        "type: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, "
        "uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, "
        "qint32}",
    ],
    shape_fn=_bitcast_shape,
    doc="The input's bytes read as another dtype.",
)

# --- builders -----------------------------------------------------------------------


@export("reshape", "manip.reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor` in row-major order with another shape.

    Args:
      shape: a vector; one size may be -1 and is then computed.

    Raises:
      ValueError: the number of elements differs. At run time
        errors.InvalidArgumentError.
    """
    reshaped = apply_op("Reshape", tensor=tensor, shape=shape, name=name)
    return with_given_shape(reshaped, shape)


@export("expand_dims")
def expand_dims(
    input: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """`input` with an axis of size 1 inserted at `axis` (negative: from the end).

    Raises:
      ValueError: no axis, or one out of range.
    """
    axis = argument_aliases.either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply_op("ExpandDims", input=input, dim=axis, name=name)  # type: ignore[no-any-return]


@export("squeeze")
def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """`input` without its axes of size 1; only those in `axis` when given.

    Raises:
      ValueError: an axis in `axis` has another size.
    """
    axis = argument_aliases.either("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return apply_op("Squeeze", input=input, squeeze_dims=axis or [], name=name)  # type: ignore[no-any-return]


@export("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated so that it has `shape`.

    Raises:
      ValueError: it does not broadcast to `shape`.
    """
    return apply_op("BroadcastTo", input=input, shape=shape, name=name)  # type: ignore[no-any-return]


@export("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bytes of `input` read as dtype `type`, without conversion."""
    return apply_op("Bitcast", input=input, type=type, name=name)  # type: ignore[no-any-return]
