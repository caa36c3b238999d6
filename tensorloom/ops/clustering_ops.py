"""Clustering, word pairs, and matrices read from checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.shape_inference import scalar_shape, unknown_shapes
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext


def _remapped_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    c.with_rank(1, 0)
    for index in (2, 3):
        c.with_rank(index, 1)
    return TensorShape.of((c.attrs["num_rows"], c.attrs["num_cols"]))


def _immutable_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


def _decoded_shape(c: InferenceContext) -> list[TensorShape]:
    """Sizes [..., fields], and values [..., most repeats] of each field."""
    outer = c.input_shape(0)
    dims = outer.dims_tuple
    if dims is None:
        return [outer] * c.num_outputs
    fields = len(c.attrs["output_types"])
    values = TensorShape.of((*dims, None))
    return [TensorShape.of((*dims, fields)), *[values] * fields]


register_op(
    "KMC2ChainInitialization",
    inputs=["distances: float", "seed: int64"],
    outputs=["index: int64"],
    shape_fn=scalar_shape,
    doc="The next point of a Markov chain, by its distances.",
)

register_op(
    "KmeansPlusPlusInitialization",
    inputs=[
        "points: float",
        "num_to_sample: int64",
        "seed: int64",
        "num_retries_per_sample: int64",
    ],
    outputs=["samples: float"],
    shape_fn=unknown_shapes,
    doc="Points far from each other, by the kmeans++ method.",
)

register_op(
    "NearestNeighbors",
    inputs=["points: float", "centers: float", "k: int64"],
    outputs=["nearest_center_indices: int64", "nearest_center_distances: float"],
    shape_fn=unknown_shapes,
    doc="The k nearest centers of each point.",
)

register_op(
    "Skipgram",
    outputs=[
        "vocab_word: string",
        "vocab_freq: int32",
        "words_per_epoch: int64",
        "current_epoch: int32",
        "total_words_processed: int64",
        "examples: int32",
        "labels: int32",
    ],
    attrs=[
        "filename: string",
        "batch_size: int",
        "window_size: int = 5",
        "min_count: int = 5",
        "subsample: float = 0.001",
    ],
    shape_fn=unknown_shapes,
    stateful=True,
    deprecated="word2vec moved into tensorflow_models/tutorials",
    doc="Pairs of words that stand near each other in a text file.",
)

register_op(
    "ImmutableConst",
    outputs=["tensor: dtype"],
    attrs=["dtype: type", "shape: shape", "memory_region_name: string"],
    shape_fn=_immutable_shape,
    doc="A constant that lies in a file mapped into memory.",
)

register_op(
    "DecodeProtoV2",
    inputs=["bytes: string"],
    outputs=["sizes: int32", "values: output_types"],
    attrs=[
        "message_type: string",
        "field_names: list(string)",
        "output_types: list(type) >= 0",
        "descriptor_source: string = 'local://'",
        "message_format: string = 'binary'",
        "sanitize: bool = false",
    ],
    shape_fn=_decoded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Fields of serialized protocol messages.",
)
