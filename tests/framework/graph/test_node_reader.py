"""Nodes that are alike share what was decoded, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.graph import graph_def, node_reader
from tensorloom.framework.graph.node_def import find_op, split_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.protos.node_def_pb2 import NodeDef

_LONG = "scope/" * 60 + "x"


def _built(build: Callable[[], tf.Tensor]) -> NodeDef:
    with tf.Graph().as_default():
        result: NodeDef = build().op.node_def
    return result


def _squeeze(axis: list[int]) -> NodeDef:
    return _built(lambda: tf.squeeze(tf.placeholder(tf.float32), axis))


def _constant(value: Any) -> NodeDef:
    return _built(lambda: tf.constant(value))


CASES = {
    "list attrs": [_squeeze([0]), _squeeze([0]), _squeeze([0]), _squeeze([1])],
    "small constants": [_constant(v) for v in (1.5, 1.5, 1.5, 2.5, 2)],
    "large constants": [_constant(np.full(999, v)) for v in (1.0, 1.0, 2.0, 1.0)],
    "of middle size": [_constant(np.full(40, v)) for v in (1.0, 1.0, 2.0, 1.0)],
}


@pytest.mark.parametrize("name", ["x", "y" * 127, "z" * 128, _LONG])
@pytest.mark.parametrize("device", ["", "/device:CPU:*", "/job:w" * 30])
@pytest.mark.parametrize("protos", CASES.values(), ids=CASES)
def test_as_read_alone(protos: list[NodeDef], device: str, name: str) -> None:
    """Names and devices of any length, with the byte of an attr's tag in them."""
    reader = node_reader.NodeReader()
    for index, proto in enumerate(protos):
        proto.name, proto.device = f"{name}{index}", device
        node, types = _read(reader, proto)
        alone, _ = _read(node_reader.NodeReader(), proto)
        assert _facts(node) == _facts(alone)
        assert len(types) == len(node.inputs)


def _parts(proto: NodeDef) -> tuple[Any, Any, Any]:
    return find_op(proto.op, {}), *split_inputs(proto.input, proto.name)


def _read(reader: node_reader.NodeReader, proto: NodeDef) -> tuple[Node, list[Any]]:
    return reader.read(proto, *_parts(proto))


def _facts(node: Node) -> tuple[Any, ...]:
    attrs = {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in node.attrs.items()
    }
    places = node.inputs, node.control_inputs, node.device
    return node.name, node.op, *places, attrs, node.output_types


def test_own_attrs_and_lists_are_not_shared() -> None:
    reader = node_reader.NodeReader()
    protos = [_squeeze([0]) for _ in range(4)]
    protos[3].attr["_class"].list.s.append(b"loc:@a")
    nodes = [_read(reader, proto)[0] for proto in protos]
    nodes[2].attrs["squeeze_dims"].append(7)
    assert [node.attrs["squeeze_dims"] for node in nodes] == [[0], [0], [0, 7], [0]]
    assert ["_class" in node.attrs for node in nodes] == [False, False, False, True]


def test_alike_nodes_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first says what it means, the second what it shares; no other is divided."""
    divided: list[str] = []
    divide = node_reader._divide

    def noted(proto: NodeDef, *arguments: Any) -> Any:
        divided.append(proto.name)
        return divide(proto, *arguments)

    monkeypatch.setattr(node_reader, "_divide", noted)
    with tf.Graph().as_default() as graph:
        value = tf.placeholder(tf.float32, name="x")
        for index in range(9):
            value = tf.sin(value, name=f"sin_{index}")
        proto = graph.as_graph_def()
    graph_def.from_proto(graph_def.parse(proto.SerializeToString()))
    assert divided == ["x", "sin_0", "sin_1"]
