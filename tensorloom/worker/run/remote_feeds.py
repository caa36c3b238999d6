"""Turns the Recvs and Sends by which a master feeds and fetches into arguments.

before: x = _Recv(client_terminated, tensor_name="x:0");  _Send(y, client_terminated)
after:  x = _Arg(index=0);  _Retval(y, index=0)

TensorFlow's masters put such pairs around a step. As arguments and results they need
no rendezvous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorloom.framework.runtime.rendezvous_key import key_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class GraphWithArguments:
    """A graph whose feeds and fetches are arguments and results, with their keys."""

    graph: GraphIR
    feeds: dict[str, int]  # key -> index of its `_Arg`
    feed_types: list[DType]
    fetches: dict[str, int]  # key -> index of its `_Retval`
    fetch_types: list[DType]


def with_arguments(graph: GraphIR) -> GraphWithArguments:
    """Replaces client-terminated Recvs and Sends; the graph stays in its order."""
    feeds: dict[str, int] = {}
    feed_types: list[DType] = []
    fetches: dict[str, int] = {}
    fetch_types: list[DType] = []
    nodes = []
    for node in graph.nodes.values():
        if not node.attrs.get("client_terminated"):
            nodes.append(node)
        elif node.output_types:
            feeds[key_of(node)] = len(feed_types)
            nodes.append(_argument(node, len(feed_types)))
            feed_types.append(node.output_types[0])
        else:
            index = fetches[key_of(node)] = len(fetches)
            nodes.append(_result(node, index))
            fetch_types.append(node.attrs["T"])
    if not feeds and not fetches:
        return GraphWithArguments(graph, feeds, feed_types, fetches, fetch_types)
    return GraphWithArguments(
        graph.with_nodes(nodes), feeds, feed_types, fetches, fetch_types
    )


def _argument(node: Node, index: int) -> Node:
    dtype = node.output_types[0]
    return node.replace(op="_Arg", attrs={"T": dtype, "index": index})


def _result(node: Node, index: int) -> Node:
    return node.replace(op="_Retval", attrs={"T": node.attrs["T"], "index": index})
