"""Conditional accumulators: gradients summed until enough workers have given theirs.

The classes are in `client/queues/accumulators.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unknown_shapes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.state.reference_variable import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.shape_inference import InferenceContext

_ATTRS = [
    f"dtype: {NUMBERS}",
    "shape: shape",
    "container: string = ''",
    "shared_name: string = ''",
    "reduction_type: {'MEAN', 'SUM'} = 'MEAN'",
]


def _handle_shape(c: InferenceContext) -> TensorShape:
    # Container and name; TensorFlow says so of the resource handle too.
    return TensorShape.of((2,))


def _step_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(1, 0)
    return ()


def _take_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(1, 0)
    return unknown_shapes(c)


def _register(prefix: str, handle: str, stateful: bool) -> None:
    register_op(
        f"{prefix}ConditionalAccumulator",
        outputs=[f"handle: {handle}"],
        attrs=_ATTRS,
        shape_fn=_handle_shape,
        stateful=True,
        doc="Sums gradients; who takes the sum waits until enough have come.",
    )
    register_op(
        f"{prefix}AccumulatorApplyGradient",
        inputs=[f"handle: {handle}", "local_step: int64", "gradient: dtype"],
        attrs=[f"dtype: {NUMBERS}"],
        shape_fn=_step_shape,
        stateful=stateful,
        doc="Adds a gradient, unless its step is older than the accumulator's.",
    )
    register_op(
        f"{prefix}AccumulatorTakeGradient",
        inputs=[f"handle: {handle}", "num_required: int32"],
        outputs=["average: dtype"],
        attrs=[f"dtype: {NUMBERS}"],
        shape_fn=_take_shape,
        stateful=stateful,
        doc="Waits for gradients, takes their mean or sum, and counts the step.",
    )
    register_op(
        f"{prefix}AccumulatorNumAccumulated",
        inputs=[f"handle: {handle}"],
        outputs=["num_accumulated: int32"],
        shape_fn=scalar_shape,
        stateful=stateful,
        doc="How many gradients have been added since the last was taken.",
    )
    register_op(
        f"{prefix}AccumulatorSetGlobalStep",
        inputs=[f"handle: {handle}", "new_global_step: int64"],
        shape_fn=_step_shape,
        stateful=stateful,
        doc="Sets the step of the accumulator.",
    )


_register("", "Ref(string)", stateful=False)
_register("Resource", "resource", stateful=True)

register_op(
    "SparseConditionalAccumulator",
    outputs=["handle: Ref(string)"],
    attrs=_ATTRS,
    shape_fn=_handle_shape,
    stateful=True,
    doc="Sums rows of gradients; who takes them waits until enough have come.",
)
register_op(
    "SparseAccumulatorApplyGradient",
    inputs=[
        "handle: Ref(string)",
        "local_step: int64",
        "gradient_indices: int64",
        "gradient_values: dtype",
        "gradient_shape: int64",
    ],
    attrs=[f"dtype: {NUMBERS}", "has_known_shape: bool"],
    shape_fn=_step_shape,
    doc="Adds rows of a gradient, unless its step is older than the accumulator's.",
)
register_op(
    "SparseAccumulatorTakeGradient",
    inputs=["handle: Ref(string)", "num_required: int32"],
    outputs=["indices: int64", "values: dtype", "shape: int64"],
    attrs=[f"dtype: {NUMBERS}"],
    shape_fn=_take_shape,
    doc="Waits for gradients, takes the mean or sum of each row, counts the step.",
)
