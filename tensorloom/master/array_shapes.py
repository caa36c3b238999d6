"""What the elements of a TensorArray have in common, learned from all that is written.

The client knows an element's shape only as far as it knows the shape of what it writes;
a `scan` over fed data knows no more than that there is a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from tensorloom.framework.shape_inference import HandleData
from tensorloom.framework.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import Node
    from tensorloom.framework.node_shapes import Handles

_MAX_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class _ArrayData(HandleData):
    """What the handle of an array, or of its gradients, stands for."""

    array: str


class ArrayShapes:
    """The element shapes of the arrays of a graph and its functions.

    Inference runs in rounds: what it notes in one is known in the next. All that is
    noted is true of every step, so it may stop after any round.
    """

    def __init__(self) -> None:
        self._known: dict[str, TensorShape] = {}
        # By array, then by the node (of a function, or of the graph) that writes.
        self._written: dict[str, dict[tuple[str, str], TensorShape]] = {}
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
        if node.op == "TensorArrayV3":
            array = f"{function}:{node.name}"
            shape = refined(node.attrs["element_shape"], self._known.get(array))
            handles[node.name, 0] = _ArrayData(node.attrs["dtype"], shape, array)
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
        # By their sizes: shapes with unknown ones are never equal.
        before, now = _dims(self._known), _dims(known)
        if now == before or self._rounds == _MAX_ROUNDS:
            return False
        self._rounds += 1
        self._known, self._written = known, {}
        return True


_WRITES: Final = frozenset(
    ["TensorArrayWriteV3", "TensorArrayScatterV3", "TensorArraySplitV3"]
)
_READS: Final = frozenset(
    [
        *("TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayConcatV3"),
        *("TensorArraySizeV3", "TensorArrayCloseV3", "TensorArrayGradWithShape"),
    ]
)


def _element_of(node: Node, shapes: Sequence[TensorShape]) -> TensorShape:
    """The shape of the elements that a node writes."""
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
