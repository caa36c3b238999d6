"""Messages live in a pool of their own and understand those of other pools."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
    text_format,
)

from tensorloom.protos import config_pb2, graph_pb2, meta_graph_pb2
from tensorloom.protos.pool import ANY_TYPES, POOL


def _twin(message_class: Any) -> Any:
    """The same message in another pool, as TensorFlow's own modules make it."""
    pool = descriptor_pool.DescriptorPool()
    done: set[str] = set()

    def add(file: Any) -> None:
        if file.name in done:
            return
        done.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        pool.Add(proto)

    add(message_class.DESCRIPTOR.file)
    descriptor = pool.FindMessageTypeByName(message_class.DESCRIPTOR.full_name)
    return message_factory.GetMessageClass(descriptor)


def test_full_names_are_tensorflows() -> None:
    assert graph_pb2.GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindFileByName("tensorloom/protos/graph.proto")


def test_messages_of_another_pool_are_merged_and_copied() -> None:
    theirs = _twin(graph_pb2.GraphDef)()
    theirs.node.add(name="x", op="NoOp").attr["T"].type = 1
    ours = graph_pb2.GraphDef()
    ours.node.add(name="first")
    ours.MergeFrom(theirs)
    assert [node.name for node in ours.node] == ["first", "x"]
    ours.CopyFrom(theirs)
    assert [node.name for node in ours.node] == ["x"]
    node = graph_pb2.GraphDef().node.add()
    node.CopyFrom(theirs.node[0])
    node.attr["U"].MergeFrom(theirs.node[0].attr["T"])
    assert node.attr["U"].type == 1


def test_other_messages_are_refused() -> None:
    other = _twin(config_pb2.ConfigProto)()
    for method in (graph_pb2.GraphDef().MergeFrom, graph_pb2.GraphDef().CopyFrom):
        with pytest.raises(TypeError):
            method(other)
        with pytest.raises(TypeError):
            method("text")


def test_copies_and_pickles() -> None:
    config = config_pb2.ConfigProto(device_count={"CPU": 2})
    assert copy.deepcopy(config) == config
    assert pickle.loads(pickle.dumps(config)) == config


def test_any_holds_messages_by_their_tensorflow_name() -> None:
    graph = graph_pb2.GraphDef()
    graph.node.add(name="x")
    packed = any_pb2.Any()
    packed.Pack(graph)
    assert packed.type_url == "type.googleapis.com/tensorflow.GraphDef"
    for kind in (graph_pb2.GraphDef, _twin(graph_pb2.GraphDef)):
        found = kind()
        assert packed.Unpack(found)
        assert found.node[0].name == "x"
    meta_graph = meta_graph_pb2.MetaGraphDef()
    meta_graph.meta_info_def.any_info.CopyFrom(packed)  # protobuf's own Any
    assert meta_graph.meta_info_def.any_info.type_url == packed.type_url


def test_text_and_json_write_the_message_in_an_any() -> None:
    meta_graph = meta_graph_pb2.MetaGraphDef()
    meta_graph.meta_info_def.any_info.Pack(graph_pb2.GraphDef())
    types = ANY_TYPES
    text = text_format.MessageToString(meta_graph, descriptor_pool=types)
    assert "[type.googleapis.com/tensorflow.GraphDef]" in text
    read = text_format.Parse(text, meta_graph_pb2.MetaGraphDef(), descriptor_pool=types)
    assert read == meta_graph
    json = json_format.MessageToJson(meta_graph, descriptor_pool=POOL)
    read = json_format.Parse(json, meta_graph_pb2.MetaGraphDef(), descriptor_pool=POOL)
    assert read == meta_graph


def test_text_is_read_by_messages_of_the_other_pool() -> None:
    config = config_pb2.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    theirs = text_format.Parse(str(config), _twin(config_pb2.ConfigProto)())
    assert str(theirs) == str(config)


def test_types_of_the_program_are_found_in_the_default_pool() -> None:
    found = ANY_TYPES.FindMessageTypeByName("google.protobuf.FileDescriptorProto")
    assert found is descriptor_pb2.FileDescriptorProto.DESCRIPTOR
    with pytest.raises(KeyError):
        ANY_TYPES.FindMessageTypeByName("no.such.Message")
