"""Pruning: the part of a session's graph that one step needs.

before: x = Placeholder;  y = Sin(x);  z = Exp(y);  w = Cos(x)
after (feed x:0, fetch y:0):
        _arg_x_0_0 = _Arg;  y = Sin(_arg_x_0_0);  _retval_y_0_0 = _Retval(y)

Of branches what is read stays (`branch_reads.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.framework.types.unreadable_tensor import UnreadableTensor
from tensorloom.master.place.colocation import takes_reference
from tensorloom.master.prepare.branch_reads import (
    BranchReads,
    has_prunable_branches,
    reach,
)

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepSignature

# A fed placeholder itself does not run, so nothing waits for it.
_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")


def prune(graph: GraphIR, signature: StepSignature, client_device: str) -> GraphIR:
    """The nodes that the fetches and targets depend on, with feeds cut in.

    Args:
      graph: in topological order.
      client_device: where fed values come from and fetched ones go.

    Returns:
      `_Arg` nodes for the feeds, the live nodes in the order of `graph`, and `_Retval`
      nodes for the fetches; `index` attrs number both as the signature does.

    Raises:
      errors.NotFoundError: a feed, fetch or target does not exist.
      errors.InvalidArgumentError: there is nothing to run; a name occurs twice or is
        both fed and fetched; an output index is too large; an input does not exist; a
        node writes through a variable that is fed; a constant cannot be read.
    """
    if not signature.fetches and not signature.targets:
        raise errors.InvalidArgumentError(
            None, None, "Must specify at least one target to fetch or execute."
        )
    nodes = graph.nodes
    fetches = _find_fetches(nodes, signature)
    feeds, arguments = _make_arguments(nodes, signature, client_device)
    roots = [name for name, _ in fetches]
    roots += _find_targets(nodes, signature.targets)
    live = _reach(nodes, roots, feeds)
    reads = read = None
    if graph.functions and has_prunable_branches(graph):
        reads = BranchReads(graph.functions)
        needed, read = reach(nodes, signature.targets, fetches, feeds, reads)
        live &= needed
    body = _in_order(nodes, live)
    _check_constants(body)
    if feeds:
        body = _connect_feeds(body, nodes, feeds)
    results = _make_results(nodes, fetches, client_device)
    pruned = [*arguments, *body, *results]
    if reads is None or read is None:
        return graph.with_nodes(pruned)
    pruned = reads.without_unread(pruned, read)
    return replace(graph.with_nodes(pruned), functions=reads.functions(pruned))


def parse_tensor_name(name: str) -> Edge:
    """`x:1` as (x, 1); a missing index is 0."""
    node, colon, index = name.rpartition(":")
    if not colon:
        return name, 0
    return (node, int(index)) if index.isdecimal() else (name, 0)


# --- the ends of the graph -----------------------------------------------------------


def _find_fetches(nodes: Mapping[str, Node], signature: StepSignature) -> list[Edge]:
    fed = {parse_tensor_name(name) for name in signature.feeds}
    found: dict[Edge, None] = {}
    for name in signature.fetches:
        edge = parse_tensor_name(name)
        node = nodes.get(edge[0])
        if node is None:
            raise errors.NotFoundError(
                None, None, f"FetchOutputs node {name}: not found"
            )
        count = len(node.output_types)
        if edge[1] >= count:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"FetchOutputs {name}: output index too large, must be < {count}",
            )
        if edge in fed:
            raise errors.InvalidArgumentError(
                None, None, f"{name} is both fed and fetched."
            )
        if edge in found:
            raise _twice(name, "fetched")
        found[edge] = None
    return list(found)


def _find_targets(nodes: Mapping[str, Node], targets: Sequence[str]) -> list[str]:
    missing = [name for name in targets if name not in nodes]
    if missing:
        raise errors.NotFoundError(
            None,
            None,
            f"PruneForTargets: Some target nodes not found: {' '.join(missing)} ",
        )
    return list(targets)


def _make_arguments(
    nodes: Mapping[str, Node], signature: StepSignature, device: str
) -> tuple[dict[Edge, Node], list[Node]]:
    feeds: dict[Edge, Node] = {}
    for index, name in enumerate(signature.feeds):
        edge = parse_tensor_name(name)
        node = nodes.get(edge[0])
        if node is None:
            raise errors.NotFoundError(
                None, None, f"FeedInputs: unable to find feed output {name}"
            )
        if edge[1] >= len(node.output_types):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"FeedInputs: {name} should have output index < "
                f"{len(node.output_types)}",
            )
        if edge in feeds:
            raise _twice(name, "fed")
        dtype = node.output_types[edge[1]].base_dtype
        shapes = node.output_shapes
        feeds[edge] = Node(
            f"_arg_{edge[0]}_{edge[1]}_{index}",
            "_Arg",
            (),
            (),
            device,
            {"T": dtype, "index": index},
            (dtype,),
            (UNKNOWN,) if shapes is None else (shapes[edge[1]],),
            node.source,
        )
    return feeds, list(feeds.values())


def _make_results(
    nodes: Mapping[str, Node], fetches: Sequence[Edge], device: str
) -> list[Node]:
    return [
        Node(
            f"_retval_{name}_{output}_{index}",
            "_Retval",
            ((name, output),),
            (),
            device,
            {"T": nodes[name].output_types[output].base_dtype, "index": index},
            (),
            (),
            nodes[name].source,
        )
        for index, (name, output) in enumerate(fetches)
    ]


def _twice(name: str, what: str) -> errors.OpError:
    return errors.InvalidArgumentError(
        None, None, f'Endpoint "{name}" {what} more than once.'
    )


# --- what is between -----------------------------------------------------------------


def _reach(
    nodes: Mapping[str, Node], roots: Sequence[str], feeds: Mapping[Edge, Node]
) -> set[str]:
    """Names of the nodes that must run for the roots."""
    fed_names = {name for name, _ in feeds}
    live = set(roots)
    stack = list(live)
    while stack:
        node = nodes[stack.pop()]
        for edge in node.inputs:
            name = edge[0]
            if name not in live and not (name in fed_names and edge in feeds):
                live.add(name)
                stack.append(_checked(name, node, nodes))
        for name in node.control_inputs:
            if name in live:
                continue
            if name in fed_names and nodes[name].op in _PLACEHOLDERS:
                continue
            live.add(name)
            stack.append(_checked(name, node, nodes))
    return live


def _checked(name: str, consumer: Node, nodes: Mapping[str, Node]) -> str:
    if name not in nodes:
        raise errors.InvalidArgumentError(
            None, None, f"Node '{consumer.name}': Unknown input node '{name}'"
        )
    return name


def _in_order(nodes: Mapping[str, Node], live: set[str]) -> list[Node]:
    return [node for name, node in nodes.items() if name in live]


def _check_constants(body: Sequence[Node]) -> None:
    """Raises InvalidArgumentError for a constant without a value."""
    for node in body:
        if node.op == "Const":
            value = node.attrs["value"]
            if type(value) is UnreadableTensor:
                value.check(node.name)


def _connect_feeds(
    body: Sequence[Node], nodes: Mapping[str, Node], feeds: Mapping[Edge, Node]
) -> list[Node]:
    """The nodes with fed inputs replaced by arguments.

    Raises:
      errors.InvalidArgumentError: a node writes through a variable that is fed.
    """
    fed_names = {name for name, _ in feeds}
    gone = {name for name in fed_names if nodes[name].op in _PLACEHOLDERS}
    connected = []
    for node in body:
        if not fed_names.isdisjoint([name for name, _ in node.inputs]):
            _check_references(node, nodes, feeds)
            inputs = tuple(
                (feeds[edge].name, 0) if edge in feeds else edge for edge in node.inputs
            )
            node = node.replace(inputs=inputs)
        if node.control_inputs and not gone.isdisjoint(node.control_inputs):
            control = tuple(name for name in node.control_inputs if name not in gone)
            node = node.replace(control_inputs=control)
        connected.append(node)
    return connected


def _check_references(
    node: Node, nodes: Mapping[str, Node], feeds: Mapping[Edge, Node]
) -> None:
    for index, edge in enumerate(node.inputs):
        if edge not in feeds:
            continue
        dtype = nodes[edge[0]].output_types[edge[1]]
        if dtype._is_ref_dtype and takes_reference(node, index):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input {index} of node {node.name} was passed "
                f"{dtype_word(dtype.base_dtype)} "
                f"from {feeds[edge].name}:0 incompatible with expected "
                f"{dtype_word(dtype)}.",
            )
