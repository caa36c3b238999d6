"""Gradient boosted trees: sketches of the features' quantiles as resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.boosted_trees.boosted_trees_ops import (
    create_shape,
    initialized_shape,
    with_ranks,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_VECTOR = TensorShape.of((None,))


def _bucketize_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["num_features"]
    for index in range(count):
        c.merge(c.with_rank(index, 1), c.with_rank(0, 1))
        c.with_rank(count + index, 1)
    return [c.with_rank(index, 1) for index in range(count)]


def _summaries_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return [TensorShape.of((None, 4))] * c.attrs["num_features"]


def _make_summaries_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["num_features"]
    for index in range(count + 1):  # the last one: weights, as many or one
        c.with_rank(index, 1)
    c.with_rank(count + 1, 0)
    return [TensorShape.of((None, 4))] * count


def _add_summaries_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    for index in range(1, c.num_inputs):
        c.with_rank(index, 2)
    return []


def _handle_only_shape(c: InferenceContext) -> list[TensorShape]:
    # Boundaries are vectors; TensorFlow lets them pass when their shape is unknown.
    for index in range(c.num_inputs):
        c.with_rank(index, 0)
    return []


def _flush_shape(c: InferenceContext) -> list[TensorShape]:
    with_ranks(c, 0, 0)
    return []


def _boundaries_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return [_VECTOR] * c.attrs["num_features"]


register_op(
    "BoostedTreesBucketize",
    inputs=[
        "float_values: num_features * float",
        "bucket_boundaries: num_features * float",
    ],
    outputs=["buckets: num_features * int32"],
    attrs=["num_features: int >= 0"],
    shape_fn=_bucketize_shape,
    doc="The buckets that the values of each feature fall into.",
)

register_op(
    "BoostedTreesCreateQuantileStreamResource",
    inputs=[
        "quantile_stream_resource_handle: resource",
        "epsilon: float",
        "num_streams: int64",
    ],
    attrs=["max_elements: int = 1099511627776"],
    shape_fn=create_shape,
    stateful=True,
    doc="Makes streams of quantile sketches.",
)

register_op(
    "BoostedTreesFlushQuantileSummaries",
    inputs=["quantile_stream_resource_handle: resource"],
    outputs=["summaries: num_features * float"],
    attrs=["num_features: int >= 0"],
    shape_fn=_summaries_shape,
    stateful=True,
    doc="The summaries of each stream, which then begins anew.",
)

register_op(
    "BoostedTreesMakeQuantileSummaries",
    inputs=[
        "float_values: num_features * float",
        "example_weights: float",
        "epsilon: float",
    ],
    outputs=["summaries: num_features * float"],
    attrs=["num_features: int >= 0"],
    shape_fn=_make_summaries_shape,
    doc="Summaries [n, 4] of the values of each feature.",
)

register_op(
    "BoostedTreesQuantileStreamResourceAddSummaries",
    inputs=[
        "quantile_stream_resource_handle: resource",
        "summaries: num_features * float",
    ],
    attrs=["num_features: int >= 0"],
    shape_fn=_add_summaries_shape,
    stateful=True,
    doc="Adds summaries to the streams.",
)

register_op(
    "BoostedTreesQuantileStreamResourceDeserialize",
    inputs=[
        "quantile_stream_resource_handle: resource",
        "bucket_boundaries: num_streams * float",
    ],
    attrs=["num_streams: int >= 1"],
    shape_fn=_handle_only_shape,
    stateful=True,
    doc="Sets the boundaries of the streams.",
)

register_op(
    "BoostedTreesQuantileStreamResourceFlush",
    inputs=["quantile_stream_resource_handle: resource", "num_buckets: int64"],
    attrs=["generate_quantiles: bool = false"],
    shape_fn=_flush_shape,
    stateful=True,
    doc="Makes boundaries of buckets from what was added.",
)

register_op(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    inputs=["quantile_stream_resource_handle: resource"],
    outputs=["bucket_boundaries: num_features * float"],
    attrs=["num_features: int >= 0"],
    shape_fn=_boundaries_shape,
    stateful=True,
    doc="The boundaries of the buckets of each feature.",
)

register_op(
    "BoostedTreesQuantileStreamResourceHandleOp",
    outputs=["resource: resource"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of streams of quantile sketches.",
)

register_op(
    "IsBoostedTreesQuantileStreamResourceInitialized",
    inputs=["quantile_stream_resource_handle: resource"],
    outputs=["is_initialized: bool"],
    shape_fn=initialized_shape,
    stateful=True,
    doc="True when the streams were made.",
)
