"""What tests ask about graphs, and comparing GraphDefs node by node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.protos.graph_pb2 import GraphDef
    from tensorloom.protos.node_def_pb2 import NodeDef


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


def assert_ops_in_graph(
    expected_ops: Mapping[str, str], graph: Graph
) -> dict[str, NodeDef]:
    """The nodes of that name, each of the expected op type.

    Args:
      expected_ops: op type by name of operation.

    Raises:
      ValueError: there is no such operation, or it is of another type.
    """
    nodes = {node.name: node for node in graph.as_graph_def().node}
    for name, op_type in expected_ops.items():
        found = nodes[name].op if name in nodes else "nothing"
        if found != op_type:
            raise ValueError(
                f"Expected op for node {name} is different. {op_type} vs {found}"
            )
    return {name: nodes[name] for name in expected_ops}


def get_node_def_from_graph(node_name: str, graph_def: GraphDef) -> NodeDef | None:
    """The node of that name; None if there is none."""
    for node in graph_def.node:
        if node.name == node_name:
            return node
    return None


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Makes a graph one that a producer of that version made."""
    from tensorloom.client.importing.importer import import_graph_def
    from tensorloom.protos.graph_pb2 import GraphDef

    empty = GraphDef()
    empty.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(empty)


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Two MetaGraphDefs are equal, their nodes in any order. Empties parts of both."""
    from tensorloom.train.meta_graph.meta_graph_collections import proto_functions

    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        functions = proto_functions(key)
        if functions is None:
            tester.assertEqual(a.collection_def[key], b.collection_def[key])
            continue
        read = functions.proto_type().FromString
        ours, theirs = (
            [read(value) for value in side.collection_def[key].bytes_list.value]
            for side in (a, b)
        )
        tester.assertEqual(ours, theirs)
    assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    for side in (a, b):
        side.ClearField("collection_def")
        side.ClearField("graph_def")
    tester.assertProtoEquals(a, b)
