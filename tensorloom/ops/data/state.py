"""What datasets of the second version keep outside of their iterators."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs
from tensorloom.framework.types.tensor_shape import SCALAR

register_op(
    "AnonymousMemoryCache",
    outputs=["handle: resource", "deleter: variant"],
    shape_fn=lambda c: [SCALAR, SCALAR],
    stateful=True,
    doc="A new place for the elements of a CacheDatasetV2, and what deletes it.",
)
register_op(
    "AnonymousRandomSeedGenerator",
    inputs=["seed: int64", "seed2: int64"],
    outputs=["handle: resource", "deleter: variant"],
    shape_fn=lambda c: [SCALAR, SCALAR],
    stateful=True,
    doc="A new source of seeds for a ShuffleDatasetV2, and what deletes it.",
)
register_op(
    "AnonymousSeedGenerator",
    inputs=["seed: int64", "seed2: int64", "reshuffle: bool"],
    outputs=["handle: resource", "deleter: variant"],
    shape_fn=lambda c: [SCALAR, SCALAR],
    stateful=True,
    doc="A new source of seeds for a ShuffleDatasetV3, and what deletes it.",
)
for _op in ("DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator"):
    register_op(
        _op,
        inputs=["handle: resource", "deleter: variant"],
        shape_fn=no_outputs,
        stateful=True,
        doc="Lets go of what a dataset keeps.",
    )
for _op in ("DummyIterationCounter", "DummyMemoryCache", "DummySeedGenerator"):
    register_op(
        _op,
        outputs=["handle: resource"],
        shape_fn=lambda c: SCALAR,
        stateful=True,
        doc="In place of what a dataset keeps: it shall have its own.",
    )
