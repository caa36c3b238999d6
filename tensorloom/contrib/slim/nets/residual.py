"""A residual network of either version, around its units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.client.program.arg_scope import arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.collections import convert_collection_to_dict
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.pooling import max_pool2d
from tensorloom.contrib.layers.shaping import softmax
from tensorloom.contrib.slim.nets.resnet_utils import (
    Block,
    conv2d_same,
    stack_blocks_dense,
)
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.reductions.reductions import reduce_mean

# By the number of layers: how many units each of the four blocks has.
UNITS: Final = {
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
    200: (3, 24, 36, 3),
}


def bottleneck_block(
    bottleneck: Callable[..., Any],
    scope: str,
    base_depth: int,
    num_units: int,
    stride: int,
) -> Block:
    """A block of `num_units` bottlenecks, the last of which has the stride."""
    strides = [1] * (num_units - 1) + [stride]
    return Block(
        scope,
        bottleneck,
        [
            {"depth": 4 * base_depth, "depth_bottleneck": base_depth, "stride": each}
            for each in strides
        ],
    )


def blocks_of_depth(bottleneck: Callable[..., Any], layers: int) -> list[Block]:
    """The four blocks of the network with so many layers."""
    return [
        bottleneck_block(
            bottleneck, f"block{number}", 32 * 2**number, units, 1 if number == 4 else 2
        )
        for number, units in enumerate(UNITS[layers], 1)
    ]


def residual_network(
    version: tuple[str, Callable[..., Any]],
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None,
    is_training: Any,
    global_pool: bool,
    output_stride: float | None,
    include_root_block: bool,
    reuse: Any,
    scope: Any,
    *,
    is_preactivated: bool,
) -> tuple[Any, dict[str, Any]]:
    """Logits and end points of a network; arguments as of `resnet_v1.resnet_v1`.

    Args:
      version: the default scope, and the unit whose outputs are end points.
      is_preactivated: whether units normalize and activate what comes in, so that the
        first convolution does not, and what the last unit gives still has to be.

    Raises:
      ValueError: `output_stride` cannot be reached.
    """
    default_scope, bottleneck = version
    with variable_scope(scope, default_scope, [inputs], reuse=reuse) as sc:
        collection = f"{sc.original_name_scope}_end_points"
        with (
            arg_scope(
                [conv2d, bottleneck, stack_blocks_dense],
                outputs_collections=collection,
            ),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError(
                            "The output_stride needs to be a multiple of 4, got "
                            f"{output_stride}."
                        )
                    output_stride /= 4
                net = _root_block(net, is_preactivated)
            net = stack_blocks_dense(net, blocks, output_stride)
            if is_preactivated:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(
                    net,
                    num_classes,
                    [1, 1],
                    activation_fn=None,
                    normalizer_fn=None,
                    scope="logits",
                )
            end_points = convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points


def _root_block(net: Any, is_preactivated: bool) -> Any:
    plain = {"activation_fn": None, "normalizer_fn": None} if is_preactivated else {}
    with arg_scope([conv2d], **plain):
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return max_pool2d(net, [3, 3], stride=2, scope="pool1")
