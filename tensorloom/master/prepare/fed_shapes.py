"""Steps compiled for the shapes that are fed.

before: _arg_x = _Arg [?, 8];   s = Shape(_arg_x);   y = MatMul(_arg_x, w) [?, 16]
after (x fed with [32, 8]):
        _arg_x = _Arg [32, 8];  s = Const [32, 8];   y = MatMul(_arg_x, w) [32, 16]

A placeholder's batch size is mostly unknown to the graph, but mostly the same in all
steps. What the passes fold and what lives in host memory follows from static shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.called_functions import (
    called_functions,
    names_called,
)
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.garbage import collection_paused
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.master.prepare.shape_propagation import with_fitting_shapes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.interfaces import PreparedStep, StepContext
    from tensorloom.master.optimize import Evaluate

# By the index of a feed.
FedShapes = Mapping[int, tuple[int, ...]]


def open_feeds(pruned: GraphIR) -> list[int]:
    """The indices of the feeds whose shapes the graph does not tell."""
    return [
        node.attrs["index"]
        for node in pruned.nodes.values()
        if node.op == "_Arg" and _is_open(node)
    ]


def _is_open(argument: Node) -> bool:
    dtype = argument.output_types[0]
    if not is_torch_type(dtype) and dtype.name != "string":
        return False
    shapes = argument.output_shapes
    return shapes is None or not shapes[0].is_fully_defined()


def with_any_fed_shapes(pruned: GraphIR) -> GraphIR:
    """A pruned graph that says nothing of the shapes of its feeds.

    Nor of what is computed of them, but for what their ops tell of any input.
    """
    nodes = pruned.nodes.values()
    fed = {node.name for node in nodes if node.op == "_Arg"}
    found, before = fed, -1
    while len(found) != before:  # a loop's edges lead back
        before = len(found)
        found = found | {
            node.name for node in nodes if any(name in found for name, _ in node.inputs)
        }
    return infer_missing(
        pruned.with_nodes(
            [
                node.replace(output_shapes=(UNKNOWN,))
                if node.name in fed
                else node.replace(output_shapes=None)
                if node.name in found
                else node
                for node in nodes
            ]
        )
    )


def with_fed_shapes(pruned: GraphIR, shapes: FedShapes) -> GraphIR:
    """A pruned graph whose feeds have these shapes."""
    return pruned.with_nodes(
        [
            node.replace(output_shapes=(TensorShape.of(shapes[node.attrs["index"]]),))
            if node.op == "_Arg" and node.attrs["index"] in shapes
            else node
            for node in pruned.nodes.values()
        ]
    )


def with_shapes_of_feeds(graph: GraphIR, evaluate: Evaluate) -> GraphIR | None:
    """The graph with all that follows from the shapes of its feeds.

    In functions too, where one node alone calls them. None if the shapes do not fit.
    """
    return with_fitting_shapes(graph, _called_once(graph), evaluate)


def _called_once(graph: GraphIR) -> frozenset[str]:
    if not graph.functions:
        return frozenset()
    counts = Counter(names_called(graph.nodes.values(), graph.functions))
    for function in called_functions(graph).values():
        counts.update(names_called(function.nodes.values(), graph.functions))
        counts[function.gradient] += 1
    return frozenset(name for name, count in counts.items() if count == 1)


class ShapedStep:
    """A step compiled for the shapes that are fed first, and once more for any other.

    Which of both runs depends on the shapes alone: equal feeds give equal results,
    rounding included. Implements `PreparedStep`.
    """

    def __init__(
        self,
        compile_for: Callable[[FedShapes], PreparedStep],
        feeds: Sequence[int],
    ) -> None:
        """Makes a step.

        Args:
          compile_for: compiles it; for all shapes if it is given none.
          feeds: indices of those feeds whose shapes are not known.
        """
        self._compile_for = compile_for
        self._feeds = feeds
        self._lock = concurrency.Lock()
        self._any: PreparedStep | None = None
        # Shapes and step together: other threads may look at any time.
        self._first: tuple[list[tuple[int, tuple[int, ...]]], PreparedStep] | None
        self._first = None

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; see `PreparedStep.run`."""
        chosen = None
        if self._first is not None:
            shapes, chosen = self._first
            for index, shape in shapes:
                if feeds[index].shape != shape:
                    chosen = self._any
                    break
        if chosen is None:
            chosen = self._compiled(feeds)
        return chosen.run(feeds, step)

    def compile_for_any(self) -> PreparedStep:
        """The form of the step for all shapes; compiled now if no feed asked for it."""
        with self._lock, collection_paused():
            if self._any is None:
                self._any = self._compile_for({})
            return self._any

    def _compiled(self, feeds: Sequence[Any]) -> PreparedStep:
        shapes = [(index, tuple(feeds[index].shape)) for index in self._feeds]
        with self._lock, collection_paused():
            if self._first is None:
                self._first = shapes, self._compile_for(dict(shapes))
            if shapes == self._first[0]:
                return self._first[1]
            if self._any is None:
                self._any = self._compile_for({})
            return self._any
