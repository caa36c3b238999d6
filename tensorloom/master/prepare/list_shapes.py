"""Infers the shape of a tensor list's elements from what is pushed to it.

The gradient of a loop pops the values that the forward loop pushed. The client knows
their shapes only as far as it knows the shapes in the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tensorloom.framework.registry.shape_inference import HandleData
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.prepare.array_shapes import common_shape, refined

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.graph.node_shapes import Handles


@dataclass(frozen=True, slots=True)
class _ListData(HandleData):
    """What a list stands for whose elements are all known to have been put there."""

    is_empty: bool
    # What the list itself says at run time, where nobody learns from what is pushed.
    declared: TensorShape

    def declared_shape(self) -> TensorShape:
        return self.declared


def note_list(node: Node, shapes: Sequence[TensorShape], handles: Handles) -> None:
    """Adds what is known of the list that a node makes.

    Lists whose elements may never have been set are not followed: those are zeros of
    whatever shape their reader asks for.

    Args:
      node: a node whose shapes have been inferred.
      shapes: of its inputs.
      handles: what is known of the handles and lists around it.
    """
    declared = handles.get((node.name, 0))
    if node.op == "EmptyTensorList" and declared is not None:
        made = _ListData(declared.dtype, declared.shape, True, declared.shape)
    elif node.op == "TensorListFromTensor" and declared is not None:
        dims = shapes[0].dims_tuple
        slices = None if dims is None else TensorShape.of(dims[1:])
        shape = refined(declared.shape, slices)
        made = _ListData(declared.dtype, shape, False, declared.shape)
    elif node.op == "TensorListPushBack":
        given = handles.get(node.inputs[0])
        if not isinstance(given, _ListData):
            return
        join = refined if given.is_empty else common_shape
        shape = join(given.shape, shapes[1])
        made = _ListData(given.dtype, shape, False, given.declared)
    else:
        return
    handles[node.name, 0] = made


def common_data(
    first: HandleData | None, second: HandleData | None
) -> HandleData | None:
    """What a loop variable stands for that is `first`, and `second` after a look.

    Other handles than lists stay what they are.
    """
    if not isinstance(first, _ListData) or first == second:
        return first
    if not isinstance(second, _ListData):
        return None
    declared = common_shape(first.declared, second.declared)
    if first.is_empty or second.is_empty:
        return replace(second if first.is_empty else first, declared=declared)
    shape = common_shape(first.shape, second.shape)
    if shape is first.shape and declared is first.declared:
        return first  # itself: shapes with unknown sizes are never equal
    return replace(first, shape=shape, declared=declared)
