"""`tf.contrib.receptive_field` of small networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import receptive_field, slim
from tensorloom.contrib.slim.nets import resnet_v1


def _two_ways(strides: tuple[int, int], padding: str = "VALID") -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [1, None, None, 1], name="input")
        left = slim.conv2d(x, 1, [1, 1], stride=4, padding="VALID", scope="left")
        right = tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]], name="pad")
        for number, stride in enumerate(strides):
            right = slim.conv2d(
                right, 1, [3, 3], stride=stride, padding=padding, scope=f"r{number}"
            )
        tf.nn.relu(left + right, name="output")
    return graph


def _field(graph: tf.Graph, **options: Any) -> Any:
    return receptive_field.compute_receptive_field_from_graph_def(
        graph.as_graph_def(), "input", "output", **options
    )


def test_the_larger_of_two_ways() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [1, None, None, 1], name="input")
        left = slim.conv2d(x, 1, [1, 1], stride=4, padding="VALID", scope="left")
        right = tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]], name="pad")
        right = slim.conv2d(right, 1, [3, 3], stride=2, padding="VALID", scope="a")
        right = slim.conv2d(right, 1, [1, 1], stride=2, padding="VALID", scope="b")
        tf.nn.relu(left + right, name="output")
    field = _field(graph)
    assert list(field) == [3, 3, 4, 4, 1, 1]
    centers = field.compute_input_center_coordinates([[0, 0], [2, 1]])
    np.testing.assert_array_equal(centers, [[0, 0], [8, 4]])
    np.testing.assert_array_equal(
        field.compute_feature_coordinates(centers), [[0, 0], [2, 1]]
    )
    with pytest.raises(ValueError, match=r"\(2\) does not match .* \(1\)"):
        field.compute_feature_coordinates(centers, axis=[0])


def test_a_residual_network() -> None:
    """As https://distill.pub/2019/computing-receptive-fields has it for ResNet-50."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 224, 224, 3], name="input")
        with slim.arg_scope(resnet_v1.resnet_arg_scope()):
            net, _ = resnet_v1.resnet_v1_50(x, is_training=False, global_pool=False)
        field = receptive_field.compute_receptive_field_from_graph_def(
            graph, x, net, input_resolution=[224, 224]
        )
    assert (field.size.tolist(), field.stride.tolist()) == ([483, 483], [32, 32])


def test_orders_and_sizes() -> None:
    graph = _two_ways((2, 2))
    info, nodes = receptive_field.get_compute_order(
        graph.as_graph_def(), "input", [9, 13]
    )
    assert info["input"].order == 0
    assert info["pad"].output_size == [10, 14]
    assert info["r0/Conv2D"].output_size == [4, 6]
    assert info["output"].order > info["r1/Conv2D"].order > info["r0/Conv2D"].order
    assert info["output"].node is nodes["output"]


@pytest.mark.parametrize(
    ("strides", "message"),
    [
        ((1, 2), "effective stride from different paths is different in horizontal"),
        ((2, 2), "center shift from different paths is different in horizontal"),
    ],
)
def test_ways_that_see_other_places(strides: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _field(_two_ways(strides))
    field = _field(_two_ways(strides), stop_propagation=["left"])
    assert field.stride.tolist() == [strides[0] * strides[1]] * 2


def test_refusals() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 8, 8, 1], name="input")
        tf.nn.relu(tf.nn.softmax(x, name="soft"), name="output")
    with pytest.raises(ValueError, match=r"for operation 'soft.*Softmax"):
        _field(graph)
    compute = receptive_field.compute_receptive_field_from_graph_def
    with pytest.raises(ValueError, match="Output node was not found"):
        compute(graph, "input", "none")
    with pytest.raises(ValueError, match="Input node was not found"):
        compute(_two_ways((2, 2)), "other", "left/Conv2D", ["input"])
