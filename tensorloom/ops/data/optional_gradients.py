"""Gradients of optionals, in which TensorFlow's `If` passes intermediates on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("OptionalFromValue")
def _from_value_grad(op: Operation, grad: Tensor) -> list[Any]:
    return list(
        apply_op(
            "OptionalGetValue",
            optional=grad,
            output_types=[t.dtype.base_dtype for t in op.inputs],
            output_shapes=[t.shape for t in op.inputs],
        )
    )


@RegisterGradient("OptionalGetValue")
def _get_value_grad(op: Operation, *grads: Any) -> Any:
    return apply_op("OptionalFromValue", components=list(grads))
