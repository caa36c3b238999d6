"""Batching: the calls of many steps computed together, as a server wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    unknown_of_rank,
    unknown_shapes,
)
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_PLACE: Final = ("container: string = ''", "shared_name: string = ''")


def _batch_shape(c: InferenceContext) -> list[TensorShape]:
    batched = []
    for i in range(c.num_inputs):
        shape = c.with_rank_at_least(i, 1)
        known = shape.rank is not None
        rows = TensorShape.of((None,))
        batched.append(rows.concatenate(shape[1:]) if known else UNKNOWN)
    return [*batched, TensorShape.of((None, 3)), SCALAR]


def _unbatch_shape(c: InferenceContext) -> TensorShape:
    shape = c.input_shape(0)
    if not shape.rank:
        return UNKNOWN
    return TensorShape.of((None,)).concatenate(shape[1:])


def _unbatch_grad_shape(c: InferenceContext) -> TensorShape:
    rank = c.input_shape(2).rank
    return UNKNOWN if rank is None else unknown_of_rank(rank)


# --- gradients: they go the way of the rows back, through their own batches ----------


def _batch_grad(op: Operation, *grads: Tensor) -> list[Tensor]:
    return [
        apply_op(
            "Unbatch",
            batched_tensor=grad,
            batch_index=op.outputs[-2],
            id=op.outputs[-1],
            timeout_micros=op.get_attr("grad_timeout_micros"),
            shared_name=f"batch_gradient_{op.name}_{i}",
        )
        for i, grad in enumerate(grads[: len(op.inputs)])
    ]


def _unbatch_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    original, batch_index, batch_id = op.inputs
    batched = apply_op(
        "UnbatchGrad",
        original_input=original,
        batch_index=batch_index,
        grad=grad,
        id=batch_id,
        shared_name=f"unbatch_gradient_{op.name}",
    )
    return [batched, None, None]


register_op(
    "Batch",
    inputs=["in_tensors: T"],
    outputs=["batched_tensors: T", "batch_index: int64", "id: int64"],
    attrs=[
        "num_batch_threads: int",
        "max_batch_size: int",
        "max_enqueued_batches: int = 10",
        "batch_timeout_micros: int",
        "allowed_batch_sizes: list(int) = []",
        "grad_timeout_micros: int",
        *_PLACE,
        "batching_queue: string = ''",
        "T: list(type) >= 1",
    ],
    shape_fn=_batch_shape,
    gradient=_batch_grad,
    doc="Joins the rows of several steps; one of them gets the batch, the others none.",
)
register_op(
    "Unbatch",
    inputs=["batched_tensor: T", "batch_index: int64", "id: int64"],
    outputs=["unbatched_tensor: T"],
    attrs=["timeout_micros: int", *_PLACE, "T: type"],
    shape_fn=_unbatch_shape,
    gradient=_unbatch_grad,
    doc="Gives each step that was joined its rows of a result.",
)
register_op(
    "UnbatchGrad",
    inputs=["original_input: T", "batch_index: int64", "grad: T", "id: int64"],
    outputs=["batched_grad: T"],
    attrs=[*_PLACE, "T: type"],
    shape_fn=_unbatch_grad_shape,
    doc="Joins the gradients of several steps, for the one that got the batch.",
)
register_op(
    "BatchFunction",
    inputs=["in_tensors: Tin", "captured_tensors: Tcaptured"],
    outputs=["out_tensors: Tout"],
    attrs=[
        "f: func",
        "num_batch_threads: int",
        "max_batch_size: int",
        "batch_timeout_micros: int",
        "max_enqueued_batches: int = 10",
        "allowed_batch_sizes: list(int) = []",
        *_PLACE,
        "batching_queue: string = ''",
        "Tin: list(type) >= 1",
        "Tcaptured: list(type) >= 0",
        "Tout: list(type) >= 1",
        "low_priority_max_batch_size: int = 0",
        "low_priority_batch_timeout_micros: int = 0",
        "low_priority_allowed_batch_sizes: list(int) = []",
        "low_priority_max_enqueued_batches: int = 0",
        "mixed_priority_policy: {'low_priority_padding_with_max_batch_size', "
        "'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', "
        "'priority_merge'} = 'low_priority_padding_with_max_batch_size'",
        "batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', "
        "'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'",
        "enable_large_batch_splitting: bool = false",
    ],
    shape_fn=unknown_shapes,
    doc="Calls a function once for the rows of several steps.",
)
