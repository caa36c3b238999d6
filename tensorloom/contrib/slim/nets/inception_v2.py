"""The second Inception network (https://arxiv.org/abs/1502.03167)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program.arg_scope import Scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.depthwise import separable_conv2d
from tensorloom.contrib.layers.shaping import dropout, softmax
from tensorloom.contrib.slim.nets.inception_blocks import (
    Depth,
    EndPoint,
    build_end_points,
    inception_arg_scope,
    pooled_logits,
    scaled_depth,
)
from tensorloom.contrib.slim.nets.plain import truncated_normal
from tensorloom.framework.export import export


def _first_layer(net: Any, depth: Depth, name: str) -> Any:
    return separable_conv2d(
        net,
        depth(64),
        [7, 7],
        # Of three channels, no more than the layer's depth, nor than eight each.
        depth_multiplier=min(depth(64) // 3, 8),
        stride=2,
        weights_initializer=truncated_normal(1.0),
        scope=name,
    )


def _mixed(
    plain: int,
    middle: tuple[int, int],
    large: tuple[int, int],
    pooled: int,
    pool: str = "AvgPool",
) -> tuple[str, ...]:
    """Four branches: depths of 1x1; of 1x1 and 3x3; of 1x1 and 3x3s; after the pool."""
    return (
        f"Conv2d_0a_1x1 {plain}",
        f"Conv2d_0a_1x1 {middle[0]} ~0.09 > Conv2d_0b_3x3 {middle[1]}",
        f"Conv2d_0a_1x1 {large[0]} ~0.09 > Conv2d_0b_3x3 {large[1]}"
        f" > Conv2d_0c_3x3 {large[1]}",
        f"{pool}_0a_3x3 > Conv2d_0b_1x1 {pooled} ~0.1",
    )


def _smaller(middle: tuple[int, int], large: tuple[int, int]) -> tuple[str, ...]:
    """Three branches that halve height and width."""
    return (
        f"Conv2d_0a_1x1 {middle[0]} ~0.09 > Conv2d_1a_3x3 {middle[1]} /2",
        f"Conv2d_0a_1x1 {large[0]} ~0.09 > Conv2d_0b_3x3 {large[1]}"
        f" > Conv2d_1a_3x3 {large[1]} /2",
        "MaxPool_1a_3x3 /2",
    )


_TABLE: Final[dict[str, EndPoint]] = {
    "Conv2d_1a_7x7": _first_layer,
    "MaxPool_2a_3x3": "/2",
    "Conv2d_2b_1x1": "64 ~0.1",
    "Conv2d_2c_3x3": "192",
    "MaxPool_3a_3x3": "/2",
    "Mixed_3b": _mixed(64, (64, 64), (64, 96), 32),
    "Mixed_3c": _mixed(64, (64, 96), (64, 96), 64),
    "Mixed_4a": _smaller((128, 160), (64, 96)),
    "Mixed_4b": _mixed(224, (64, 96), (96, 128), 128),
    "Mixed_4c": _mixed(192, (96, 128), (96, 128), 128),
    "Mixed_4d": _mixed(160, (128, 160), (128, 160), 96),
    "Mixed_4e": _mixed(96, (128, 192), (160, 192), 96),
    "Mixed_5a": _smaller((128, 192), (192, 256)),
    "Mixed_5b": _mixed(352, (192, 320), (160, 224), 128),
    "Mixed_5c": _mixed(352, (192, 320), (192, 224), 128, pool="MaxPool"),
}


@export("contrib.slim.nets.inception.inception_v2_base")
def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`.
      final_endpoint: its name: Conv2d_1a_7x7, MaxPool_2a_3x3, Conv2d_2b_1x1,
        Conv2d_2c_3x3, MaxPool_3a_3x3, Mixed_3b, Mixed_3c, Mixed_4a to Mixed_4e, or
        Mixed_5a to Mixed_5c.
      min_depth: how deep each layer is at least.
      depth_multiplier: times the depth of each layer.
      scope: of the variables.

    Returns:
      The end point, `[batch, height, width, depth]`, and all before it by name.

    Raises:
      ValueError: there is no such end point, or `depth_multiplier` is not above zero.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV2", [inputs]):
        return build_end_points(inputs, {"SAME": _TABLE}, final_endpoint, depth)


@export("contrib.slim.nets.inception.inception_v2")
def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, dict[str, Any]]:
    """Inception v2, for images of 224 by 224.

    Args:
      min_depth, depth_multiplier: as of `inception_v2_base`.
      inputs, ...: as of `inception_v1`.

    Returns:
      The logits, and by name the end points, "Logits" and "Predictions".

    Raises:
      ValueError: `depth_multiplier` is not above zero.
    """
    with (
        variable_scope(
            scope, "InceptionV2", [inputs, num_classes], reuse=reuse
        ) as whole,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, scope=whole, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with variable_scope("Logits"):
            _, logits = pooled_logits(
                net, 7, dropout_keep_prob, num_classes, spatial_squeeze
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


@export("contrib.slim.nets.inception.inception_v2_arg_scope")
def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Scope:
    """A scope for `arg_scope`: normalized convolutions with weight decay.

    Args:
      weight_decay: the weight of the L2 loss of weights.
      batch_norm_var_collection: of the moving means and variances.
    """
    return inception_arg_scope(weight_decay, batch_norm_var_collection)
