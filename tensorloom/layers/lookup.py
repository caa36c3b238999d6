"""Activations and initializers that a layer names by strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops

_INITIALIZERS: dict[str, Callable[[], Any]] = {
    "zeros": init_ops.Zeros,
    "ones": init_ops.Ones,
    "constant": init_ops.Constant,
    "random_uniform": init_ops.RandomUniform,
    "random_normal": init_ops.RandomNormal,
    "truncated_normal": init_ops.TruncatedNormal,
    "glorot_uniform": init_ops.GlorotUniform,
    "glorot_normal": init_ops.GlorotNormal,
    "variance_scaling": init_ops.VarianceScaling,
    "lecun_normal": init_ops.lecun_normal,
    "lecun_uniform": init_ops.lecun_uniform,
    "he_normal": init_ops.he_normal,
    "he_uniform": init_ops.he_uniform,
}


def _linear(x: Any) -> Any:
    return x


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "linear": _linear,
    "tanh": lambda x: math_ops.tanh(x),
    "sigmoid": lambda x: math_ops.sigmoid(x),
    "exponential": lambda x: math_ops.exp(x),
    "relu": lambda x: nn_ops.relu(x),
    "elu": lambda x: nn_ops.elu(x),
    "selu": lambda x: nn_ops.selu(x),
    "softmax": lambda x: nn_ops.softmax(x),
    "softplus": lambda x: nn_ops.softplus(x),
    "softsign": lambda x: nn_ops.softsign(x),
}


def activation(which: Any) -> Any:
    """The function that a name or a function stands for; None is the identity.

    Raises:
      ValueError: an unknown name.
      TypeError: neither a name nor callable.
    """
    if which is None:
        return _linear
    if isinstance(which, str):
        if which not in _ACTIVATIONS:
            raise ValueError(f"Unknown activation function: {which}")
        return _ACTIVATIONS[which]
    if callable(which):
        return which
    raise TypeError(f"Could not interpret activation function identifier: {which!r}")


def initializer(which: Any) -> Any:
    """The initializer that a name stands for; others, and None, as they are.

    Raises:
      ValueError: an unknown name, or not an initializer.
    """
    if isinstance(which, str):
        if which not in _INITIALIZERS:
            raise ValueError(f"Unknown initializer: {which}")
        return _INITIALIZERS[which]()
    if which is None or callable(which):
        return which() if isinstance(which, type) else which
    raise ValueError(f"Could not interpret initializer identifier: {which}")
