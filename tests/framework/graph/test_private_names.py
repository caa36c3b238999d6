"""The underscore names that libraries for TensorFlow 1 use."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


def test_graphs_show_their_nodes() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
    assert graph._nodes_by_name["x"] is x.op
    assert graph._nodes_by_id[x.op._id] is x.op
    assert graph._get_operation_by_name_unsafe("y") is None
    assert graph._version == graph._next_id_counter == graph.version
    assert not graph._building_function
    assert graph._graph_key == graph._graph_key != tf.Graph()._graph_key
    assert graph._as_graph_def()[0] == graph.as_graph_def()
    with graph._mutation_lock(), graph._session_run_lock():
        pass


def test_graphs_show_their_blocks() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.device("/job:a"), tf.device("/cpu:1"):
        inside = graph._device_function_stack
        assert len(inside.peek_objs()) == 2
        x = tf.no_op()
        graph._device_function_stack = inside[:1]
        y = tf.no_op()
        graph._device_function_stack = inside
        assert x.device == "/job:a/device:CPU:1"
        assert y.device == "/job:a"
        x._set_device("")
        graph._apply_device_functions(x)
        assert x.device == "/job:a/device:CPU:1"
        with tf.control_dependencies([x]):
            stack = graph._control_dependencies_stack
            assert len(stack) == 1
            graph._control_dependencies_stack = []
            assert not tf.no_op().control_inputs
            graph._control_dependencies_stack = stack
            assert tf.no_op().control_inputs == [x]
        with tf.colocate_with(x):
            assert graph._colocation_stack.peek_top_obj() is x
        with graph._original_op(x):
            assert tf.no_op()._original_op is x
        assert tf.no_op()._original_op is None


def test_functions_are_copied() -> None:
    graph = tf.Graph()
    with graph.as_default():

        @tf.function
        def twice(x: Any) -> Any:
            return x + x

        twice(tf.constant(1.0))
        proto = tf.GraphDef()
        graph._copy_functions_to_graph_def(proto, 0)
        names = [f.signature.name for f in proto.library.function]
        assert names == [
            f.signature.name for f in graph.as_graph_def().library.function
        ]
        with pytest.raises(ValueError, match="2GB"):
            graph._copy_functions_to_graph_def(tf.GraphDef(), 1 << 31)


def test_creators_of_variables() -> None:
    graph, seen = tf.Graph(), []

    def creator(tag: str) -> Any:
        def create(following: Any, **options: Any) -> Any:
            seen.append(tag)
            return following(**options)

        return create

    with (
        graph.as_default(),
        graph._variable_creator_scope(creator("late"), priority=10),
        graph._variable_creator_scope(creator("early"), priority=200),
    ):
        tf.Variable(1.0)
    assert seen == ["early", "late"]
    with graph.as_default():
        tf.Variable(1.0)
    assert len(seen) == 2


def test_operations() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(1.0, use_resource=False)
        assign = v.assign(2.0).op
        assert assign._input_types == [tf.as_dtype("float32_ref"), tf.float32]
        assert assign._input_dtypes == [tf.as_dtype("float32_ref"), tf.float32]
        assert assign._node_def == assign.node_def
        assert not assign._get_attr_bool("use_locking")
        assert assign._get_attr_type("T") == tf.float32
        op = tf.no_op()
        op._set_func_attr("f", "g")
        op._set_type_list_attr("types", [tf.int32])
        op._set_shape_list_attr("shapes", [[1, None]])
        op._set_device_from_string("/cpu:0")
        attrs = op.node_def.attr
        assert attrs["f"].func.name == "g"
        assert list(attrs["types"].list.type) == [3]
        assert attrs["shapes"].list.shape[0].dim[1].size == -1
        assert op.device == "/cpu:0"


def test_tensors() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, None], name="x")
        assert x._shape_as_list() == [2, None]
        assert x._shape_tuple() == (2, None)
        assert x._rank() == 2
        assert x._c_api_shape() is x._shape_val is x.shape
        assert x._as_node_def_input() == "x"
        assert tf.placeholder(tf.float32)._shape_as_list() is None
