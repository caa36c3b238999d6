"""Barriers: tuples whose components come at different times, under one key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    no_outputs,
    scalar_shape,
    unknown_shapes,
)
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.shape_inference import InferenceContext

_HANDLE = "handle: Ref(string)"


def _check_handle(c: InferenceContext) -> None:
    dims = c.with_rank(0, 1).dims_tuple
    assert dims is not None
    c.with_value(dims[0], 2)


def _insert_shape(c: InferenceContext) -> Sequence[TensorShape]:
    _check_handle(c)
    keys = c.with_rank(1, 1)
    values = c.with_rank_at_least(2, 1)
    if values.rank is not None:
        c.merge(keys, values[:1])
    return ()


register_op(
    "Barrier",
    outputs=[_HANDLE],
    attrs=[
        "component_types: list(type) >= 1",
        "shapes: list(shape) >= 0 = []",
        "capacity: int = -1",
        "container: string = ''",
        "shared_name: string = ''",
    ],
    shape_fn=lambda c: TensorShape.of((2,)),
    stateful=True,
    doc="Gathers the components of tuples by key; gives tuples that are complete.",
)
register_op(
    "BarrierInsertMany",
    inputs=[_HANDLE, "keys: string", "values: T"],
    attrs=["T: type", "component_index: int"],
    shape_fn=_insert_shape,
    doc="One component of the tuples of some keys.",
)
register_op(
    "BarrierTakeMany",
    inputs=[_HANDLE, "num_elements: int32"],
    outputs=["indices: int64", "keys: string", "values: component_types"],
    attrs=[
        "component_types: list(type) >= 1",
        "allow_small_batch: bool = false",
        "wait_for_incomplete: bool = false",
        "timeout_ms: int = -1",
    ],
    shape_fn=unknown_shapes,
    doc="Takes complete tuples, in the order in which their keys came; waits for them.",
)
register_op(
    "BarrierClose",
    inputs=[_HANDLE],
    attrs=["cancel_pending_enqueues: bool = false"],
    shape_fn=no_outputs,
    doc="Says that no new key will come.",
)
register_op(
    "BarrierReadySize",
    inputs=[_HANDLE],
    outputs=["size: int32"],
    shape_fn=scalar_shape,
    doc="How many tuples are complete.",
)
register_op(
    "BarrierIncompleteSize",
    inputs=[_HANDLE],
    outputs=["size: int32"],
    shape_fn=scalar_shape,
    doc="How many keys still lack components.",
)
