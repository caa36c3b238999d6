"""The third Inception network (https://arxiv.org/abs/1512.00567)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program.arg_scope import Scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.pooling import avg_pool2d, max_pool2d
from tensorloom.contrib.layers.shaping import dropout, softmax
from tensorloom.contrib.slim.nets.inception_blocks import (
    Depth,
    EndPoint,
    build_end_points,
    class_logits,
    inception_arg_scope,
    pooled_logits,
    scaled_depth,
    window_within,
)
from tensorloom.contrib.slim.nets.plain import truncated_normal
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys

# The names are those of TensorFlow's checkpoints, also where they are irregular.
_STEM: Final[dict[str, EndPoint]] = {
    "Conv2d_1a_3x3": "32 /2",
    "Conv2d_2a_3x3": "32",
    "Conv2d_2b_3x3": "64 SAME",
    "MaxPool_3a_3x3": "/2",
    "Conv2d_3b_1x1": "80",
    "Conv2d_4a_3x3": "192",
    "MaxPool_5a_3x3": "/2",
}


def _mixed_5(
    pooled: int, middle: str = "Conv2d_0a_1x1 48 > Conv2d_0b_5x5 64"
) -> tuple[str, ...]:
    return (
        "Conv2d_0a_1x1 64",
        middle,
        "Conv2d_0a_1x1 64 > Conv2d_0b_3x3 96 > Conv2d_0c_3x3 96",
        f"AvgPool_0a_3x3 > Conv2d_0b_1x1 {pooled}",
    )


def _mixed_6(inner: int) -> tuple[str, ...]:
    """Branches whose long windows are of that depth, but for the last of each."""
    return (
        "Conv2d_0a_1x1 192",
        f"Conv2d_0a_1x1 {inner} > Conv2d_0b_1x7 {inner} > Conv2d_0c_7x1 192",
        f"Conv2d_0a_1x1 {inner} > Conv2d_0b_7x1 {inner} > Conv2d_0c_1x7 {inner}"
        f" > Conv2d_0d_7x1 {inner} > Conv2d_0e_1x7 192",
        "AvgPool_0a_3x3 > Conv2d_0b_1x1 192",
    )


def _mixed_7(last_of_middle: str) -> tuple[str, ...]:
    return (
        "Conv2d_0a_1x1 320",
        f"Conv2d_0a_1x1 384 > Conv2d_0b_1x3 384 | {last_of_middle} 384",
        "Conv2d_0a_1x1 448 > Conv2d_0b_3x3 384 > Conv2d_0c_1x3 384 | Conv2d_0d_3x1 384",
        "AvgPool_0a_3x3 > Conv2d_0b_1x1 192",
    )


_MIXED: Final[dict[str, EndPoint]] = {
    "Mixed_5b": _mixed_5(32),
    "Mixed_5c": _mixed_5(64, "Conv2d_0b_1x1 48 > Conv_1_0c_5x5 64"),
    "Mixed_5d": _mixed_5(64),
    "Mixed_6a": (
        "Conv2d_1a_1x1 384 3x3 /2 VALID",
        "Conv2d_0a_1x1 64 > Conv2d_0b_3x3 96 > Conv2d_1a_1x1 96 3x3 /2 VALID",
        "MaxPool_1a_3x3 /2 VALID",
    ),
    "Mixed_6b": _mixed_6(128),
    "Mixed_6c": _mixed_6(160),
    "Mixed_6d": _mixed_6(160),
    "Mixed_6e": _mixed_6(192),
    "Mixed_7a": (
        "Conv2d_0a_1x1 192 > Conv2d_1a_3x3 320 /2 VALID",
        "Conv2d_0a_1x1 192 > Conv2d_0b_1x7 192 > Conv2d_0c_7x1 192"
        " > Conv2d_1a_3x3 192 /2 VALID",
        "MaxPool_1a_3x3 /2 VALID",
    ),
    "Mixed_7b": _mixed_7("Conv2d_0b_3x1"),
    "Mixed_7c": _mixed_7("Conv2d_0c_3x1"),
}


@export("contrib.slim.nets.inception.inception_v3_base")
def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`.
      final_endpoint: its name: Conv2d_1a_3x3, Conv2d_2a_3x3, Conv2d_2b_3x3,
        MaxPool_3a_3x3, Conv2d_3b_1x1, Conv2d_4a_3x3, MaxPool_5a_3x3, Mixed_5b to
        Mixed_5d, Mixed_6a to Mixed_6e, or Mixed_7a to Mixed_7c.
      min_depth: how deep each layer is at least.
      depth_multiplier: times the depth of each layer.
      scope: of the variables.

    Returns:
      The end point, `[batch, height, width, depth]`, and all before it by name.

    Raises:
      ValueError: there is no such end point, or `depth_multiplier` is not above zero.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return build_end_points(
            inputs, {"VALID": _STEM, "SAME": _MIXED}, final_endpoint, depth
        )


@export("contrib.slim.nets.inception.inception_v3")
def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, dict[str, Any]]:
    """Inception v3, for images of 299 by 299.

    Args:
      min_depth, depth_multiplier: as of `inception_v3_base`.
      inputs, ...: as of `inception_v1`.

    Returns:
      The logits, and by name the end points, "AuxLogits" of a head of its own after
      Mixed_6e, "PreLogits", "Logits" and "Predictions".

    Raises:
      ValueError: `depth_multiplier` is not above zero.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    with (
        variable_scope(
            scope, "InceptionV3", [inputs, num_classes], reuse=reuse
        ) as whole,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, scope=whole, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        end_points["AuxLogits"] = _auxiliary_logits(
            end_points["Mixed_6e"], num_classes, depth, spatial_squeeze
        )
        with variable_scope("Logits"):
            end_points["PreLogits"], logits = pooled_logits(
                net, 8, dropout_keep_prob, num_classes, spatial_squeeze
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def _auxiliary_logits(
    net: Any, num_classes: int, depth: Depth, spatial_squeeze: bool
) -> Any:
    with (
        arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"),
        variable_scope("AuxLogits"),
    ):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        window = window_within(net, 5)
        net = conv2d(
            net,
            depth(768),
            window,
            weights_initializer=truncated_normal(0.01),
            padding="VALID",
            scope=f"Conv2d_2a_{window[0]}x{window[1]}",
        )
        return class_logits(
            net,
            num_classes,
            "Conv2d_2b_1x1",
            spatial_squeeze,
            weights_initializer=truncated_normal(0.001),
        )


@export("contrib.slim.nets.inception.inception_v3_arg_scope")
def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Scope:
    """A scope for `arg_scope`: normalized convolutions with weight decay.

    Args:
      weight_decay: the weight of the L2 loss of weights.
      batch_norm_var_collection: of the moving means and variances.
      batch_norm_decay: of the moving means and variances.
      batch_norm_epsilon: is added to variances.
      updates_collections: of the updates of moving means and variances.
      use_fused_batchnorm: whether normalization is one operation, where it can be.
    """
    return inception_arg_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
