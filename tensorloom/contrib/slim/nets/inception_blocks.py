"""Inception networks as tables of end points, whose branches are lines of text.

    "Mixed_3b": ("Conv2d_0a_1x1 64", "MaxPool_0a_3x3 > Conv2d_0b_1x1 32")

A branch is layers with `>` between them; where `|` stands between layers, both see what
came before, and their results are put together. A layer is its scope's name, which says
what it is and how large its window is, then its depth, and what differs from the scope:
`/2` a stride, `VALID` padding, `~0.1` weights of that deviation, `3x3` a window that is
not the one of the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tensorloom.client.program.arg_scope import Scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.batch_normalization import batch_norm
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.depthwise import separable_conv2d
from tensorloom.contrib.layers.initializers import variance_scaling_initializer
from tensorloom.contrib.layers.pooling import avg_pool2d, max_pool2d
from tensorloom.contrib.layers.regularizers import l2_regularizer
from tensorloom.contrib.layers.shaping import dropout
from tensorloom.contrib.slim.nets.plain import truncated_normal
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.nn.activation import relu

Depth = Callable[[int], int]
# What an end point is: one layer, branches, or a function of what comes in.
EndPoint = str | tuple[str, ...] | Callable[[Any, Depth, str], Any]

_POOLS: Final = {"MaxPool": max_pool2d, "AvgPool": avg_pool2d}
_WINDOW: Final = re.compile(r"(\d+)x(\d+)$")


@dataclass(frozen=True)
class _Layer:
    name: str
    window: tuple[int, int]
    depth: int | None  # None for pools
    stride: int | None
    padding: str | None
    stddev: float | None

    def build(self, net: Any, depth: Depth) -> Any:
        options: dict[str, Any] = {"scope": self.name}
        if self.stride is not None:
            options["stride"] = self.stride
        if self.padding is not None:
            options["padding"] = self.padding
        if self.depth is None:
            return _POOLS[self.name.partition("_")[0]](net, self.window, **options)
        if self.stddev is not None:
            options["weights_initializer"] = truncated_normal(self.stddev)
        return conv2d(net, depth(self.depth), self.window, **options)


@cache
def _layer(text: str) -> _Layer:
    name, *words = text.split()
    found: dict[str, Any] = dict.fromkeys(("depth", "stride", "padding", "stddev"))
    window = name
    for word in words:
        if word.startswith("/"):
            found["stride"] = int(word[1:])
        elif word.startswith("~"):
            found["stddev"] = float(word[1:])
        elif word.isdigit():
            found["depth"] = int(word)
        elif _WINDOW.match(word):
            window = word
        else:
            found["padding"] = word
    match = _WINDOW.search(window)
    assert match is not None, text
    return _Layer(name, (int(match[1]), int(match[2])), **found)


def _branch(net: Any, text: str, depth: Depth) -> Any:
    for step in text.split(" > "):
        layers = [_layer(each) for each in step.split(" | ")]
        results = [layer.build(net, depth) for layer in layers]
        net = concat(results, 3) if len(results) > 1 else results[0]
    return net


def _end_point(net: Any, name: str, value: EndPoint, depth: Depth) -> Any:
    if callable(value):
        return value(net, depth, name)
    if isinstance(value, str):
        return _branch(net, f"{name} {value}", depth)
    branches = []
    with variable_scope(name):
        for number, text in enumerate(value):
            with variable_scope(f"Branch_{number}"):
                branches.append(_branch(net, text, depth))
        return concat(branches, 3)


def build_end_points(
    net: Any,
    parts: Mapping[str, Mapping[str, EndPoint]],
    final_endpoint: str,
    depth: Depth,
) -> tuple[Any, dict[str, Any]]:
    """Builds a network up to an end point.

    Args:
      net: images, `[batch, height, width, channels]`.
      parts: by their padding, tables of end points in order.
      final_endpoint: the name of the last one.
      depth: from the depth that a table says to the one that a layer has.

    Returns:
      The last end point, and all by name.

    Raises:
      ValueError: there is no such end point.
    """
    end_points = {}
    layers = [conv2d, max_pool2d, avg_pool2d, separable_conv2d]
    for padding, table in parts.items():
        with arg_scope(layers, stride=1, padding=padding):
            for name, value in table.items():
                net = end_points[name] = _end_point(net, name, value, depth)
                if name == final_endpoint:
                    return net, end_points
    raise ValueError(
        f"Unknown final endpoint {final_endpoint}; there are {', '.join(end_points)}"
    )


def scaled_depth(depth_multiplier: float, min_depth: int) -> Depth:
    """Depths times a number, but at least `min_depth`.

    Raises:
      ValueError: the number is not above zero.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def window_within(net: Any, size: int) -> list[int]:
    """A square window of that size, or as much of it as images of known size have."""
    height, width = net.get_shape().as_list()[1:3]
    if height is None or width is None:
        return [size, size]
    return [min(height, size), min(width, size)]


def pooled_logits(
    net: Any,
    size: int,
    dropout_keep_prob: float,
    num_classes: int,
    spatial_squeeze: bool,
) -> tuple[Any, Any]:
    """The means over windows of that size after dropout, and logits of them."""
    window = window_within(net, size)
    name = f"AvgPool_1a_{window[0]}x{window[1]}"
    net = avg_pool2d(net, window, padding="VALID", scope=name)
    net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
    logits = class_logits(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
    return net, logits


def class_logits(
    net: Any, num_classes: int, name: str, spatial_squeeze: bool, **options: Any
) -> Any:
    """A convolution of 1 by 1 without activation, squeezed if asked to."""
    logits = conv2d(
        net,
        num_classes,
        [1, 1],
        activation_fn=None,
        normalizer_fn=None,
        scope=name,
        **options,
    )
    if spatial_squeeze:
        logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
    return logits


def inception_arg_scope(
    weight_decay: float,
    moving_collection: str,
    use_batch_norm: bool = True,
    **normalization: Any,
) -> Scope:
    """A scope for `arg_scope`: normalized convolutions with weight decay.

    Args:
      weight_decay: the weight of the L2 loss of weights.
      moving_collection: of the moving means and variances.
      use_batch_norm: whether convolutions are normalized.
      normalization: what differs from the defaults of all versions.
    """
    parameters = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": GraphKeys.UPDATE_OPS,
        "variables_collections": {
            "beta": None,
            "gamma": None,
            "moving_mean": [moving_collection],
            "moving_variance": [moving_collection],
        },
        **normalization,
    }
    with (
        arg_scope(
            [conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)
        ),
        arg_scope(
            [conv2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm if use_batch_norm else None,
            normalizer_params=parameters if use_batch_norm else {},
        ) as scope,
    ):
        return scope
