"""Computes nodes that depend on no feed and no state ahead of the steps.

before: a = Const[2];  b = Neg(a);  c = Add(x, b)
after:  b = Const[-2];  c = Add(x, b)

Shapes count as constants as far as they are known: `Shape`, `Size` and `Rank` of a
tensor of known static shape are folded, and so is what is computed from them, such as
the axes that a gradient sums over where its inputs were broadcast. A `SparseReshape` to
the shape that there is, if this is constant, gives what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.graph.node_shapes import infer_node
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_pure
from tensorloom.master.optimize.rewriting import ALWAYS_READY, Rewriting
from tensorloom.master.optimize.simplify import shape_values
from tensorloom.master.optimize.simplify.broadcast_axes import reduction_axes
from tensorloom.master.optimize.symbolic_dims import SymbolicDims

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.master.optimize.target import OptimizeTarget

# A constant this much larger than what it is made from (zeros of a variable's shape)
# would cost memory for as long as the step is cached, and saves little.
_SMALL_BYTES = 1 << 16
_MAX_GROWTH = 16


def fold_constants(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with constant nodes in place of what can be computed now.

    A folded constant has at most `max_folded_constant_bytes`. A node of several
    outputs becomes a constant for each. What the evaluator cannot compute, or what
    fails, stays: the step will say why.
    """
    return _Folder(graph, target).fold()


class _Folder:
    def __init__(self, graph: GraphIR, target: OptimizeTarget) -> None:
        self.graph = graph
        self.target = target
        self.rewriting = Rewriting(graph, target)
        self.values: dict[Edge, np.ndarray[Any, Any]] = {}
        self.nodes = self.rewriting.nodes  # the new graph
        # New constants, and nodes of whose shapes they tell more.
        self._told_more: set[str] = set()
        # Unknown sizes matter only to the axes of broadcasts.
        asks = any(n.op == "BroadcastGradientArgs" for n in graph.nodes.values())
        self.symbolic = SymbolicDims(self.nodes) if asks else None

    def fold(self) -> GraphIR:
        values = self.values
        for node in self.graph.nodes.values():
            node = self.rewriting.current(node)
            if node.op == "Const":
                values[node.name, 0] = node.attrs["value"]
            else:
                node = self._with_known_shapes(node)
                outputs = self._compute(node)
                if outputs is not None and self._replace(node, outputs):
                    continue
                if node.op == "SparseReshape" and self._keeps_shape(node):
                    self.rewriting.redirect(node, node.inputs[:2])
                    continue
            self.rewriting.keep(node)
            if self.symbolic is not None:
                self.symbolic.note(node)
        return self.rewriting.result()

    # --- computing -------------------------------------------------------------------

    def _with_known_shapes(self, node: Node) -> Node:
        """The node with what new constants among its inputs tell about its shapes."""
        shapes, told_more = node.output_shapes, self._told_more
        if not told_more or shapes is None:
            return node
        if all(shape.is_fully_defined() for shape in shapes):
            return node
        if not any(name in told_more for name, _ in node.inputs):
            return node
        if len(list(names_of(node))) > 1:
            return node  # it calls functions: a loop may change its arguments' shapes
        try:
            pairs = zip(shapes, infer_node(node, self.nodes, {}), strict=True)
            merged = tuple([shape.merge_with(told) for shape, told in pairs])
        except ValueError:
            return node  # the step will say what does not fit
        if merged == shapes:
            return node
        told_more.add(node.name)
        return node.replace(output_shapes=merged)

    def _compute(self, node: Node) -> Sequence[Any] | None:
        """The outputs of a node, if they are known now."""
        if not node.inputs:
            return None
        if node.op in shape_values.OPS:
            shapes = [self.static_shape(edge) for edge in node.inputs]
            return shape_values.value_of_shapes(node, shapes)
        from_facts = _FROM_FACTS.get(node.op)
        if from_facts is not None:
            return from_facts(self, node)
        if node.op in shape_values.PARTS:
            part = self._part_of_shape(node)
            if part is not None:
                return part
        values = self.values
        inputs = []
        for edge in node.inputs:
            value = values.get(edge)
            if value is None:
                return None
            inputs.append(value)
        if not is_pure(node) or not self._is_worthwhile(node, inputs):
            return None
        outputs = self.target.evaluate(node, inputs)
        if outputs is None or len(outputs) != len(node.output_types):
            return None
        return outputs

    def _keeps_shape(self, node: Node) -> bool:
        """Whether a SparseReshape, on which nobody else stands, changes nothing."""
        shape, wanted = (self.values.get(edge) for edge in node.inputs[1:])
        if shape is None or wanted is None or shape.shape != wanted.shape:
            return False
        if any(self.nodes[name].device != node.device for name in node.producers):
            return False
        indices = self.static_shape(node.inputs[0])
        # Of the indices TensorFlow looks at the sizes alone.
        if indices is None or indices.dims_tuple is None or len(indices) != 2:
            return False
        is_open = wanted == -1
        return (
            indices.dims_tuple[1] == len(shape)
            and np.array_equal(shape[~is_open], wanted[~is_open])
            and int(is_open.sum()) <= 1
            and bool((shape[~is_open] > 0).all())
            and node.name not in self.target.preserve
            and not node.control_inputs
            and not self.nodes[node.inputs[2][0]].control_inputs
            and not self.rewriting.shows_variable(node.inputs[0])
        )

    def _part_of_shape(self, node: Node) -> Sequence[Any] | None:
        """Sizes that are taken out of a shape, where these are known and others not."""
        source = self.nodes.get(node.inputs[0][0])
        if source is None or source.op != "Shape":
            return None
        shape = self.static_shape(source.inputs[0])
        places = [self.values.get(edge) for edge in node.inputs[1:]]
        sizes = shape_values.partial_shape(shape, source.output_types[0])
        if sizes is None or any(place is None for place in places):
            return None
        outputs = self.target.evaluate(node, [sizes, *places])
        if outputs is None or np.any(np.asarray(outputs[0]) < 0):
            return None  # also of a size that is not known
        return outputs

    def _is_worthwhile(self, node: Node, inputs: Sequence[Any]) -> bool:
        """Judges by the static size, before memory is taken."""
        size = 0
        for shape, dtype in zip(
            node.output_shapes or (), node.output_types, strict=False
        ):
            elements = shape.num_elements()
            if elements is None:
                return False
            size += elements * max(dtype.size, 1)
        if node.output_shapes is None:
            return False
        given = sum(value.nbytes for value in inputs)
        if size > max(_SMALL_BYTES, _MAX_GROWTH * given):
            return False
        return size <= self.target.config.max_folded_constant_bytes

    def static_shape(self, edge: Edge) -> TensorShape | None:
        """The static shape of an output of the new graph."""
        shapes = self.nodes[edge[0]].output_shapes
        return None if shapes is None else shapes[edge[1]]

    # --- replacing -------------------------------------------------------------------

    def _replace(self, node: Node, outputs: Sequence[Any]) -> bool:
        """Puts constants in the place of a node; False if it must stay."""
        if any(self.nodes[name].op in CONTROL_FLOW for name, _ in node.inputs):
            return False  # its value may be dead, and a wait for it would not tell
        if any(dtype.is_quantized for dtype in node.output_types):
            return False
        arrays = [
            _as_array(value, dtype)
            for value, dtype in zip(outputs, node.output_types, strict=True)
        ]
        # A shape is known without its tensor, but a node that fails or has effects must
        # still run for readers of its shape.
        control = self._controls(node)
        if len(arrays) == 1:
            self._add(node.name, 0, arrays[0], node, control)
            return True
        if node.name in self.target.preserve:
            return False
        edges: list[Edge] = []
        for index, array in enumerate(arrays):
            name = self._unused_name(f"{node.name}/folded_{index}")
            self._add(name, index, array, node, control)
            edges.append((name, 0))
        self.rewriting.redirect(node, edges, control)
        return True

    def _controls(self, node: Node) -> tuple[str, ...]:
        """What the constant waits for: all that the node did, constants left out."""
        waits: dict[str, None] = {}
        for name in node.producers:
            producer = self.nodes[name]
            if producer.op in ALWAYS_READY:
                waits.update(dict.fromkeys(producer.control_inputs))
            else:
                waits[name] = None
        return tuple(waits)

    def _add(
        self,
        name: str,
        output: int,
        array: np.ndarray[Any, Any],
        origin: Node,
        control: tuple[str, ...],
    ) -> None:
        """Adds the constant for one output of `origin`."""
        dtype = origin.output_types[output]
        attrs: dict[str, Any] = {"dtype": dtype, "value": array}
        if "_class" in origin.attrs:
            attrs["_class"] = origin.attrs["_class"]
        constant = Node(
            name,
            "Const",
            (),
            control,
            origin.device,
            attrs,
            (dtype,),
            (TensorShape.of(array.shape),),
            origin.source,
        )
        self.rewriting.keep(constant)
        self.values[name, 0] = array
        self._told_more.add(name)

    def _unused_name(self, name: str) -> str:
        while name in self.graph.nodes or name in self.nodes:
            name += "_"
        return name


def _as_array(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    array = np.asarray(value, dtype=dtype.np_dtype)
    return array.copy() if array.base is not None or array is value else array


# --- what is known without the inputs' values ----------------------------------------


def _broadcast_axes(folder: _Folder, node: Node) -> Sequence[Any] | None:
    shapes = [_known_dims(folder, edge) for edge in node.inputs]
    if shapes[0] is None or shapes[1] is None:
        return None
    axes = reduction_axes(shapes[0], shapes[1])
    if axes is None:
        return None
    dtype = node.output_types[0].np_dtype
    return [np.array(a, dtype) for a in axes]


def _array_size(folder: _Folder, node: Node) -> Sequence[Any] | None:
    return shape_values.size_of_array(node, folder.nodes, folder.values.get)


def _known_dims(folder: _Folder, edge: Edge) -> Sequence[Any] | None:
    """The sizes that a shape tensor holds; names stand for unknown ones."""
    value = folder.values.get(edge)
    if value is not None:
        return [int(size) for size in value]
    return None if folder.symbolic is None else folder.symbolic.constant_shape(edge)


_FROM_FACTS: dict[str, Callable[[_Folder, Node], Sequence[Any] | None]] = {
    "BroadcastGradientArgs": _broadcast_axes,
    "TensorArraySizeV3": _array_size,
}
