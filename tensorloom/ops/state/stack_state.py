"""Stacks: last in, first out, within one step. Classic loops save values in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import no_outputs, unknown_shapes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _old_handle_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((2,))


def _push_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(1)


def _pop_shape(c: InferenceContext) -> TensorShape:
    # Told by passes that have seen every push; a client's graph says nothing.
    stack = c.handle_data(0)
    return UNKNOWN if stack is None else stack.shape


register_op(
    "StackV2",
    inputs=["max_size: int32"],
    outputs=["handle: resource"],
    attrs=["elem_type: type", "stack_name: string = ''"],
    # So TensorFlow says of its handles that were pairs of strings once.
    shape_fn=_old_handle_shape,
    stateful=True,
    doc="A new stack, of at most max_size elements unless that is negative.",
)
register_op(
    "StackPushV2",
    inputs=["handle: resource", "elem: T"],
    outputs=["output: T"],
    attrs=["T: type", "swap_memory: bool = false"],
    shape_fn=_push_shape,
    stateful=True,
    doc="Pushes an element and passes it on.",
)
register_op(
    "StackPopV2",
    inputs=["handle: resource"],
    outputs=["elem: elem_type"],
    attrs=["elem_type: type"],
    shape_fn=_pop_shape,
    stateful=True,
    doc="Takes the element that was pushed last.",
)
register_op(
    "StackCloseV2",
    inputs=["handle: resource"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Deletes the stack.",
)

# Those of old have a reference to a string as their handle, and no limit.
register_op(
    "Stack",
    outputs=["handle: Ref(string)"],
    attrs=["elem_type: type", "stack_name: string = ''"],
    shape_fn=_old_handle_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A new stack.",
)
register_op(
    "StackPush",
    inputs=["handle: Ref(string)", "elem: T"],
    outputs=["output: T"],
    attrs=["T: type", "swap_memory: bool = false"],
    shape_fn=_push_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Pushes an element and passes it on.",
)
register_op(
    "StackPop",
    inputs=["handle: Ref(string)"],
    outputs=["elem: elem_type"],
    attrs=["elem_type: type"],
    shape_fn=unknown_shapes,
    gradient=NOT_DIFFERENTIABLE,
    doc="Takes the element that was pushed last.",
)
register_op(
    "StackClose",
    inputs=["handle: Ref(string)"],
    shape_fn=no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    doc="Deletes the stack.",
)
