"""What residual networks of both versions are built of."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tensorloom.client.program.arg_scope import Scope, add_arg_scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.collections import collect_named_outputs
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.initializers import variance_scaling_initializer
from tensorloom.contrib.layers.pooling import max_pool2d
from tensorloom.contrib.layers.regularizers import l2_regularizer
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.ops.array.pad import pad
from tensorloom.ops.nn.activation import relu

Block = namedtuple("Block", ["scope", "unit_fn", "args"])
Block.__doc__ = """A stack of residual units.

  scope: the name of its variable scope.
  unit_fn: builds one unit: called with a tensor, `rate` and the arguments of `args`.
  args: for each unit, a dict of its arguments: depth, depth_bottleneck and stride.
"""
export_value(Block, "contrib.slim.nets.resnet_utils.Block")


@export("contrib.slim.nets.resnet_utils.subsample")
def subsample(inputs: Any, factor: int, scope: str | None = None) -> Any:
    """Every `factor`-th pixel of images `[batch, height, width, channels]`."""
    if factor == 1:
        return inputs
    return max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


@export("contrib.slim.nets.resnet_utils.conv2d_same")
def conv2d_same(
    inputs: Any,
    num_outputs: int,
    kernel_size: int,
    stride: int,
    rate: int = 1,
    scope: str | None = None,
) -> Any:
    """A convolution padded alike for images of even and of odd sizes.

    With "SAME", a convolution with strides pads images of even sizes at their ends
    only; this one pads both sides, and so gives what a convolution without strides
    gives, subsampled.

    Args:
      inputs: images, `[batch, height, width, channels]`.
      num_outputs: how many channels the result has.
      kernel_size, stride, rate: of the window, the same for height and width.
      scope: of the variables.
    """
    padding = "SAME"
    if stride != 1:
        around = (kernel_size - 1) * rate
        sides = [around // 2, around - around // 2]
        inputs = pad(inputs, [[0, 0], sides, sides, [0, 0]])
        padding = "VALID"
    return conv2d(
        inputs,
        num_outputs,
        kernel_size,
        stride=stride,
        rate=rate,
        padding=padding,
        scope=scope,
    )


@export("contrib.slim.nets.resnet_utils.stack_blocks_dense")
@add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Any],
    output_stride: float | None = None,
    outputs_collections: Any = None,
) -> Any:
    """Stacks blocks of units, in scopes such as `block1/unit_1`.

    Args:
      net: images, `[batch, height, width, channels]`.
      blocks: the `Block`s, in order.
      output_stride: how many times smaller the result is than `net`. The units after
        those that reach it have no strides, but the windows of their convolutions are
        dilated. None: as the strides of all units say.
      outputs_collections: of the output of each block.

    Raises:
      ValueError: the strides of the first units never multiply to `output_stride`.
    """
    reached, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as scope:
            for number, arguments in enumerate(block.args, 1):
                _check_stride(reached, output_stride)
                stride = arguments.get("stride", 1)
                with variable_scope(f"unit_{number}", values=[net]):
                    if reached == output_stride:
                        net = block.unit_fn(
                            net, rate=rate, **{**arguments, "stride": 1}
                        )
                        rate *= stride
                    else:
                        net = block.unit_fn(net, rate=1, **arguments)
                        reached *= stride
            net = collect_named_outputs(outputs_collections, scope.name, net)
    _check_stride(reached, output_stride, is_last=True)
    return net


def _check_stride(reached: int, wanted: float | None, is_last: bool = False) -> None:
    if wanted is not None and (reached > wanted or (is_last and reached != wanted)):
        raise ValueError(
            f"The target output_stride cannot be reached: the units' strides multiply "
            f"to {reached}, expected {wanted:g}."
        )


@export(
    "contrib.slim.nets.resnet_utils.resnet_arg_scope",
    "contrib.slim.nets.resnet_v1.resnet_arg_scope",
    "contrib.slim.nets.resnet_v2.resnet_arg_scope",
)
def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Scope:
    """What the convolutions, normalizations and pools of residual networks default to.

    Args:
      weight_decay: the weight of the L2 loss of the convolutions' weights.
      batch_norm_decay: of the moving means and variances.
      batch_norm_epsilon: is added to variances.
      batch_norm_scale: whether normalized values are scaled by `gamma`.

    Returns:
      A scope for `arg_scope`.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=normalization,
        ),
        arg_scope([batch_norm], **normalization),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope
