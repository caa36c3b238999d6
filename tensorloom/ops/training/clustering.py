"""Clustering, and constants in mapped files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unknown_shapes

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _immutable_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


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
    "ImmutableConst",
    outputs=["tensor: dtype"],
    attrs=["dtype: type", "shape: shape", "memory_region_name: string"],
    shape_fn=_immutable_shape,
    doc="A constant that lies in a file mapped into memory.",
)
