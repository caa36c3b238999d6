"""An item is a graph with what it is run for."""

from __future__ import annotations

import pytest
from tensorloom.python.grappler import item

import tensorloom as tf
from tests.grappler.graphs import chain, metagraph


def _model() -> list[object]:
    x = tf.placeholder(tf.float32, [8, 3], name="x")
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    z = tf.reshape(x * 2.0, [-1], name="z")
    tf.identity(z, name="unused")
    return [z, v.assign_add(tf.reduce_sum(x, 0))]


def test_important_ops_are_what_the_fetches_need() -> None:
    model = item.Item(metagraph(_model))
    names = set(model.IdentifyImportantOps())
    assert {"x", "z", "v", "AssignAdd"} <= names
    assert not {"unused", "v/Assign"} & names
    ordered = model.IdentifyImportantOps(sort_topologically=True)
    assert ordered.index("mul") < ordered.index("z")
    assert ordered.index("v") < ordered.index("AssignAdd")


def test_properties_are_dtype_shape_and_constant_value() -> None:
    properties = item.Item(metagraph(_model)).GetOpProperties()
    (fed,) = properties["x"]
    assert fed.shape.unknown_rank  # what is fed may be of any shape
    (shape,) = properties["z/shape"]
    assert tf.make_ndarray(shape.value).tolist() == [-1]
    (variable,) = properties["v"]
    assert [dim.size for dim in variable.shape.dim] == [3]
    assert variable.dtype == tf.float32._as_ref.as_datatype_enum


def test_writers_are_grouped_with_their_variable() -> None:
    groups = item.Item(metagraph(_model)).GetColocationGroups()
    assert groups == [("AssignAdd", "v", "v/Assign")]


def test_a_changed_message_is_read_again() -> None:
    model = item.Item(metagraph(chain))
    first = model.tf_item
    assert model.tf_item is first
    for node in model.metagraph.graph_def.node:
        node.device = "/cpu:0"
    second = model.tf_item
    assert second is not first
    assert model.tf_item is second


def test_a_message_must_say_what_is_run() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="train_op not specified"):
        item.Item(tf.MetaGraphDef())
    wrong = metagraph(chain)
    wrong.collection_def["train_op"].node_list.value[:] = ["nothing:0"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid metagraph"):
        item.Item(wrong)
