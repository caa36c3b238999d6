"""The first Inception network, GoogLeNet (https://arxiv.org/abs/1409.4842)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program.arg_scope import Scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.pooling import avg_pool2d
from tensorloom.contrib.layers.shaping import dropout, softmax
from tensorloom.contrib.slim.nets.inception_blocks import (
    EndPoint,
    build_end_points,
    class_logits,
    inception_arg_scope,
)
from tensorloom.contrib.slim.nets.plain import truncated_normal
from tensorloom.framework.export import export


def _mixed(
    plain: int, middle: tuple[int, int], large: tuple[int, int], pooled: int
) -> tuple[str, ...]:
    """Four branches: depths of 1x1, of 1x1 and 3x3 twice, and of 1x1 after the pool."""
    return (
        f"Conv2d_0a_1x1 {plain}",
        f"Conv2d_0a_1x1 {middle[0]} > Conv2d_0b_3x3 {middle[1]}",
        f"Conv2d_0a_1x1 {large[0]} > Conv2d_0b_3x3 {large[1]}",
        f"MaxPool_0a_3x3 > Conv2d_0b_1x1 {pooled}",
    )


_TABLE: Final[dict[str, EndPoint]] = {
    "Conv2d_1a_7x7": "64 /2",
    "MaxPool_2a_3x3": "/2",
    "Conv2d_2b_1x1": "64",
    "Conv2d_2c_3x3": "192",
    "MaxPool_3a_3x3": "/2",
    "Mixed_3b": _mixed(64, (96, 128), (16, 32), 32),
    "Mixed_3c": _mixed(128, (128, 192), (32, 96), 64),
    "MaxPool_4a_3x3": "/2",
    "Mixed_4b": _mixed(192, (96, 208), (16, 48), 64),
    "Mixed_4c": _mixed(160, (112, 224), (24, 64), 64),
    "Mixed_4d": _mixed(128, (128, 256), (24, 64), 64),
    "Mixed_4e": _mixed(112, (144, 288), (32, 64), 64),
    "Mixed_4f": _mixed(256, (160, 320), (32, 128), 128),
    "MaxPool_5a_2x2": "/2",
    "Mixed_5b": (
        "Conv2d_0a_1x1 256",
        "Conv2d_0a_1x1 160 > Conv2d_0b_3x3 320",
        "Conv2d_0a_1x1 32 > Conv2d_0a_3x3 128",  # so called in TensorFlow's checkpoints
        "MaxPool_0a_3x3 > Conv2d_0b_1x1 128",
    ),
    "Mixed_5c": _mixed(384, (192, 384), (48, 128), 128),
}


@export("contrib.slim.nets.inception.inception_v1_base")
def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, dict[str, Any]]:
    """The network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`.
      final_endpoint: its name: Conv2d_1a_7x7, MaxPool_2a_3x3, Conv2d_2b_1x1,
        Conv2d_2c_3x3, MaxPool_3a_3x3, Mixed_3b, Mixed_3c, MaxPool_4a_3x3, Mixed_4b to
        Mixed_4f, MaxPool_5a_2x2, Mixed_5b or Mixed_5c.
      scope: of the variables.

    Returns:
      The end point, `[batch, height, width, depth]`, and all before it by name.

    Raises:
      ValueError: there is no such end point.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope(
            [conv2d, fully_connected], weights_initializer=truncated_normal(0.01)
        ),
    ):
        return build_end_points(
            inputs, {"SAME": _TABLE}, final_endpoint, lambda depth: depth
        )


@export("contrib.slim.nets.inception.inception_v1")
def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """Inception v1, for images of 224 by 224.

    Args:
      inputs: images, `[batch, height, width, channels]`.
      num_classes: how many logits there are.
      is_training: of normalization and dropout; a bool or a boolean tensor.
      dropout_keep_prob: how probably a value is kept.
      prediction_fn: from logits and a scope to predictions.
      spatial_squeeze: whether logits are `[batch, num_classes]`; else they keep their
        height and width.
      reuse, scope: of the variables.

    Returns:
      The logits, and by name the end points, "Logits" and "Predictions".
    """
    with (
        variable_scope(
            scope, "InceptionV1", [inputs, num_classes], reuse=reuse
        ) as whole,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=whole)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = class_logits(net, num_classes, "Conv2d_0c_1x1", spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


@export("contrib.slim.nets.inception.inception_v1_arg_scope")
def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Scope:
    """A scope for `arg_scope`: normalized convolutions with weight decay.

    Args:
      weight_decay: the weight of the L2 loss of weights.
      use_batch_norm: whether convolutions are normalized.
      batch_norm_var_collection: of the moving means and variances.
    """
    return inception_arg_scope(
        weight_decay, batch_norm_var_collection, use_batch_norm=use_batch_norm
    )
