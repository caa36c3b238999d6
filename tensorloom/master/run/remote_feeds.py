"""Turns a remote part's feeds and fetches into the Recvs and Sends of TensorFlow.

before: x = _Arg(index=0);  _Retval(y, index=0)
after:  x = _Recv(client_terminated, tensor_name="feed_0");  _Send(y, ...)

The master puts fed values into the step's rendezvous under such keys, and takes fetched
ones out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime.rendezvous_key import key_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class FeedKeys:
    """The rendezvous keys of a part, in the order of its `_Arg`s and `_Retval`s."""

    feeds: list[tuple[str, DType]]
    fetches: list[str]


def with_remote_feeds(
    graph: GraphIR, incarnation_of: Mapping[str, int]
) -> tuple[GraphIR, FeedKeys]:
    """The part with Recvs for its feeds and Sends for its fetches, and their keys."""
    feeds: dict[int, tuple[str, DType]] = {}
    fetches: dict[int, str] = {}
    nodes = []
    for node in graph.nodes.values():
        if node.op == "_Arg":
            index = node.attrs["index"]
            node = _recv(node, incarnation_of[node.device])
            feeds[index] = key_of(node), node.output_types[0]
        elif node.op == "_Retval":
            index = node.attrs["index"]
            node = _send(node, incarnation_of[node.device])
            fetches[index] = key_of(node)
        nodes.append(node)
    keys = FeedKeys(
        [feeds[i] for i in sorted(feeds)], [fetches[i] for i in sorted(fetches)]
    )
    return graph.with_nodes(nodes), keys


def _recv(node: Node, incarnation: int) -> Node:
    attrs = _attrs(node, f"feed_{node.attrs['index']}", incarnation)
    return node.replace(op="_Recv", attrs={"tensor_type": node.attrs["T"], **attrs})


def _send(node: Node, incarnation: int) -> Node:
    attrs = _attrs(node, f"fetch_{node.attrs['index']}", incarnation)
    return node.replace(op="_Send", attrs={"T": node.attrs["T"], **attrs})


def _attrs(node: Node, tensor_name: str, incarnation: int) -> dict[str, Any]:
    return {
        "tensor_name": tensor_name.encode(),
        "send_device": node.device.encode(),
        "send_device_incarnation": incarnation,
        "recv_device": node.device.encode(),
        "client_terminated": True,
    }
