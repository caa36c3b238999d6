"""A frozen model as exporters read it: nodes in order, structured control flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.deploy import examples, optimizing
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.interfaces import StepSignature
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.master.functionalize import functionalize
from tensorloom.master.prepare import session_state
from tensorloom.master.prepare.prune import prune
from tensorloom.master.prepare.shape_propagation import with_shapes

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.framework.graph.graph_ir import Edge
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


_TABLES: Final = {
    "HashTable": "LookupTableExport",
    "HashTableV2": "LookupTableExportV2",
}


@dataclass(frozen=True)
class Program:
    """What an exporter writes."""

    #: `_Arg` nodes for the inputs and `_Retval` nodes for the outputs.
    graph: GraphIR
    #: The inputs in order: key, dtype and shape.
    inputs: tuple[tuple[str, DType, TensorShape], ...]
    #: The outputs: key, and which `_Retval` it is.
    outputs: tuple[tuple[str, int], ...]
    #: Keys and values of each table, by its node.
    tables: Mapping[str, tuple[Any, Any]]


def program_of(model: FrozenModel) -> Program:
    """The program of a model: constants folded, classic control flow as functions."""
    small = optimizing.transformed(model)
    specs = examples.input_specs(small)
    whole = session_state.extend(GraphIR(), graph_def.from_proto(small.graph_def))
    with Graph().as_default() as client:
        import_graph_def(small.graph_def, name="")
    whole = whole.with_nodes(
        node.replace(
            output_shapes=tuple(
                tensor.shape
                for tensor in client.get_operation_by_name(node.name).outputs
            )
        )
        for node in whole.nodes.values()
    )
    # Two keys may be of one tensor, which a step gives once.
    signature = StepSignature(
        tuple(small.inputs.values()), tuple(dict.fromkeys(small.outputs.values()))
    )
    graph = functionalize(prune(whole, signature, ""))
    graph = _cleaned(with_shapes(graph, graph.functions.keys()))
    return Program(
        graph,
        tuple((key, *spec) for key, spec in specs.items()),
        tuple(
            (key, signature.fetches.index(tensor))
            for key, tensor in small.outputs.items()
        ),
        _tables(small) if small.init else {},
    )


def _tables(model: FrozenModel) -> dict[str, tuple[Any, Any]]:
    """What the model's tables hold once they are filled, from files too."""
    with Graph().as_default() as graph, Session() as session:
        import_graph_def(model.graph_def, name="")
        exports = {}
        for op in graph.get_operations():
            export = _TABLES.get(op.type)
            if export is not None:
                types = op.get_attr("key_dtype"), op.get_attr("value_dtype")
                exports[op.name] = apply_op(
                    export, table_handle=op.outputs[0], Tkeys=types[0], Tvalues=types[1]
                )
        session.run(model.init)
        found: dict[str, tuple[Any, Any]] = {
            name: tuple(session.run(list(tensors))) for name, tensors in exports.items()
        }
        return found


def _cleaned(graph: GraphIR) -> GraphIR:
    """Without identities, and without what only control edges lead to: checks.

    Loops in the classic form leave an identity at each of their edges.
    """
    functions = {}
    for name, function in graph.functions.items():
        ends = _behind(function.nodes, function.returns)
        nodes = _needed(function.nodes, [name for name, _ in ends])
        functions[name] = replace(function, nodes=nodes, returns=ends)
    results = [n.name for n in graph.nodes.values() if n.op in ("_Arg", "_Retval")]
    return replace(graph, nodes=_needed(graph.nodes, results), functions=functions)


def _behind(nodes: Mapping[str, Node], edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """What identities hand on."""
    found = []
    for edge in edges:
        while edge[0] in nodes and nodes[edge[0]].op == "Identity":
            edge = nodes[edge[0]].inputs[0]
        found.append(edge)
    return tuple(found)


def _needed(nodes: Mapping[str, Node], roots: Iterable[str]) -> dict[str, Node]:
    """The nodes whose values roots are made of, in order."""
    kept: dict[str, Node] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in kept or name not in nodes:
            continue
        node = nodes[name]
        kept[name] = node.replace(inputs=_behind(nodes, node.inputs), control_inputs=())
        waiting += [edge[0] for edge in kept[name].inputs]
    return {name: kept[name] for name in nodes if name in kept}


@dataclass(frozen=True)
class Refusal:
    """A node that cannot be exported."""

    name: str
    op: str
    reason: str


class Unexportable(Exception):
    """Why the node at hand cannot be exported."""


def refused(what: str, refusals: Iterable[Refusal]) -> errors.UnimplementedError:
    """The error of a model that cannot be exported: every node and its reason."""
    lines = [f"  {one.name} ({one.op}): {one.reason}" for one in refusals]
    error = errors.UnimplementedError(
        None,
        None,
        "\n".join([f"{len(lines)} nodes cannot be written as {what}:", *lines]),
    )
    error.refusals = tuple(refusals)  # type: ignore[attr-defined]
    return error


def static_value(node: Node | None) -> Any:
    """The array of a Const; None of other nodes."""
    return node.attrs["value"] if node is not None and node.op == "Const" else None
