"""Residual networks of full pre-activation, which normalize before convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.collections import collect_named_outputs
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.static_arguments import last_dimension
from tensorloom.contrib.slim.nets.residual import (
    blocks_of_depth,
    bottleneck_block,
    residual_network,
)
from tensorloom.contrib.slim.nets.resnet_utils import (
    Block,
    conv2d_same,
    resnet_arg_scope,  # noqa: F401 - a name of this module too
    subsample,
)
from tensorloom.framework.export import export
from tensorloom.ops.nn.activation import relu

_NAME = "contrib.slim.nets.resnet_v2"


@export(f"{_NAME}.bottleneck")
@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A unit of three convolutions around a shortcut, normalized before it.

    Args:
      inputs: `[batch, height, width, channels]`.
      depth: how many channels the result has.
      depth_bottleneck: how many the two inner convolutions have.
      stride: of the unit.
      rate: how far the window of the middle convolution is dilated.
      outputs_collections: of the result.
      scope: of the variables.

    Raises:
      ValueError: the inputs are not of rank 4, or of unknown depth.
    """
    with variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        active = batch_norm(inputs, activation_fn=relu, scope="preact")
        plain = {"normalizer_fn": None, "activation_fn": None}
        if depth == channels:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(
                active, depth, [1, 1], stride=stride, scope="shortcut", **plain
            )
        net = conv2d(active, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        net = conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        net = conv2d(net, depth, [1, 1], stride=1, scope="conv3", **plain)
        output = shortcut + net
        return collect_named_outputs(outputs_collections, sc.name, output)


@export(f"{_NAME}.resnet_v2")
def resnet_v2(
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """A residual network of blocks of one's own (https://arxiv.org/abs/1603.05027).

    Args:
      inputs: images, `[batch, height, width, channels]`.
      blocks: `resnet_utils.Block`s, such as of `resnet_v2_block`.
      num_classes: how many logits there are; None for no logits.
      is_training: whether batches are normalized by their own moments; a bool or a
        boolean tensor.
      global_pool: whether the mean is taken over each image. Without it, there are
        logits for each place.
      output_stride: how many times smaller than the images the places are; the strides
        of all layers when None.
      include_root_block: whether a convolution and a pool of stride 2 come first.
      reuse, scope: of the variables.

    Returns:
      The logits, or what comes before them, `[batch, height, width, channels]`, and the
      results of layers by name, with "predictions" if there are logits.

    Raises:
      ValueError: `output_stride` cannot be reached.
    """
    return residual_network(
        ("resnet_v2", bottleneck),
        inputs,
        blocks,
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block,
        reuse,
        scope,
        is_preactivated=True,
    )


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


@export(f"{_NAME}.resnet_v2_block")
def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottlenecks.

    Args:
      scope: the name of its variable scope.
      base_depth: the depth of the bottlenecks; what they give is four times as deep.
      num_units: how many there are.
      stride: of the last one; the others have none.
    """
    return bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


def _of_depth(layers: int) -> Callable[..., tuple[Any, dict[str, Any]]]:
    name = f"resnet_v2_{layers}"

    def build(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: float | None = None,
        reuse: Any = None,
        scope: Any = name,
    ) -> tuple[Any, dict[str, Any]]:
        return resnet_v2(
            inputs,
            blocks_of_depth(bottleneck, layers),
            num_classes,
            is_training,
            global_pool,
            output_stride,
            include_root_block=True,
            reuse=reuse,
            scope=scope,
        )

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"ResNet-{layers}; arguments and results as of `resnet_v2`."
    return export(f"{_NAME}.{name}")(build)


resnet_v2_50 = _of_depth(50)
resnet_v2_101 = _of_depth(101)
resnet_v2_152 = _of_depth(152)
resnet_v2_200 = _of_depth(200)
