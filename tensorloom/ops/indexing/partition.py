"""Ops that take a tensor apart by labels and put it together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ----------------------------------------------------------------


def _partition_shape(c: InferenceContext) -> list[TensorShape]:
    data, partitions = c.input_shape(0), c.input_shape(1)
    count = c.attrs["num_partitions"]
    if partitions.dims_tuple is None or data.dims_tuple is None:
        return [UNKNOWN] * count
    rank = len(partitions.dims_tuple)
    _check_prefix(c, data, partitions)
    return [TensorShape.of((None, *data.dims_tuple[rank:]))] * count


def _check_prefix(c: InferenceContext, data: TensorShape, prefix: TensorShape) -> None:
    assert prefix.dims_tuple is not None
    if data.dims_tuple is None:
        return
    c.with_rank_at_least(data, len(prefix.dims_tuple))
    for size, wanted in zip(data.dims_tuple, prefix.dims_tuple, strict=False):
        c.merge_dim(size, wanted)


def _stitch_shape(c: InferenceContext) -> TensorShape:
    count: int = c.attrs["N"]
    extra = UNKNOWN
    largest: int | None = 0
    for i in range(count):
        indices, data = c.input_shape(i), c.input_shape(i + count)
        values = c.input_value(i)
        if values is None:
            largest = None
        elif largest is not None and values.size:
            largest = max(largest, int(values.max()) + 1)
        if indices.rank is None or data.dims_tuple is None:
            continue
        _check_prefix(c, data, indices)
        extra = c.merge(TensorShape.of(data.dims_tuple[indices.rank :]), extra)
    return TensorShape.of((largest,)).concatenate(extra)


# --- definitions --------------------------------------------------------------------

register_op(
    "DynamicPartition",
    inputs=["data: T", "partitions: int32"],
    outputs=["outputs: num_partitions * T"],
    attrs=["num_partitions: int >= 1", "T: type"],
    shape_fn=_partition_shape,
    doc="The slices of `data` sorted into parts by their labels.",
)

for _name in ("DynamicStitch", "ParallelDynamicStitch"):
    register_op(
        _name,
        inputs=["indices: N * int32", "data: N * T"],
        outputs=["merged: T"],
        attrs=["N: int >= 1", "T: type"],
        shape_fn=_stitch_shape,
        doc="One tensor with data[m][i] at row indices[m][i]; later ones win.",
    )

# --- builders -----------------------------------------------------------------------


@export("dynamic_partition")
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The slices of `data` in parts: slice i is in part `partitions[i]`.

    Raises (at run time):
      errors.InvalidArgumentError: a label is not in [0, num_partitions).
    """
    return apply_op(  # type: ignore[no-any-return]
        "DynamicPartition",
        data=data,
        partitions=partitions,
        num_partitions=num_partitions,
        name=name,
    )


@export("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """A tensor with `data[m][i]` at row `indices[m][i]`; the last of equals wins."""
    return apply_op("DynamicStitch", indices=indices, data=data, name=name)  # type: ignore[no-any-return]
