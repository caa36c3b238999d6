"""Comparing GraphDefs node by node."""

from __future__ import annotations

from typing import Any


def assert_equal_graph_def(
    actual: Any,
    expected: Any,
    checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:
    """Raises AssertionError unless the graphs have equal nodes, in any order.

    Args:
      actual, expected: GraphDef protos.
      checkpoint_v2: leaves out the names of temporary checkpoint files.
      hash_table_shared_name: leaves out the shared names of tables.

    Raises:
      TypeError: an argument is not a GraphDef.
    """
    for what, graph in (("actual", actual), ("expected", expected)):
        if not hasattr(graph, "node") or not hasattr(graph, "SerializeToString"):
            raise TypeError(
                f"Expected tf.GraphDef for {what}, got {type(graph).__name__}"
            )
    ours = _nodes(actual, checkpoint_v2, hash_table_shared_name)
    theirs = _nodes(expected, checkpoint_v2, hash_table_shared_name)
    for missing, which in (
        (theirs.keys() - ours.keys(), "missing from actual"),
        (ours.keys() - theirs.keys(), "not in expected"),
    ):
        if missing:
            raise AssertionError(f"Nodes {which}: {', '.join(sorted(missing))}")
    for name, node in ours.items():
        if node != theirs[name]:
            raise AssertionError(
                f"Node {name} differs:\n{node}\nexpected:\n{theirs[name]}"
            )


def _nodes(graph: Any, checkpoint_v2: bool, tables: bool) -> dict[str, Any]:
    nodes = {}
    for original in graph.node:
        node = type(original)()
        node.CopyFrom(original)
        if checkpoint_v2 and "value" in node.attr:
            texts = node.attr["value"].tensor.string_val
            if any(b"_temp" in text for text in texts):
                del texts[:]
        if tables and node.op in ("HashTable", "HashTableV2"):
            node.attr.pop("shared_name", None)
        nodes[node.name] = node
    return nodes
