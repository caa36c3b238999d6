"""OverFeat (https://arxiv.org/abs/1312.6229)."""

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
from tensorloom.ops.state.initializers import Zeros

if TYPE_CHECKING:
    from tensorloom.client.program.arg_scope import Scope


@export("contrib.slim.nets.overfeat.overfeat_arg_scope")
def overfeat_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """A scope for `arg_scope`: padded convolutions, whose biases begin at zero.

    Args:
      weight_decay: the weight of the L2 loss of weights.
    """
    return unpadded_pools(weight_decay, Zeros())


def _features(net: Any) -> Any:
    net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
    net = max_pool2d(net, [2, 2], scope="pool1")
    net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
    net = max_pool2d(net, [2, 2], scope="pool2")
    for number, depth in ((3, 512), (4, 1024), (5, 1024)):
        net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
    return max_pool2d(net, [2, 2], scope="pool5")


_NETWORK: Final = PlainNetwork(
    "overfeat",
    _features,
    window=6,
    depths=(3072, 4096),
    connected=SMALL_WEIGHTS,
    last=NO_BIASES,
    is_shared=True,
)


@export("contrib.slim.nets.overfeat.overfeat")
def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> tuple[Any, dict[str, Any]]:
    """OverFeat, for images of 231 by 231; the rest is as of `alexnet.alexnet_v2`."""
    return _NETWORK.build(
        inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )
