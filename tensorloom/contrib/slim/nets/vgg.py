"""The networks of Oxford's Visual Geometry Group (https://arxiv.org/abs/1409.1556)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.pooling import max_pool2d
from tensorloom.contrib.layers.shaping import repeat
from tensorloom.contrib.slim.nets.plain import PlainNetwork, padded_convolutions
from tensorloom.framework.export import export
from tensorloom.ops.state.initializers import Zeros

if TYPE_CHECKING:
    from tensorloom.client.program.arg_scope import Scope


@export("contrib.slim.nets.vgg.vgg_arg_scope")
def vgg_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """A scope for `arg_scope`: padded convolutions, whose biases begin at zero.

    Args:
      weight_decay: the weight of the L2 loss of weights.
    """
    return padded_convolutions(weight_decay, Zeros())


def _features(counts: tuple[int, ...]) -> Callable[[Any], Any]:
    def build(net: Any) -> Any:
        for number, count in enumerate(counts, 1):
            depth = min(32 * 2**number, 512)
            net = repeat(net, count, conv2d, depth, [3, 3], scope=f"conv{number}")
            net = max_pool2d(net, [2, 2], scope=f"pool{number}")
        return net

    return build


def _network(
    name: str, counts: tuple[int, ...], *more_names: str, **options: Any
) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """A network of five stacks of so many convolutions of 3 by 3 each."""
    network = PlainNetwork(name, _features(counts), window=7, **options)

    def build(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> tuple[Any, dict[str, Any]]:
        return network.build(
            inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
        )

    build.__name__ = build.__qualname__ = name
    build.__doc__ = (
        f"VGG of {sum(counts) + 3} layers; arguments as of `alexnet.alexnet_v2`."
    )
    build.default_image_size = 224  # type: ignore[attr-defined]
    return export(*(f"contrib.slim.nets.vgg.{each}" for each in (name, *more_names)))(
        build
    )


vgg_a = _network("vgg_a", (1, 1, 2, 2, 2), collected=(conv2d, max_pool2d))
vgg_16 = vgg_d = _network("vgg_16", (2, 2, 3, 3, 3), "vgg_d")
vgg_19 = vgg_e = _network("vgg_19", (2, 2, 4, 4, 4), "vgg_e", is_shared=True)
