"""Infers the shape of a TensorArray's elements from everything that is written to it.

The client knows an element's shape only as far as it knows the shapes that are written:
of a `scan` over fed data, only that there is a batch. The same holds for the stacks in
which classic loops keep values for their gradients. Stacks of shapes that are the same
in every iteration need no push and pop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.registry.shape_inference import HandleData
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.graph.node_shapes import Handles

_Array = np.ndarray[Any, Any]

_MAX_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class _ArrayData(HandleData):
    """What the handle of an array, or of its gradients, stands for."""

    array: str


class ArrayShapes:
    """The element shapes of the arrays and stacks of a graph and its functions.

    Inference runs in rounds: what it notes in one is known in the next. All that is
    noted is true of every step, so it may stop after any round.
    """

    def __init__(self) -> None:
        self._known: dict[str, TensorShape] = {}
        # By array, then by the node (of a function, or of the graph) that writes.
        self._written: dict[str, dict[tuple[str, str], TensorShape]] = {}
        # The same of values that stacks hold, where all are equal.
        self._values: dict[str, _Array] = {}
        self._pushed: dict[str, dict[tuple[str, str], _Array | None]] = {}
        # Somebody unknown may write to these.
        self._escaped: set[str] = set()
        self._rounds = 0

    def note(
        self,
        node: Node,
        function: str,
        shapes: Sequence[TensorShape],
        handles: Handles,
    ) -> None:
        """Looks at a node whose shapes have been inferred.

        Args:
          node: the node.
          function: whose body it is in; empty for the graph.
          shapes: of its inputs.
          handles: what is known of the handles around it; its own is added.
        """
        made = _MAKERS.get(node.op)
        if made is not None:
            array = f"{function}:{node.name}"
            shape = self._known.get(array, UNKNOWN)
            if "element_shape" in node.attrs:
                shape = refined(node.attrs["element_shape"], shape)
            handles[node.name, 0] = _ArrayData(node.attrs[made], shape, array)
            self._written.setdefault(array, {})
            return
        if not self._written:
            return
        for edge in node.inputs:
            data = handles.get(edge)
            if isinstance(data, _ArrayData):
                self._note_use(node, function, shapes, handles, data)

    def _note_use(
        self,
        node: Node,
        function: str,
        shapes: Sequence[TensorShape],
        handles: Handles,
        data: _ArrayData,
    ) -> None:
        if node.op == "TensorArrayGradV3":
            # An array of its own, whose elements have the shapes of this one's.
            handles[node.name, 0] = HandleData(data.dtype, data.shape)
        elif node.op in _WRITES:
            written = _element_of(node, shapes)
            self._written[data.array][function, node.name] = written
        elif node.op not in _READS and not any(
            handles.get((node.name, index)) is data
            for index in range(len(node.output_types))
        ):
            self.lose(data)

    def value_of_stack(
        self, node: Node, function: str, handles: Handles, pushed: _Array | None
    ) -> _Array | None:
        """The value that a stack holds in every place; None if there is no such one.

        Args:
          node: one that pushes or pops.
          function: whose body it is in. Only loops are known to pop as often as they
            push: elsewhere a stack may be empty, which is an error.
          handles: what is known of the handles around it.
          pushed: the value that the node pushes, if that is known.
        """
        data = handles.get(node.inputs[0])
        if not isinstance(data, _ArrayData):
            return None
        if not function or node.op == "StackPushV2":
            values = self._pushed.setdefault(data.array, {})
            values[function, node.name] = pushed if function else None
        return self._values.get(data.array)

    def lose(self, data: HandleData | None) -> None:
        """Notes that a handle goes where nobody follows it."""
        if isinstance(data, _ArrayData):
            self._escaped.add(data.array)

    def has_learned(self) -> bool:
        """Whether another round would know more than the last."""
        known = {
            array: reduce(common_shape, shapes.values())
            for array, shapes in self._written.items()
            if shapes and array not in self._escaped
        }
        values = {
            stack: first
            for stack, pushed in self._pushed.items()
            if stack not in self._escaped
            and (first := _common_value(pushed.values())) is not None
        }
        # By their sizes: shapes with unknown ones are never equal.
        is_old = _dims(known) == _dims(self._known) and values.keys() <= (
            self._values.keys()
        )
        if is_old or self._rounds == _MAX_ROUNDS:
            return False
        self._rounds += 1
        self._known, self._written = known, {}
        self._values, self._pushed = values, {}
        return True


def _common_value(pushed: Iterable[_Array | None]) -> _Array | None:
    """The one value that is pushed, by every node."""
    first, *others = pushed
    if first is None:
        return None
    for other in others:
        if other is not first and (
            other is None
            or other.shape != first.shape
            or other.tobytes() != first.tobytes()
        ):
            return None
    return first


# By the ops that make an array, the attr that says what it holds.
_MAKERS: Final = {"TensorArrayV3": "dtype", "StackV2": "elem_type"}


_WRITES: Final = frozenset(
    [
        *("TensorArrayWriteV3", "TensorArrayScatterV3", "TensorArraySplitV3"),
        "StackPushV2",
    ]
)
_READS: Final = frozenset(
    [
        *("TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayConcatV3"),
        *("TensorArraySizeV3", "TensorArrayCloseV3", "TensorArrayGradWithShape"),
        *("StackPopV2", "StackCloseV2"),
    ]
)


def _element_of(node: Node, shapes: Sequence[TensorShape]) -> TensorShape:
    """The shape of the elements that a node writes."""
    if node.op == "StackPushV2":
        return shapes[1]
    if node.op == "TensorArrayWriteV3":
        return shapes[2]
    dims = shapes[2 if node.op == "TensorArrayScatterV3" else 1].dims_tuple
    if not dims:
        return UNKNOWN
    if node.op == "TensorArrayScatterV3":
        return TensorShape.of(dims[1:])
    return TensorShape.of((None, *dims[1:]))


def _dims(
    shapes: Mapping[str, TensorShape],
) -> dict[str, tuple[int | None, ...] | None]:
    return {array: shape.dims_tuple for array, shape in shapes.items()}


def refined(told: TensorShape, learned: TensorShape | None) -> TensorShape:
    """What either says; where they contradict each other, the step will say so."""
    if learned is None or not told.is_compatible_with(learned):
        return told
    return told.merge_with(learned)


def common_shape(first: TensorShape, second: TensorShape) -> TensorShape:
    """What both say; the first itself where it says no more than that."""
    common = first.most_specific_compatible_shape(second)
    return first if common.dims_tuple == first.dims_tuple else common
