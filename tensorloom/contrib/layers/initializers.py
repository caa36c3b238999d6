"""Initializers by how many inputs and outputs a layer has.

Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
networks", 2010; He et al., "Delving deep into rectifiers", 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.random.random_ops import random_uniform, truncated_normal

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")
# A normal that is cut at two deviations has this part of the variance.
_CUT = 1.3


@export("contrib.layers.variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = dtypes.float32,
) -> Callable[..., Any]:
    """Keeps the variance: `factor / n`, where n is the mode's number of connections.

    Args:
      factor: 2.0 for ReLU, 1.0 for linear and tanh.
      mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
      uniform: uniform values; else a normal cut at two deviations.
      seed: of the values.
      dtype: a floating type.

    Returns:
      A function of a shape and a dtype.

    Raises:
      TypeError: the dtype is not floating, or the mode is unknown.
    """
    _check_floating(dtype)
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def _initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        _check_floating(dtype)
        connections = _connections([float(size) for size in shape], mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / connections)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        deviation = math.sqrt(_CUT * factor / connections)
        return truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return _initializer


def _check_floating(dtype: Any) -> None:
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _connections(sizes: list[float], mode: str) -> float:
    if not sizes:
        return 1.0
    window = math.prod(sizes[:-2])
    fan_in = window * (sizes[-2] if len(sizes) > 1 else sizes[-1])
    fan_out = window * sizes[-1]
    return {
        "FAN_IN": fan_in,
        "FAN_OUT": fan_out,
        "FAN_AVG": (fan_in + fan_out) / 2.0,
    }[mode]


@export("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Any]:
    """Glorot and Bengio's: the variance is 1 over the mean of inputs and outputs."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer
