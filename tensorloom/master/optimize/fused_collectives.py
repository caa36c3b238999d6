"""Reductions of several small values as one, where a session asks for that.

before: x = CollectiveReduce(a, instance_key=1)
        y = CollectiveReduce(b, instance_key=2)
after:  m, n = _CollectiveReduceMany(a, b, instance_keys=[1, 2])
        x = Identity(m);  y = Identity(n)

Each costs messages to all members. A bucket has some megabytes: gradients of the last
layers travel while those of the first are computed. A session asks for it by
`scoped_allocator_optimization`, as for TensorFlow's own way to do so; a strategy's
`update_config_proto` switches it on.

All tasks must come to the same buckets: these follow from the keys, dtypes, shapes and
dependencies of the reductions alone, and not from what a task fetches beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.master.optimize.node_facts import STANDS_FOR
from tensorloom.master.optimize.rewritten_order import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget

_OP: Final = "CollectiveReduce"
_FUSED: Final = "_CollectiveReduceMany"
#: So many bytes of values travel together.
BUCKET_BYTES: Final = 4 << 20
# What the members of a bucket have in common.
_COMMON: Final = (
    *("group_size", "group_key", "T", "merge_op", "final_op"),
    *("timeout_seconds", "communication_hint"),
)


def fuse_collectives(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with its reductions in buckets.

    Values whose sizes are not known, and large ones, stay alone.
    """
    for bucket in _buckets(graph):
        exchange = Exchange(graph)
        fused = _fused(bucket, graph)
        exchange.added[bucket[0].name] = [fused]
        for index, node in enumerate(bucket):
            exchange.changed[node.name] = node.replace(
                op="Identity",
                inputs=((fused.name, index),),
                control_inputs=(),
                attrs={**_kept(node), "T": node.attrs["T"]},
            )
        graph = exchange.apply() or graph
    return graph


def _buckets(graph: GraphIR) -> Iterable[list[Node]]:
    """Reductions that travel together, none of which needs another's result."""
    alike: dict[tuple[Any, ...], list[Node]] = {}
    depths = _depths(graph)
    for node in graph.nodes.values():
        if (
            node.op == _OP
            and 0 < _size(node) <= BUCKET_BYTES
            and _is_value(node, graph)
        ):
            common = [node.attrs.get(name) for name in _COMMON]
            key = (node.device, depths[node.name], *common)
            alike.setdefault(key, []).append(node)
    for nodes in alike.values():
        bucket: list[Node] = []
        for node in sorted(nodes, key=lambda node: node.attrs["instance_key"]):
            if sum(map(_size, bucket)) + _size(node) > BUCKET_BYTES:
                if len(bucket) > 1:
                    yield bucket
                bucket = []
            bucket.append(node)
        if len(bucket) > 1:
            yield bucket


def _depths(graph: GraphIR) -> dict[str, int]:
    """How many reductions come before a node, one after another.

    Those of one depth wait for none of the others, and neither do buckets of them.
    """
    depths: dict[str, int] = {}
    for node in graph.nodes.values():
        before = [*(name for name, _ in node.inputs), *node.control_inputs]
        depths[node.name] = max(
            (
                depths.get(name, 0) + (graph.nodes[name].op == _OP)
                for name in before
                if name in graph.nodes
            ),
            default=0,
        )
    return depths


def _size(node: Node) -> int:
    """The bytes of a reduction's value; 0 if they are not known, or none."""
    shape = node.output_shapes[0] if node.output_shapes else None
    count = shape.num_elements() if shape is not None else None
    return (count or 0) * int(node.output_types[0].size)


def _is_value(node: Node, graph: GraphIR) -> bool:
    """Whether the input is no variable's memory, which is read when the node runs."""
    ((name, index),) = node.inputs
    producer = graph.nodes.get(name)
    return producer is not None and not producer.output_types[index]._is_ref_dtype


def _fused(bucket: list[Node], graph: GraphIR) -> Node:
    first = bucket[0]
    name = f"{first.name}/together"
    while name in graph.nodes:
        name += "_"
    controls = dict.fromkeys(c for node in bucket for c in node.control_inputs)
    return Node(
        name,
        _FUSED,
        tuple(node.inputs[0] for node in bucket),
        tuple(controls),
        first.device,
        {
            **_kept(first),
            **{key: first.attrs[key] for key in _COMMON if key in first.attrs},
            "subdiv_offsets": first.attrs["subdiv_offsets"],
            "instance_keys": [node.attrs["instance_key"] for node in bucket],
            "N": len(bucket),
            STANDS_FOR: [node.name.encode() for node in bucket],
        },
        tuple(node.output_types[0] for node in bucket),
        tuple(node.output_shapes[0] for node in bucket if node.output_shapes),
        first.source,
    )


def _kept(node: Node) -> dict[str, Any]:
    """The attrs that say things of any node, but for its classes."""
    return {k: v for k, v in node.attrs.items() if k.startswith("_") and k != "_class"}
