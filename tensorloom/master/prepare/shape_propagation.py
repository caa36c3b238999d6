"""Static shapes in a whole graph, through its loops, branches and calls.

A client does not know what shape a loop variable keeps, so a GraphDef has none; but
where the body gives the shape that it gets, all iterations have it. The worker needs
that to keep counters and other small values in host memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.functions.functional_op_types import (
    BRANCHES,
    CALLS,
    CASES,
    LOOPS,
)
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.graph.node_shapes import Handles, fitting_shapes
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.master.optimize.node_facts import is_pure
from tensorloom.master.optimize.simplify import shape_values
from tensorloom.master.prepare.array_shapes import ArrayShapes, common_shape, refined
from tensorloom.master.prepare.list_shapes import common_data, note_list

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import HandleData
    from tensorloom.master.optimize import Evaluate

    Values = dict[tuple[str, int], np.ndarray[Any, Any]]

# Shapes, axes, sizes: what has more elements tells nothing about a shape.
_MAX_ELEMENTS: Final = 64
# A dim that changes is unknown after one more look, and then the rank may change.
_MAX_LOOKS: Final = 5


def with_shapes(graph: GraphIR, own: Container[str]) -> GraphIR:
    """The graph with shapes inferred again where they are not fully known.

    Args:
      graph: in topological order.
      own: the functions that may be given shapes, each called by one node alone.
    """
    return _infer_graph(graph, own, None)[0]


def with_fitting_shapes(
    graph: GraphIR, own: Container[str], evaluate: Evaluate
) -> GraphIR | None:
    """The graph with all that follows from the shapes of its arguments.

    Args:
      graph: in topological order.
      own: the functions that may be given shapes, each called by one node alone.
      evaluate: computes what is known ahead, for the shapes that depend on it.

    Returns:
      None where shapes do not fit: kernels rely on shapes that are known, and only
      those that do not know them tell what is wrong.
    """
    inferred, fits = _infer_graph(graph, own, evaluate)
    return inferred if fits else None


def _infer_graph(
    graph: GraphIR, own: Container[str], evaluate: Evaluate | None
) -> tuple[GraphIR, bool]:
    arrays = ArrayShapes()
    while True:
        inference = _Inference(graph.functions, own, evaluate, arrays)
        known = _Known()
        known.refined.update(n.name for n in graph.nodes.values() if n.op == "_Arg")
        inference.infer(graph.nodes.values(), known)
        if not arrays.has_learned():
            found = GraphIR(
                known.nodes, inference.functions, graph.producer, graph.min_consumer
            )
            return found, not inference.misfits


@dataclass(slots=True)
class _Known:
    """What is known of a graph's or a body's nodes so far."""

    nodes: dict[str, Node] = field(default_factory=dict)
    handles: Handles = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    # Nodes of which more is known than their attrs say.
    refined: set[str] = field(default_factory=set)

    def shape_of(self, edge: tuple[str, int]) -> TensorShape:
        node = self.nodes.get(edge[0])
        if node is None or node.output_shapes is None:
            return UNKNOWN
        return node.output_shapes[edge[1]]

    def shapes_of(self, node: Node) -> list[TensorShape]:
        """The shapes of a node's inputs."""
        return [self.shape_of(edge) for edge in node.inputs]


@dataclass(frozen=True, slots=True)
class _Given:
    """What is known of the arguments or the results of a function."""

    shapes: Sequence[TensorShape]
    handles: Sequence[HandleData | None]
    values: Sequence[np.ndarray[Any, Any] | None]

    def without_first(self) -> _Given:
        return _Given(self.shapes[1:], self.handles[1:], self.values[1:])

    def same_as(self, other: _Given) -> bool:
        return _are_same(self.shapes, other.shapes) and self.handles == other.handles


class _Inference:
    def __init__(
        self,
        functions: Mapping[str, FunctionIR],
        own: Container[str],
        evaluate: Evaluate | None,
        arrays: ArrayShapes,
    ) -> None:
        self.original = functions
        self.functions = dict(functions)
        self.own = own
        self.evaluate = evaluate
        self.arrays = arrays
        # Functions with nodes whose inputs do not fit; empty for the graph.
        self.misfits: set[str] = set()

    def infer(self, nodes: Iterable[Node], known: _Known, function: str = "") -> None:
        """Notes the nodes, of the graph or of a function, with their shapes."""
        for node in nodes:
            if self._is_open(node, known):
                node = self._inferred(node, known, function)
            known.nodes[node.name] = node
            if not self._calls(node):
                shapes = known.shapes_of(node)
                self.arrays.note(node, function, shapes, known.handles)
                note_list(node, shapes, known.handles)
            if self.evaluate is not None and node.inputs:
                if node.op in _OF_STACKS:
                    self._note_stack(node, known, function)
                else:
                    self._note_values(node, known, self.evaluate)

    def _calls(self, node: Node) -> bool:
        return node.op in _CALLING or node.op in self.functions

    def _is_open(self, node: Node, known: _Known) -> bool:
        """Whether there is something to find out.

        Shapes, what a handle is for, or whether what was learned of the inputs fits.
        """
        if self._calls(node):
            return True
        if any(name in known.refined for name, _ in node.inputs):
            return True
        shapes, types = node.output_shapes, node.output_types
        if shapes is None or dtypes.resource in types or dtypes.variant in types:
            return bool(types)
        return not all(shape.is_fully_defined() for shape in shapes)

    def _inferred(self, node: Node, known: _Known, function: str) -> Node:
        shapes = fitting_shapes(node, known.nodes, known.handles, known.values)
        old = node.output_shapes or (UNKNOWN,) * len(node.output_types)
        if shapes is None:
            self.misfits.add(function)
            shapes = old
        if self._calls(node):
            shapes = self._through_functions(node, known) or shapes
        found = tuple([refined(o, new) for o, new in zip(old, shapes, strict=True)])
        if not _are_same(found, old):
            known.refined.add(node.name)
        return node.replace(output_shapes=found)

    @staticmethod
    def _note_values(node: Node, known: _Known, evaluate: Evaluate) -> None:
        values: Sequence[Any] | None
        if node.op in shape_values.OPS:
            values = shape_values.value_of_shapes(node, known.shapes_of(node))
        elif node.op == "TensorArraySizeV3":
            value_of = partial(_value_of, known)
            values = shape_values.size_of_array(node, known.nodes, value_of)
        else:
            given = []
            for edge in node.inputs:
                value = _value_of(known, edge)
                if value is None or value.size > _MAX_ELEMENTS:
                    return
                given.append(value)
            if not _may_carry_shapes(node):
                return
            values = evaluate(node, given)
        if values is None or len(values) != len(node.output_types):
            return
        arrays = [np.asarray(value) for value in values]
        for index, array in enumerate(arrays):
            known.values[node.name, index] = array
        told = tuple([TensorShape.of(array.shape) for array in arrays])
        if not _are_same(told, node.output_shapes or ()):
            known.nodes[node.name] = node.replace(output_shapes=told)
            known.refined.add(node.name)

    def _note_stack(self, node: Node, known: _Known, function: str) -> None:
        """Nothing is pushed or popped where it is the same in every iteration."""
        pushed = _value_of(known, node.inputs[1]) if len(node.inputs) > 1 else None
        value = self.arrays.value_of_stack(node, function, known.handles, pushed)
        if value is None:
            return
        if node.op == "StackPushV2":
            attrs = {"T": node.attrs["T"]}
            node = node.replace(op="Identity", inputs=node.inputs[1:], attrs=attrs)
        else:
            attrs = {"dtype": node.output_types[0], "value": value}
            shapes = (TensorShape.of(value.shape),)
            node = node.replace(
                op="Const", inputs=(), attrs=attrs, output_shapes=shapes
            )
            known.refined.add(node.name)
        known.nodes[node.name] = node

    # --- functions -------------------------------------------------------------------

    def _through_functions(
        self, node: Node, known: _Known
    ) -> Sequence[TensorShape] | None:
        """The shapes that the node's functions give; None where that is not told."""
        names = _functions_of(node)
        handles = [known.handles.get(edge) for edge in node.inputs]
        values = [_value_of(known, edge) for edge in node.inputs]
        given = _Given(known.shapes_of(node), handles, values)
        if node.op in BRANCHES:
            given = given.without_first()
        if not all(self._may_follow(name, given) for name in names):
            for handle in handles:
                self.arrays.lose(handle)
            return None
        if node.op in LOOPS:
            always = self._loop(names[0], names[1], given)
            for index, handle in enumerate(always.handles):
                if handle is not None:
                    known.handles[node.name, index] = handle
            shapes = always.shapes
        else:
            shapes = _common([self._call(name, given).shapes for name in names])
        return shapes if len(shapes) == len(node.output_types) else None

    def _may_follow(self, name: str, given: _Given) -> bool:
        """Whether a function is called by one node, and as it wants to be.

        If it is not what it wants, the step will say why.
        """
        function = self.original.get(name)
        if function is None or function.problem is not None or name not in self.own:
            return False
        return len(function.arg_names) == len(given.shapes)

    def _loop(self, body: str, test: str, given: _Given) -> _Given:
        """What is known of the variables in all iterations."""
        count = len(given.shapes)
        always = _Given(given.shapes, given.handles, [None] * count)
        for look in range(_MAX_LOOKS):
            results = self._call(body, always, is_body=True)
            if len(results.shapes) != count:
                return _Given((), (), ())
            pairs = zip(always.handles, results.handles, strict=True)
            common = _Given(
                _common([always.shapes, results.shapes]),
                [common_data(a, b) for a, b in pairs],
                always.values,
            )
            if common.same_as(always):
                break
            if look >= _MAX_LOOKS - 2:
                handles = [common_data(handle, None) for handle in common.handles]
                common = _Given([UNKNOWN] * count, handles, always.values)
            always = common
        self._call(test, always)
        return always

    def _call(self, name: str, given: _Given, is_body: bool = False) -> _Given:
        """What is known of the results; the function is noted with what is inside."""
        # Not what an earlier look noted: that may have been too definite.
        function = self.original[name]
        self.misfits.discard(name)
        known = _Known()
        shapes = list(given.shapes)
        if function.arg_shapes is not None:
            pairs = zip(function.arg_shapes, shapes, strict=True)
            shapes = [refined(told, found) for told, found in pairs]
        for index, arg in enumerate(function.arg_names):
            dtype, shape = function.arg_types[index], shapes[index]
            known.nodes[arg] = Node(arg, "_Arg", (), (), "", {}, (dtype,), (shape,))
            known.refined.add(arg)
            handle, value = given.handles[index], given.values[index]
            if handle is not None:
                known.handles[arg, 0] = handle
            if value is not None:
                known.values[arg, 0] = value
        self.infer(function.nodes.values(), known, name)
        self.functions[name] = replace(
            function,
            nodes={name: known.nodes[name] for name in function.nodes},
            arg_shapes=tuple(shapes),
        )
        for index, edge in enumerate(function.returns):
            # Only of a loop the handles that stay what they are are followed further.
            is_argument = edge[0] in function.arg_names[index : index + 1]
            if not (is_body and is_argument):
                self.arrays.lose(known.handles.get(edge))
        return _Given(
            [known.shape_of(edge) for edge in function.returns],
            [known.handles.get(edge) for edge in function.returns],
            [None] * len(function.returns),
        )


_CALLING: Final = LOOPS | BRANCHES | CALLS
_OF_STACKS: Final = frozenset(["StackPushV2", "StackPopV2"])


def _functions_of(node: Node) -> list[str]:
    """The functions that a node calls; of a loop the body first."""
    attrs = node.attrs
    if node.op in LOOPS:
        return [attrs["body"].name, attrs["cond"].name]
    if node.op in CASES:
        return [branch.name for branch in attrs["branches"]]
    if node.op in BRANCHES:
        return [attrs["then_branch"].name, attrs["else_branch"].name]
    return [attrs["f"].name if node.op in CALLS else node.op]


def _are_same(first: Sequence[TensorShape], second: Sequence[TensorShape]) -> bool:
    return [s.dims_tuple for s in first] == [s.dims_tuple for s in second]


def _may_carry_shapes(node: Node) -> bool:
    """Whether a node outputs few integers or bools that depend on its inputs alone."""
    return (
        all(t.is_integer or t.is_bool for t in node.output_types)
        and all(map(_is_short, node.output_shapes or ()))
        and is_pure(node)
    )


def _is_short(shape: TensorShape) -> bool:
    """Whether there are few elements; of a vector whose length depends on values, too.

    Where that could be long, as of `Range`, the shape function tells it.
    """
    elements = shape.num_elements()
    return shape.rank == 1 if elements is None else elements <= _MAX_ELEMENTS


def _value_of(known: _Known, edge: tuple[str, int]) -> np.ndarray[Any, Any] | None:
    node = known.nodes.get(edge[0])
    if node is not None and node.op == "Const":
        value: np.ndarray[Any, Any] = node.attrs["value"]
        return value
    return known.values.get(edge)


def _common(shapes: Sequence[Sequence[TensorShape]]) -> Sequence[TensorShape]:
    """What all lists of shapes say."""
    first = shapes[0]
    for second in shapes[1:]:
        if len(second) != len(first):
            return ()
        first = [common_shape(a, b) for a, b in zip(first, second, strict=True)]
    return first
