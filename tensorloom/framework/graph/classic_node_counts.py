"""Counts the operations that TensorFlow 1.15 makes for `tf.cond` and `tf.while_loop`.

TensorFlow 1.15 builds branches and loops into the graph around them, between `Switch`,
`Merge`, `Enter`, `Exit` and `NextIteration` nodes, and each tensor from outside comes
in through a `Switch` or an `Enter` of its own. We build one `If` or `While` node over
functions. Seeds of random ops come from the number of operations made so far, in a
branch as after it, so that number goes here as TensorFlow's does:

- bodies share the `NodeCount` of the graph that they are built in;
- a `Frame` knows what is inside already, so that what comes in is counted once;
- what stands for TensorFlow's nodes is counted as those, by `Tally`.

In the functions of datasets and of `tf.function`, and after
`tf.enable_control_flow_v2()`, TensorFlow makes functions, too: nothing is done there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.node_count import NodeCount

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

# The tensors from outside that are known in a branch, or in a loop.
Frame = set["Tensor"]

# Whether `tf.enable_control_flow_v2()` was called.
_functions_are_wanted = False


class Tally:
    """The operations of one `cond` or loop that is built in `graph`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.is_on = builds_classic(graph)
        # Else a number that nobody reads.
        self._count = graph._node_count if self.is_on else NodeCount()

    def add(self, nodes: int) -> None:
        """TensorFlow makes so many nodes here."""
        self._count.value += nodes

    def made_as(self, nodes: int) -> AbstractContextManager[None]:
        """What we make inside counts as so many nodes."""
        return self._count.made_as(nodes)

    def frame(self) -> Frame | None:
        """What is known in a branch, or in a loop, that begins here."""
        return set() if self.is_on else None

    def bring(self, tensor: Tensor) -> None:
        """The tensor becomes known in the graph."""
        if self.is_on:
            count_entry(self._graph, tensor)


def want_functions(wanted: bool) -> None:
    """Says whether TensorFlow would make functions, from now on and in all graphs."""
    global _functions_are_wanted
    _functions_are_wanted = wanted


def functions_are_wanted() -> bool:
    """Whether TensorFlow would make functions in all graphs."""
    return _functions_are_wanted


def builds_classic(graph: Graph) -> bool:
    """Whether TensorFlow would build control flow of classic nodes in the graph."""
    return graph.builds_classic and not _functions_are_wanted


def mark_as_classic(op: Operation) -> None:
    """Notes that TensorFlow would have made classic nodes instead of `op`."""
    op.__dict__["_is_classic"] = True


def is_classic(op: Operation) -> bool:
    """Whether TensorFlow would have made classic nodes instead of `op`."""
    return "_is_classic" in op.__dict__


def count_entry(graph: Any, tensor: Tensor) -> None:
    """Counts the nodes by which TensorFlow's client brings a tensor into a graph.

    One for each branch or loop around, from the tensor's graph inwards, in which it is
    not known yet. A function on the way gets an argument for it.
    """
    while graph is not tensor._op._graph and graph.building_function:
        frame = graph.frame
        if frame is None:
            graph.capture(tensor)
            return
        if tensor in frame:
            return
        frame.add(tensor)
        graph._node_count.value += graph.entry_nodes
        graph = graph.outer_graph
