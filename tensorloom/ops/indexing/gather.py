"""Ops that take elements by index: Gather, GatherV2, GatherNd."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, format_shape
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.indexing import batch_gather

# --- shape functions ----------------------------------------------------------------


def _gather_shape(c: InferenceContext) -> TensorShape:
    params = c.with_rank_at_least(0, 1).dims_tuple
    indices = c.input_shape(1).dims_tuple
    if params is None or indices is None:
        return UNKNOWN
    return TensorShape.of(indices + params[1:])


def _gather_v2_shape(c: InferenceContext) -> TensorShape:
    params, indices = c.with_rank_at_least(0, 1), c.input_shape(1)
    c.with_rank(2, 0)
    value = c.input_value(2)
    if value is None:
        if params.rank is None or indices.rank is None:
            return UNKNOWN
        shared = c.attrs["batch_dims"]
        if shared != indices.rank:
            shared %= max(indices.rank, 1)
        return TensorShape.of((None,) * (params.rank + indices.rank - 1 - shared))
    axis = int(value)
    c.with_rank_at_least(0, -axis if axis < 0 else axis + 1)
    batch_dims = _batch_dims(c, indices.rank)
    c.with_rank_at_least(0, batch_dims + 1)
    if params.dims_tuple is None or indices.dims_tuple is None:
        return UNKNOWN
    return _gathered(c, params.dims_tuple, indices.dims_tuple, axis, batch_dims)


def _batch_dims(c: InferenceContext, indices_rank: int | None) -> int:
    """The attr batch_dims, counted from the front where that can be told."""
    batch_dims: int = c.attrs["batch_dims"]
    if indices_rank is None:
        return batch_dims
    if not -indices_rank <= batch_dims <= indices_rank:
        c.fail(
            f"Expected batch_dims in the range [{-indices_rank}, {indices_rank}], "
            f"but got {batch_dims}"
        )
    return batch_dims + indices_rank if batch_dims < 0 else batch_dims


def _gathered(
    c: InferenceContext,
    params: tuple[int | None, ...],
    indices: tuple[int | None, ...],
    axis: int,
    batch_dims: int,
) -> TensorShape:
    axis %= len(params)
    if axis < batch_dims:
        c.fail(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    return TensorShape.of(params[:axis] + indices[batch_dims:] + params[axis + 1 :])


def _gather_nd_shape(c: InferenceContext) -> TensorShape:
    params = c.input_shape(0).dims_tuple
    indices = c.with_rank_at_least(1, 1).dims_tuple
    if indices is None or params is None or indices[-1] is None:
        return UNKNOWN
    depth = indices[-1]
    if depth > len(params):
        c.fail(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{format_shape(c.input_shape(1))} and params shape: "
            f"{format_shape(c.input_shape(0))}"
        )
    return TensorShape.of(indices[:-1] + params[depth:])


# --- definitions --------------------------------------------------------------------

register_op(
    "Gather",
    inputs=["params: Tparams", "indices: Tindices"],
    outputs=["output: Tparams"],
    attrs=[
        "validate_indices: bool = true",
        "Tparams: type",
        "Tindices: {int32, int64}",
    ],
    shape_fn=_gather_shape,
    doc="Slices of the first axis of `params` by index.",
)

register_op(
    "GatherV2",
    inputs=["params: Tparams", "indices: Tindices", "axis: Taxis"],
    outputs=["output: Tparams"],
    attrs=[
        "batch_dims: int = 0",
        "Tparams: type",
        "Tindices: {int32, int64, int16}",
        "Taxis: {int32, int64}",
    ],
    shape_fn=_gather_v2_shape,
    doc="Slices of an axis of `params` by index; leading axes may be a batch.",
)

register_op(
    "GatherNd",
    inputs=["params: Tparams", "indices: Tindices"],
    outputs=["output: Tparams"],
    attrs=["Tparams: type", "Tindices: {int32, int64, int16}"],
    shape_fn=_gather_nd_shape,
    doc="Slices of `params`, each at the coordinates in a row of `indices`.",
)

# --- builders -----------------------------------------------------------------------


@export("gather")
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of `params` along `axis`, those that `indices` names.

    The result has the shape `params[:axis] + indices[batch_dims:] + params[axis+1:]`.

    Args:
      validate_indices: ignored; indices are always checked on the CPU.
      axis: `batch_dims` when None.
      batch_dims: number of leading axes that `params` and `indices` share.
    """
    if axis is None:
        axis = batch_dims
    static_axis = constant_value(axis) if isinstance(axis, Tensor) else axis
    if static_axis is None or static_axis != 0:
        return apply_op(  # type: ignore[no-any-return]
            "GatherV2",
            params=params,
            indices=indices,
            axis=axis,
            batch_dims=batch_dims,
            name=name,
        )
    try:
        # A variable reads the rows alone, without reading itself as a whole.
        return params.sparse_read(indices, name=name)  # type: ignore[no-any-return]
    except AttributeError:
        pass
    return apply_op("GatherV2", params=params, indices=indices, axis=axis, name=name)  # type: ignore[no-any-return]


@export("gather_nd", "manip.gather_nd")
def gather_nd(
    params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0
) -> Tensor:
    """Slices of `params`, each at the coordinates in the last axis of `indices`.

    The result has the shape `indices[:-1] + params[indices.shape[-1]:]`.

    Args:
      batch_dims: number of leading axes that `params` and `indices` share.
    """
    if isinstance(batch_dims, Tensor):
        static = constant_value(batch_dims)
        batch_dims = batch_dims if static is None else int(static.item())
    if batch_dims != 0:
        return batch_gather.batch_gather_nd(params, indices, batch_dims, name=name)
    with suppress(AttributeError):  # what is no resource variable
        return params.gather_nd(indices, name=name)  # type: ignore[no-any-return]
    return apply_op("GatherNd", params=params, indices=indices, name=name)  # type: ignore[no-any-return]
