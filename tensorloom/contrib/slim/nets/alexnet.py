"""AlexNet, second version (https://arxiv.org/abs/1404.5997)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.pooling import max_pool2d
from tensorloom.contrib.slim.nets.plain import (
    NO_BIASES,
    SMALL_WEIGHTS,
    PlainNetwork,
    unpadded_pools,
)
from tensorloom.framework.export import export
from tensorloom.ops.state.initializers import Constant

if TYPE_CHECKING:
    from tensorloom.client.program.arg_scope import Scope


@export("contrib.slim.nets.alexnet.alexnet_v2_arg_scope")
def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """A scope for `arg_scope`: padded convolutions, whose biases begin at 0.1.

    Args:
      weight_decay: the weight of the L2 loss of weights.
    """
    return unpadded_pools(weight_decay, Constant(0.1))


def _features(net: Any) -> Any:
    net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
    net = max_pool2d(net, [3, 3], 2, scope="pool1")
    net = conv2d(net, 192, [5, 5], scope="conv2")
    net = max_pool2d(net, [3, 3], 2, scope="pool2")
    for number, depth in ((3, 384), (4, 384), (5, 256)):
        net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
    return max_pool2d(net, [3, 3], 2, scope="pool5")


_NETWORK: Final = PlainNetwork(
    "alexnet_v2", _features, window=5, connected=SMALL_WEIGHTS, last=NO_BIASES
)


@export("contrib.slim.nets.alexnet.alexnet_v2")
def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> tuple[Any, dict[str, Any]]:
    """AlexNet without local response normalization.

    Args:
      inputs: images, `[batch, height, width, channels]`, of 224 by 224 for one row of
        logits each.
      num_classes: how many logits there are.
      is_training: whether there is dropout.
      dropout_keep_prob: how probably a value is kept.
      spatial_squeeze: whether logits are `[batch, num_classes]`; else they keep their
        height and width.
      scope: of the variables.

    Returns:
      The logits, and the results of layers by name.
    """
    return _NETWORK.build(
        inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
