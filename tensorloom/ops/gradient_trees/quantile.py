"""Sketches of the quantiles of features, as resources and as messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.gradient_trees.ensemble import (
    NEXT_STAMP,
    STAMP,
    VECTOR,
    first_inputs,
    handle_op,
    stateful_op,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_HANDLE: Final = "quantile_accumulator_handle: resource"
_HANDLES: Final = "quantile_accumulator_handles: num_resource_handles * resource"
_MANY: Final = ("num_resource_handles: int >= 1",)
_UNKNOWN: Final = TensorShape(None)
_NUMBERS: Final = ("num_dense_features: int >= 0", "num_sparse_features: int >= 0")
_FEATURES: Final = (
    "dense_float_features: num_dense_features * float",
    "sparse_float_feature_indices: num_sparse_features * int64",
    "sparse_float_feature_values: num_sparse_features * float",
    "sparse_float_feature_shapes: num_sparse_features * int64",
    "example_weights: float",
)


def _scalars_shape(c: InferenceContext) -> list[TensorShape]:
    for index in range(c.num_inputs):
        c.with_rank(index, 0)
    return []


def _buckets_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["num_resource_handles"]
    return [SCALAR] * count + [VECTOR] * count


def _summaries_shape(c: InferenceContext) -> list[TensorShape]:
    dense, sparse = c.attrs["num_dense_features"], c.attrs["num_sparse_features"]
    examples = _rows(c.with_rank(dense + 3 * sparse, 2))
    for index in range(dense):
        c.merge_dim(_rows(c.with_rank(index, 2)), examples)
    return [SCALAR] * (dense + sparse)


def _rows(shape: TensorShape) -> int | None:
    dims = shape.dims_tuple
    return dims[0] if dims else None


def _quantiles_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["num_dense_features"] + c.attrs["num_sparse_features"]
    return [TensorShape.of((_rows(c.input_shape(i)), 2)) for i in range(count)]


handle_op("QuantileStreamResourceHandleOp", "a sketch of quantiles")

stateful_op(
    "QuantileAccumulatorIsInitialized",
    (_HANDLE,),
    ("is_initialized: bool",),
    lambda c: SCALAR,
    "Whether a sketch of quantiles was created.",
)
stateful_op(
    "CreateQuantileAccumulator",
    (_HANDLE, STAMP),
    (),
    first_inputs(0, 0),
    "Creates a sketch of quantiles, unless it is there.",
    (
        "container: string = ''",
        "shared_name: string = ''",
        "max_elements: int = 1099511627776",
        "epsilon: float",
        "num_quantiles: int",
        "generate_quantiles: bool = false",
    ),
)
stateful_op(
    "QuantileAccumulatorAddSummaries",
    (_HANDLES, STAMP, "summaries: num_resource_handles * string"),
    (),
    _scalars_shape,
    "Adds summaries to sketches, where the stamp is the newest.",
    _MANY,
)
stateful_op(
    "QuantileAccumulatorGetBuckets",
    (_HANDLES, STAMP),
    (
        "are_buckets_ready: num_resource_handles * bool",
        "buckets: num_resource_handles * float",
    ),
    _buckets_shape,
    "The boundaries that the last flush made.",
    _MANY,
)
stateful_op(
    "QuantileAccumulatorFlush",
    (_HANDLE, STAMP, NEXT_STAMP),
    (),
    lambda c: [],
    "Makes boundaries of the sketch, which then begins anew.",
)
stateful_op(
    "QuantileAccumulatorFlushSummary",
    (_HANDLE, STAMP, NEXT_STAMP),
    ("output: string",),
    lambda c: _UNKNOWN,
    "The summary of the sketch, which then begins anew.",
)
stateful_op(
    "QuantileAccumulatorSerialize",
    (_HANDLE,),
    (
        STAMP,
        "stream_state: string",
        "are_buckets_ready: bool",
        "buckets: float",
    ),
    lambda c: [_UNKNOWN] * 4,
    "What a sketch holds.",
)
stateful_op(
    "QuantileAccumulatorDeserialize",
    (
        _HANDLE,
        STAMP,
        "stream_state: string",
        "are_buckets_ready: bool",
        "buckets: float",
    ),
    (),
    lambda c: [],
    "Replaces what a sketch holds.",
)
register_op(
    "MakeQuantileSummaries",
    inputs=_FEATURES,
    outputs=[
        "dense_summaries: num_dense_features * string",
        "sparse_summaries: num_sparse_features * string",
    ],
    attrs=[*_NUMBERS, "epsilon: float"],
    shape_fn=_summaries_shape,
    doc="Summaries of the quantiles of features, as serialized messages.",
)
register_op(
    "QuantileBuckets",
    inputs=_FEATURES,
    outputs=[
        "dense_buckets: num_dense_features * float",
        "sparse_buckets: num_sparse_features * float",
    ],
    attrs=[*_NUMBERS, "dense_config: list(string)", "sparse_config: list(string)"],
    shape_fn=lambda c: (
        [_UNKNOWN] * (c.attrs["num_dense_features"] + c.attrs["num_sparse_features"])
    ),
    doc="Boundaries that divide the examples of each feature into equal parts.",
)
register_op(
    "Quantiles",
    inputs=[
        "dense_values: num_dense_features * float",
        "sparse_values: num_sparse_features * float",
        "dense_buckets: num_dense_features * float",
        "sparse_buckets: num_sparse_features * float",
        "sparse_indices: num_sparse_features * int64",
    ],
    outputs=[
        "dense_quantiles: num_dense_features * int32",
        "sparse_quantiles: num_sparse_features * int32",
    ],
    attrs=_NUMBERS,
    shape_fn=_quantiles_shape,
    doc="The bucket and the dimension [values, 2] of each value.",
)
