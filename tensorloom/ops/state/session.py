"""Tensors that stay in the session from step to step, and mutexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    no_outputs,
    scalar_shape,
    unknown_shapes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _get_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(0, 0)
    return unknown_shapes(c)


def _delete_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(0, 0)
    return ()


for _op, _kind in (("GetSessionHandle", "string"), ("GetSessionHandleV2", "resource")):
    register_op(
        _op,
        inputs=["value: T"],
        outputs=[f"handle: {_kind}"],
        attrs=["T: type"],
        shape_fn=scalar_shape,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        doc="Keeps a tensor in the session; gives what it is found by.",
    )
register_op(
    "GetSessionTensor",
    inputs=["handle: string"],
    outputs=["value: dtype"],
    attrs=["dtype: type"],
    shape_fn=_get_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A tensor that the session keeps.",
)
register_op(
    "DeleteSessionTensor",
    inputs=["handle: string"],
    shape_fn=_delete_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Drops a tensor that the session keeps.",
)

register_op(
    "MutexV2",
    outputs=["resource: resource"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A mutex.",
)
register_op(
    "MutexLock",
    inputs=["mutex: resource"],
    outputs=["mutex_lock: variant"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Waits for a mutex and locks it, as long as its output is held.",
)
register_op(
    "ConsumeMutexLock",
    inputs=["mutex_lock: variant"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Unlocks a mutex, by holding its lock no longer.",
)
