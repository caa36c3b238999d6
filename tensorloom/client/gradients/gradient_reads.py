"""How many operations TensorFlow 1.15 makes for what a gradient reads.

The gradient of a branch reads tensors of the branch where they are. That of a loop has
them on stacks, one for each tensor, to which the forward loop pushes the value of each
iteration; what comes from outside all loops comes in anew. See
framework/graph/classic_node_counts.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.tensor import Tensor

# Const, StackV2, Enter and StackPushV2 forward; Enter and StackPopV2 backward.
_STACK = 6

_SHAPE_OPS = frozenset(["Shape", "Size", "Rank"])


class Reads:
    """What one gradient graph has read.

    Args:
      graph: the `GradientGraph`.
      outer: of the gradient graph that it is built in, if any.
      is_loop: it is of a loop, not of a branch.
    """

    def __init__(self, graph: Any, outer: Reads | None, is_loop: bool) -> None:
        self._graph = graph
        self._outer = outer
        self._is_loop = is_loop
        self._counted: set[Tensor] = set()
        self._shapes: set[Tensor] = set()  # that TensorFlow makes in the forward graph
        self._syncs: set[str] = set()
        enclosing = outer.loop if outer is not None else None
        #: Of the innermost loop's gradient.
        self.loop: Reads | None = self if is_loop else enclosing
        # How many loops there are around that of this gradient.
        self._depth: int = (
            1 + enclosing._depth if is_loop and enclosing is not None else 0
        )

    def is_forward_shape(self, op_type: str, inputs: Sequence[Tensor]) -> bool:
        """Whether TensorFlow makes the op in the forward loop, and keeps its result."""
        return (
            op_type in _SHAPE_OPS
            and self.loop is not None
            and inputs[0]._op._graph is self._graph.forward
        )

    def add_shapes(self, tensors: Sequence[Tensor]) -> None:
        """Notes the results of such an op."""
        self._shapes.update(tensors)

    def count(self, tensors: Sequence[Tensor]) -> int:
        """The nodes that it takes to read what was not read before."""
        nodes = 0
        for tensor in tensors:
            if tensor in self._counted:
                continue
            is_forward = tensor._op._graph is self._graph.forward
            if is_forward or tensor in self._shapes:
                self._counted.add(tensor)
                nodes += self._nodes_for(tensor, is_forward)
        return nodes

    def _nodes_for(self, tensor: Tensor, is_forward: bool) -> int:
        if self.loop is None:
            return 0
        if is_forward:
            if tensor._op._type == "Const":
                return 1
            source = self._graph.forward.original_of(tensor)
            if source is not None:
                if self._is_loop:
                    return 1 + self._nodes_outside(source)  # Enter
                if self._outer is not None and self._outer.is_from_outside(source):
                    return self._outer.count([source])
        return self.stack()

    def is_from_outside(self, tensor: Tensor) -> bool:
        """Whether a tensor of the forward graph comes from outside the loop."""
        source = self._graph.forward.original_of(tensor)
        if self._is_loop or source is None:
            return source is not None
        return self._outer is not None and self._outer.is_from_outside(source)

    def _nodes_outside(self, source: Tensor) -> int:
        return self._outer.count([source]) if self._outer is not None else 0

    def stack(self) -> int:
        """The nodes that keep a tensor of the forward graph for the gradient."""
        branches = 0  # between the loop and this gradient
        reads: Reads | None = self
        while reads is not None and not reads._is_loop:
            branches += 1
            reads = reads._outer
        assert reads is not None
        # An Enter for each loop around, twice; Switch, once more where it is popped.
        nodes = _STACK + 2 * reads._depth + reads._sync("b_sync")
        if branches:
            nodes += branches + 1 + reads._sync("f_sync")
        enclosing = reads._enclosing_branches()
        if enclosing:
            nodes += enclosing
            # Where it is popped: Switch, and once an Enter for its predicate.
            nodes += 0 if branches else 1 + reads._sync("predicate")
        return nodes

    def _enclosing_branches(self) -> int:
        """In how many branches a loop is, up to the next loop."""
        branches = 0
        reads = self._outer
        while reads is not None and not reads._is_loop:
            branches += 1
            reads = reads._outer
        return branches

    def predicate(self) -> int:
        """The nodes that keep the predicate of a branch in the forward graph."""
        return self.stack() if self.loop is not None else 0

    def zeros(self, tensor: Tensor) -> int:
        """The nodes for the gradient of `tensor` where the other branch runs."""
        if self.loop is None:
            return 5  # Switch, Identity, Shape, Const, Fill
        if tensor.shape.is_fully_defined():
            return 2  # Const, Switch
        # Switch, Shape; its stack, with a Switch where it is popped; Const, Fill.
        nodes = 2 + _STACK + 2 * self.loop._depth + 1 + 2
        return nodes + self.loop._sync("b_sync") + self.loop._sync("f_sync")

    def _sync(self, kind: str) -> int:
        """A ControlTrigger, once for the loop."""
        is_serial = self._graph.op._attrs.get("parallel_iterations") == 1
        if kind in self._syncs or (kind == "b_sync" and is_serial):
            return 0
        self._syncs.add(kind)
        return 1
