"""Runs the recorded cases of ops (`tests/peer/ops`) one node at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tensorloom as tf
from tensorloom.eager import Context, EagerOperation, TensorHandle
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.worker.compile.dataflow_nodes import CLASSIC_OPS
from tensorloom.worker.run import runtime
from tests.peer.ops import batch_runner

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


# It refuses a shared_name.
_OF_ONE_NODE = frozenset({"OneShotIterator"})


class NotForEager(Exception):
    """The case has what only a graph has."""


def answer(case: dict[str, Any]) -> list[dict[str, Any]]:
    """What the steps of a case give: values as `batch_runner` has them, or an error.

    Raises:
      NotForEager: it has references, or classic control flow.
    """
    proto = tf.GraphDef.FromString(case["graph"])
    graph = graph_def.from_proto(proto)
    _check(graph)
    with Context() as context:
        for function in proto.library.function:
            context.add_function(function)
        return [_step(context, graph, step) for step in case["steps"]]


def _check(graph: GraphIR) -> None:
    for node in graph.nodes.values():
        if node.op in CLASSIC_OPS or any(t._is_ref_dtype for t in _types(node)):
            raise NotForEager(node.op)


def _types(node: Node) -> list[Any]:
    op_def = op_registry.find(node.op)
    inputs = op_def.input_types(node.attrs) if op_def else []
    return [*node.output_types, *inputs]


def _step(context: Context, graph: GraphIR, step: Any) -> dict[str, Any]:
    feeds, fetches, targets = step
    values: dict[tuple[str, int], TensorHandle] = {}
    try:
        for name, plain in feeds.items():
            node, _, index = name.partition(":")
            dtype = graph.nodes[node].output_types[int(index or 0)]
            array = batch_runner.array_of(tf, plain)
            handle = TensorHandle.of_array(array, dtype, context.devices[0])
            values[node, int(index or 0)] = handle
        done: set[str] = set()
        for name in [*targets, *(f.partition(":")[0] for f in fetches)]:
            _run(context, graph, name, values, done)
        return {"values": [_fetched(values, name) for name in fetches]}
    except errors.OpError as error:
        return {"error": batch_runner.described_error(error)}


def _run(
    context: Context,
    graph: GraphIR,
    root: str,
    values: dict[tuple[str, int], TensorHandle],
    done: set[str],
) -> None:
    """Runs a node and those before it, in the order of the graph."""
    needed: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in needed or name in done or (name, 0) in values:
            continue
        needed.add(name)
        waiting += graph.nodes[name].producers
    for name, node in graph.nodes.items():
        if name in needed:
            _run_node(context, node, values)
            done.add(name)


def _run_node(
    context: Context, node: Node, values: dict[tuple[str, int], TensorHandle]
) -> None:
    op = EagerOperation(context, node.op)
    for key in node.inputs:
        op.add_input(values[key])
    for attr, value in node.attrs.items():
        if attr == "shared_name" and not value and node.op not in _OF_ONE_NODE:
            value = node.name.encode()  # ops of a graph are told apart by their names
        if not attr.startswith("_"):
            op.set_attr(attr, value)
    for index, handle in enumerate(op.run()):
        values[node.name, index] = handle


def _fetched(values: dict[tuple[str, int], TensorHandle], name: str) -> Any:
    node, _, index = name.partition(":")
    handle = values[node, int(index or 0)]
    if not is_torch_type(handle.dtype) and handle.dtype is not tf.string:
        return batch_runner.plain_value(np.asarray(handle.value))
    return batch_runner.plain_value(runtime.scalar_or_array(handle.array()))
