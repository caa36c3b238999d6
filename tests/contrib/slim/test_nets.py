"""`slim.nets`: sizes, names and refusals; values are compared with TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import slim
from tensorloom.contrib.slim import nets

# Network, its arguments' scope, height and width, how many weights its variables have.
SIZES = [
    (nets.alexnet.alexnet_v2, nets.alexnet.alexnet_v2_arg_scope, 224, 50_303_912),
    (nets.overfeat.overfeat, nets.overfeat.overfeat_arg_scope, 231, 145_704_424),
    (nets.vgg.vgg_a, nets.vgg.vgg_arg_scope, 224, 132_863_336),
    (nets.vgg.vgg_16, nets.vgg.vgg_arg_scope, 224, 138_357_544),
    (nets.vgg.vgg_19, nets.vgg.vgg_arg_scope, 224, 143_667_240),
    (
        nets.inception.inception_v1,
        nets.inception.inception_v1_arg_scope,
        224,
        6_617_624,
    ),
    (
        nets.inception.inception_v2,
        nets.inception.inception_v2_arg_scope,
        224,
        11_178_336,
    ),
    (
        nets.inception.inception_v3,
        nets.inception.inception_v3_arg_scope,
        299,
        27_143_152,
    ),
]
RESIDUAL = [
    (module, f"resnet_v{version}_{layers}", units)
    for version, module in ((1, nets.resnet_v1), (2, nets.resnet_v2))
    for layers, units in ((50, 16), (101, 33), (152, 50), (200, 66))
]


@pytest.mark.parametrize(
    ("network", "scope", "size", "weights"), SIZES, ids=lambda x: str(x)[:30]
)
@pytest.mark.slow
def test_logits_and_weights(
    network: Callable[..., Any], scope: Callable[..., Any], size: int, weights: int
) -> None:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [2, size, size, 3])
        with slim.arg_scope(scope()):
            logits, end_points = network(images)
        assert logits.get_shape().as_list() == [2, 1000]
        assert getattr(network, "default_image_size", size) == size
        assert all(isinstance(value, tf.Tensor) for value in end_points.values())
        total, _ = slim.model_analyzer.analyze_vars(tf.trainable_variables())
        assert total == weights


@pytest.mark.parametrize(("module", "name", "units"), RESIDUAL)
@pytest.mark.slow
def test_residual_networks_have_their_units(module: Any, name: str, units: int) -> None:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [1, 64, 64, 3])
        with slim.arg_scope(module.resnet_arg_scope()):
            net, end_points = getattr(module, name)(images)
        assert net.get_shape().as_list() == [1, 1, 1, 2048]
        bottlenecks = [key for key in end_points if key.count("/") == 3]
        assert len(bottlenecks) == units
        assert f"{name}/block1/unit_1/bottleneck_{name[7:9]}" in bottlenecks


def _small_resnet(inputs: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    module = nets.resnet_v1
    blocks = [
        module.resnet_v1_block("first", base_depth=1, num_units=2, stride=2),
        module.resnet_v1_block("second", base_depth=2, num_units=2, stride=1),
    ]
    with slim.arg_scope(module.resnet_arg_scope()):
        return module.resnet_v1(inputs, blocks, is_training=False, **options)


@pytest.mark.slow
def test_output_stride_dilates_in_place_of_striding() -> None:
    """Every second place of the dense result is the one of the strided network."""
    images = np.random.RandomState(0).rand(2, 33, 33, 3).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        strided, _ = _small_resnet(images, global_pool=False, scope="net")
        dense, end_points = _small_resnet(
            images, global_pool=False, scope="net", output_stride=4, reuse=True
        )
        dense = nets.resnet_utils.subsample(dense, 2)
        session.run(tf.global_variables_initializer())
        expected, actual = session.run([strided, dense])
        assert expected.shape == (2, 5, 5, 8)
        np.testing.assert_allclose(actual, expected, atol=1e-5)
        assert "net/first" in end_points
        assert "predictions" not in end_points


def test_conv2d_same_is_a_subsampled_convolution() -> None:
    images = np.random.RandomState(0).rand(1, 6, 8, 2).astype(np.float32)
    conv2d_same, subsample = nets.resnet_utils.conv2d_same, nets.resnet_utils.subsample
    with tf.Graph().as_default(), tf.Session() as session:
        strided = conv2d_same(images, 3, 3, stride=2, scope="Conv")
        tf.get_variable_scope().reuse_variables()
        plain = subsample(conv2d_same(images, 3, 3, stride=1, scope="Conv"), 2)
        session.run(tf.global_variables_initializer())
        expected, actual = session.run([plain, strided])
    np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda x: _small_resnet(x, output_stride=3),
            "The output_stride needs to be a multiple of 4, got 3",
        ),
        (
            lambda x: _small_resnet(x, output_stride=64),
            "the units' strides multiply to 2, expected 16",
        ),
        (
            lambda x: nets.inception.inception_v1_base(x, final_endpoint="Mixed_9"),
            "Unknown final endpoint Mixed_9; there are Conv2d_1a_7x7, .*, Mixed_5c",
        ),
        (
            lambda x: nets.inception.inception_v2_base(x, depth_multiplier=0.0),
            "depth_multiplier is not greater than zero",
        ),
        (
            lambda x: nets.inception.inception_v3(x, depth_multiplier=-1.0),
            "depth_multiplier is not greater than zero",
        ),
    ],
)
def test_refusals(build: Callable[[Any], Any], message: str) -> None:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [1, 128, 128, 3])
        with pytest.raises(ValueError, match=message):
            build(images)


def test_summaries_are_called_after_their_tensors() -> None:
    summaries = slim.summaries
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.constant([0.0, 1.0, 0.0, 3.0], name="values")
        second = tf.identity(values[1], name="second")
        image = tf.zeros([1, 2, 2, 3], name="image")
        made = [
            *summaries.add_histogram_summaries([values], prefix="all"),
            *summaries.add_zero_fraction_summaries([values]),
            *summaries.add_scalar_summaries([second], print_summary=True),
            *summaries.add_image_summaries([image]),
            summaries.add_scalar_summary(values[3], name="last", prefix="some"),
        ]
        assert tf.get_collection(tf.GraphKeys.SUMMARIES) == made
        written = [tf.Summary.FromString(text).value[0] for text in session.run(made)]
        assert [value.tag for value in written] == [
            "all/values",
            "values/Fraction_of_Zero_Values",
            "second_1",
            "image_1/image/0",
            "some/last",
        ]
        assert [written[k].simple_value for k in (1, 2, 4)] == [0.5, 1.0, 3.0]
