"""`tf.user_ops.my_fact`: the op that shows users how an op of their own looks."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unknown_shapes

register_op(
    "Fact",
    outputs=["fact: string"],
    shape_fn=unknown_shapes,
    doc="A fact about factorials.",
)


@export("user_ops.my_fact")
def my_fact() -> Any:
    """A fact about factorials: a string scalar."""
    return apply_op("Fact")
