"""Clustering: initial centers and the nearest ones."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unknown_shapes

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
