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

import enum
import os
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.node_count import NodeCount

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

# The tensors from outside that are known in a branch, or in a loop.
Frame = set["Tensor"]


class Form(enum.Enum):
    """What `tf.cond` and `tf.while_loop` build where TensorFlow 1.15 has a choice."""

    CLASSIC = enum.auto()  # TensorFlow's nodes
    COUNTED = enum.auto()  # functions, counted as TensorFlow's nodes
    FUNCTIONS = enum.auto()  # functions, as after `tf.enable_control_flow_v2()`


# Of loops with gradients, building and the first step take a fifth longer in classic
# nodes: they are more, and the master makes functions of them again.
_DEFAULT = Form.COUNTED


def _from_environment() -> Form:
    """What TensorFlow's variable of the environment asks for, 0 or 1."""
    asked = os.environ.get("TF_ENABLE_CONTROL_FLOW_V2")
    if asked is None:
        return _DEFAULT
    return Form.CLASSIC if asked == "0" else Form.FUNCTIONS


_form = _from_environment()


class Tally:
    """The operations of one `cond` or loop that is built in `graph`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.is_on = counts_classic(graph)
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


def choose(form: Form) -> None:
    """Says what is built from now on, in all graphs."""
    global _form
    _form = form


def chosen() -> Form:
    """What is built at present."""
    return _form


def prefers_functions() -> bool:
    """Whether TensorFlow would make functions in all graphs."""
    return _form is Form.FUNCTIONS


def makes_classic(graph: Graph) -> bool:
    """Whether control flow of classic nodes is built in the graph."""
    return (
        _form is Form.CLASSIC and graph.builds_classic and not graph.building_function
    )


def counts_classic(graph: Graph) -> bool:
    """Whether functions that are built in the graph count as classic nodes."""
    return graph.builds_classic and _form is not Form.FUNCTIONS


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
