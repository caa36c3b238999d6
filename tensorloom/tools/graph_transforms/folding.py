"""The transform that computes parts of a graph once and for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import without_unread
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

# Larger results stay to be computed.
_LARGEST_BYTES: Final = 10 * 1024 * 1024
# What these compute is known when the shapes of their inputs are.
_OF_SHAPES: Final = ("Shape", "ShapeN", "Size", "Rank")
_FED: Final = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
_CONTROL: Final = (
    *("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"),
    *("RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration"),
)


def fold_constants(graph: Any, request: Request) -> Any:
    """What does not depend on the inputs is computed, and what nobody needs goes.

    A node that becomes a constant keeps its name. Of a node with several outputs, each
    that is read becomes a constant called `<node>/output_<number>`.

    Parameters: `clear_output_shapes`, forget the shapes that nodes say they have, which
    may be wrong afterwards (true); `exclude_op` and `exclude_node`, what stays;
    `max_constant_size_in_bytes`, the largest constant that is made (10 MiB).

    Raises:
      InvalidArgumentError: an input is no placeholder.
      OpError: a node cannot be computed.
    """
    if request.flag("clear_output_shapes", True):
        for node in graph.node:
            node.attr.pop("_output_shapes", None)
    inputs = {nodes.node_of(name) for name in request.inputs}
    outputs = {nodes.node_of(name) for name in request.outputs}
    graph = _with_placeholders(graph, inputs)
    # What is fed stays, even if nobody reads it.
    graph = without_unread(graph, outputs | inputs)
    known = _FromShapes(graph).known()
    wanted = _to_compute(graph, request, outputs, known)
    most = request.integer("max_constant_size_in_bytes", _LARGEST_BYTES)
    values = {
        name: value
        for name, value in _computed(graph, wanted, known).items()
        if value.nbytes <= most
    }
    return without_unread(_with_constants(graph, values), outputs | inputs)


def _with_placeholders(graph: Any, inputs: set[str]) -> Any:
    for node in graph.node:
        if node.name in inputs and node.op == "PlaceholderWithDefault":
            node.op = "Placeholder"
            del node.input[:]
        elif node.name in inputs and node.op != "Placeholder":
            raise invalid(
                f"Input '{node.name}' was expected to be a Placeholder or "
                f"PlaceholderWithDefault op, but was {node.op}"
            )
    return graph


class _FromShapes:
    """The tensors of a graph that static shapes tell."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def known(self) -> dict[str, Any]:
        """The values by the tensors' names."""
        if not any(node.op in _OF_SHAPES for node in self._graph.node):
            return {}
        with Graph().as_default() as graph:
            import_graph_def(self._graph, name="")
        values = {}
        for node in self._graph.node:
            if node.op in _OF_SHAPES:
                operation = graph.get_operation_by_name(node.name)
                for output, tensor in enumerate(operation.outputs):
                    shape = operation.inputs[output].shape
                    value = _of_shape(node.op, shape)
                    if value is not None:
                        dtype = tensor.dtype.as_numpy_dtype
                        values[f"{node.name}:{output}"] = np.array(value, dtype)
        return values


def _of_shape(op: str, shape: Any) -> Any:
    """What an op says of a shape; None if that is not known."""
    if op == "Rank":
        return shape.ndims
    if not shape.is_fully_defined():
        return None
    return shape.num_elements() if op == "Size" else shape.as_list()


def _to_compute(
    graph: Any, request: Request, outputs: set[str], known: dict[str, Any]
) -> list[str]:
    """The tensors of constants alone that a node reads which is none, or the client."""
    is_constant = _constant_test(graph, request, known)
    found = nodes.by_name(graph)
    read = {
        nodes.canonical(name)
        for node in graph.node
        if not is_constant(node.name)
        for name in node.input
        if not name.startswith("^")
    }
    read |= {nodes.canonical(name) for name in request.outputs}
    read |= {f"{name}:0" for name in outputs}
    return sorted(
        name
        for name in read
        if found[nodes.node_of(name)].op != "Const" and is_constant(nodes.node_of(name))
    )


def _constant_test(
    graph: Any, request: Request, of_shapes: dict[str, Any]
) -> Callable[[str], bool]:
    """A function that tells whether all outputs of a node can be computed."""
    found = nodes.by_name(graph)
    excluded_ops = set(request.parameters.get("exclude_op", ()))
    excluded = set(request.parameters.get("exclude_node", ()))
    fed = {nodes.node_of(name) for name in request.inputs}
    known: dict[str, bool] = {}

    def is_opaque(dtype: Any) -> bool:
        return dtype in (dtypes.variant, dtypes.resource)

    def foldable(node: NodeDef) -> bool:
        op_def = op_registry.find(node.op)
        return (
            op_def is not None
            and not op_def.is_stateful
            and bool(op_def.outputs)
            and node.op not in (*_FED, *_CONTROL, *excluded_ops)
            and node.name not in fed | excluded
            and not any(map(is_opaque, nodes.types_of(node)[1]))
        )

    def ask(name: str) -> bool:
        # Deep graphs are walked without recursion; a cycle is no constant.
        waiting = [name]
        while waiting:
            current = waiting[-1]
            node = found[current]
            inputs = [nodes.node_of(i) for i in node.input]
            if current in known:
                pass
            elif f"{current}:0" in of_shapes:
                known[current] = True
            elif not foldable(node):
                known[current] = False
            else:
                unknown = [i for i in inputs if i not in known and i not in waiting]
                if unknown:
                    waiting += unknown
                    continue
                known[current] = all(known.get(i, False) for i in inputs)
            waiting.pop()
        return known[name]

    return ask


def _computed(graph: Any, wanted: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """The values of tensors, by their names."""
    values = {name: known[name] for name in wanted if name in known}
    left = [name for name in wanted if name not in known]
    if left:
        part = without_unread(
            _with_constants(graph, known), {nodes.node_of(name) for name in left}
        )
        for node in part.node:
            # It may name a node of another part.
            node.attr.pop("_class", None)
        with Graph().as_default(), Session() as session:
            import_graph_def(part, name="")
            found = session.run(left)
        values |= {n: np.asarray(v) for n, v in zip(left, found, strict=True)}
    return values


def _with_constants(graph: Any, values: dict[str, Any]) -> Any:
    """A graph with constants in the place of tensors."""
    of_node: dict[str, dict[str, Any]] = {}
    for tensor, value in values.items():
        of_node.setdefault(nodes.node_of(tensor), {})[tensor] = value
    made: list[NodeDef] = []
    renamed: dict[str, str] = {}
    for node in graph.node:
        found = of_node.get(node.name)
        if found is None:
            made.append(node)
            continue
        _, types = nodes.types_of(node)
        if len(types) == 1:
            made.append(_constant(node.name, found[f"{node.name}:0"], types[0]))
            continue
        made.append(node)
        for tensor, value in found.items():
            output = int(tensor.rpartition(":")[2])
            name = f"{node.name}/output_{output}"
            made.append(_constant(name, value, types[output]))
            renamed[tensor] = name
    return nodes.with_renamed_inputs(nodes.with_nodes(graph, made), renamed)


def _constant(name: str, value: Any, dtype: Any) -> NodeDef:
    return nodes.constant(name, value, dtype)
