"""Ops that put elements at indices of a tensor: ScatterNd and TensorScatter*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    ShapeError,
    format_shape,
)
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# --- shape functions ----------------------------------------------------------------


def _scatter_nd_shape(c: InferenceContext) -> TensorShape:
    whole = c.input_value_as_shape(2)
    _check_update_shape(c, c.input_shape(0), c.input_shape(1), whole)
    return whole


def _tensor_scatter_shape(c: InferenceContext) -> TensorShape:
    whole = c.with_rank_at_least(0, 1)
    if c.op_name not in ("TensorScatterMin", "TensorScatterMax"):  # of a later version
        c.with_rank_at_least(1, 1)
        c.with_rank_at_least(2, 1)
    _check_update_shape(c, c.input_shape(1), c.input_shape(2), whole)
    return whole


def _check_update_shape(
    c: InferenceContext, indices: TensorShape, updates: TensorShape, whole: TensorShape
) -> None:
    """Checks that updates.shape is indices.shape[:-1] + whole[indices.shape[-1]:]."""
    dims = c.with_rank_at_least(indices, 1).dims_tuple
    if whole.num_elements() == 0 and (indices.num_elements() or updates.num_elements()):
        c.fail("Indices and updates specified for empty output")
    if dims is None or updates.dims_tuple is None or dims[-1] is None:
        return
    outer, depth = len(dims) - 1, dims[-1]
    given = updates.dims_tuple
    try:
        c.merge(TensorShape.of(dims[:-1]), TensorShape.of(given[:outer]))
    except ShapeError as error:
        c.fail(
            f"The outer {outer} dimensions of indices.shape={format_shape(indices)} "
            f"must match the outer {outer} dimensions of updates.shape="
            f"{format_shape(updates)}: {error}"
        )
    if whole.dims_tuple is None:
        return
    try:
        c.merge(TensorShape.of(whole.dims_tuple[depth:]), TensorShape.of(given[outer:]))
    except ShapeError as error:
        c.fail(
            f"The inner {len(whole.dims_tuple) - depth} dimensions of input.shape="
            f"{format_shape(whole)} must match the inner {len(given) - outer} "
            f"dimensions of updates.shape={format_shape(updates)}: {error}"
        )


# --- definitions --------------------------------------------------------------------

register_op(
    "ScatterNd",
    inputs=["indices: Tindices", "updates: T", "shape: Tindices"],
    outputs=["output: T"],
    attrs=["T: type", "Tindices: {int32, int64, int16}"],
    shape_fn=_scatter_nd_shape,
    doc="Zeros of a shape with `updates` added at the coordinates in `indices`.",
)

register_op(
    "ScatterNdNonAliasingAdd",
    inputs=["input: T", "indices: Tindices", "updates: T"],
    outputs=["output: T"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
        "quint8, qint32, bfloat16, uint16, complex128, half, uint32, uint64, bool, "
        "qint16, quint16}",
        "Tindices: {int32, int64}",
    ],
    shape_fn=_tensor_scatter_shape,
    doc="The input with `updates` added at the coordinates in `indices`.",
)

for _name, _tindices, _does in (
    ("Update", "int32, int64, int16, uint16", "written"),
    ("Add", "int32, int64", "added"),
    ("Sub", "int32, int64", "subtracted"),
    ("Min", "int32, int64", "written where smaller"),
    ("Max", "int32, int64", "written where greater"),
):
    register_op(
        f"TensorScatter{_name}",
        inputs=["tensor: T", "indices: Tindices", "updates: T"],
        outputs=["output: T"],
        attrs=["T: type", f"Tindices: {{{_tindices}}}"],
        shape_fn=_tensor_scatter_shape,
        doc=f"The tensor with `updates` {_does} at the coordinates in `indices`.",
    )

# --- builders -----------------------------------------------------------------------


@export("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: Any, updates: Any, shape: Any, name: str | None = None
) -> Tensor:
    """Zeros of `shape` with `updates` added at `indices`.

    Args:
      indices: [..., depth], coordinates into the first `depth` axes of `shape`.
      updates: of shape `indices.shape[:-1] + shape[depth:]`.
    """
    return apply_op(  # type: ignore[no-any-return]
        "ScatterNd", indices=indices, updates=updates, shape=shape, name=name
    )


@export("tensor_scatter_nd_update", "tensor_scatter_update")
def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` written at the coordinates in `indices`."""
    return apply_op(  # type: ignore[no-any-return]
        "TensorScatterUpdate",
        tensor=tensor,
        indices=indices,
        updates=updates,
        name=name,
    )


@export("tensor_scatter_nd_add", "tensor_scatter_add")
def tensor_scatter_add(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added at the coordinates in `indices`."""
    return apply_op(  # type: ignore[no-any-return]
        "TensorScatterAdd", tensor=tensor, indices=indices, updates=updates, name=name
    )


@export("tensor_scatter_nd_sub", "tensor_scatter_sub")
def tensor_scatter_sub(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted at the coordinates in `indices`."""
    return apply_op(  # type: ignore[no-any-return]
        "TensorScatterSub", tensor=tensor, indices=indices, updates=updates, name=name
    )
