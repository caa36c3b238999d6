"""`tf.keras.activations`: functions of a layer's outputs, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.keras.named_objects import (
    deserialize_keras_object,
    serialize_keras_object,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Klambauer et al. 2017, arXiv:1706.02515.
_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


@export("keras.activations.softmax")
def softmax(x: Any, axis: int = -1) -> Tensor:
    """exp(x) over its sum along `axis`.

    Raises:
      ValueError: x is a vector or a scalar.
    """
    rank = x.shape.rank
    if rank == 2:
        return nn_ops.softmax(x)
    if rank is not None and rank > 2:
        largest = math_ops.reduce_max(x, axis=axis, keepdims=True)
        powers = math_ops.exp(x - largest)
        return powers / math_ops.reduce_sum(powers, axis=axis, keepdims=True)
    raise ValueError(
        f"Cannot apply softmax to a tensor that is 1D. Received input: {x}"
    )


@export("keras.activations.elu")
def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    result = nn_ops.elu(x)
    if alpha == 1:
        return result
    return array_ops.where(x > 0, result, alpha * result)


@export("keras.activations.selu")
def selu(x: Any) -> Tensor:
    """The scaled exponential linear unit."""
    scaled: Tensor = _SELU_SCALE * elu(x, _SELU_ALPHA)
    return scaled


@export("keras.activations.softplus")
def softplus(x: Any) -> Tensor:
    """log(exp(x) + 1)."""
    return nn_ops.softplus(x)


@export("keras.activations.softsign")
def softsign(x: Any) -> Tensor:
    """x / (|x| + 1)."""
    return nn_ops.softsign(x)


@export("keras.activations.relu")
def relu(
    x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0
) -> Tensor:
    """x above the threshold, at most `max_value`; alpha * (x - threshold) below."""
    below = None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return nn_ops.leaky_relu(x, alpha=alpha)
        below = nn_ops.relu(-x + threshold) if threshold != 0 else nn_ops.relu(-x)
    clipped = max_value is not None
    if threshold != 0:
        x = x * math_ops.cast(math_ops.greater(x, threshold), dtypes.float32)
    elif max_value == 6:
        x = nn_ops.relu6(x)
        clipped = False
    else:
        x = nn_ops.relu(x)
    kind = x.dtype.base_dtype
    if clipped:
        bounds = constant(0.0, dtype=kind), constant(max_value, dtype=kind)
        x = clip_ops.clip_by_value(x, *bounds)
    if below is not None:
        x -= constant(alpha, dtype=kind) * below
    return x  # type: ignore[no-any-return]


@export("keras.activations.tanh")
def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent."""
    return math_ops.tanh(x)


@export("keras.activations.sigmoid")
def sigmoid(x: Any) -> Tensor:
    """1 / (1 + exp(-x))."""
    return math_ops.sigmoid(x)


@export("keras.activations.exponential")
def exponential(x: Any) -> Tensor:
    """exp(x)."""
    return math_ops.exp(x)


@export("keras.activations.hard_sigmoid")
def hard_sigmoid(x: Any) -> Tensor:
    """0.2 * x + 0.5, clipped to [0, 1]."""
    kind = x.dtype.base_dtype
    slope, middle = constant(0.2, dtype=kind), constant(0.5, dtype=kind)
    line = math_ops.add(math_ops.multiply(x, slope), middle)
    return clip_ops.clip_by_value(line, 0.0, 1.0)  # type: ignore[no-any-return]


@export("keras.activations.linear")
def linear(x: Any) -> Any:
    """x itself."""
    return x


_OBJECTS: dict[str, Any] = {
    function.__name__: function
    for function in (
        elu,
        exponential,
        hard_sigmoid,
        linear,
        relu,
        selu,
        sigmoid,
        softmax,
        softplus,
        softsign,
        tanh,
    )
}


@export("keras.activations.serialize")
def serialize(activation: Any) -> Any:
    """The name of an activation function."""
    if getattr(activation, "__name__", None) == "softmax_v2":
        return "softmax"
    return serialize_keras_object(activation)


@export("keras.activations.deserialize")
def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The activation function of a name.

    Raises:
      ValueError: an unknown name.
    """
    return deserialize_keras_object(
        name,
        module_objects=_OBJECTS,
        custom_objects=custom_objects,
        printable_module_name="activation function",
    )


@export("keras.activations.get")
def get(identifier: Any) -> Any:
    """The function of a name; the identity for None; functions as they are.

    Raises:
      ValueError: an unknown name.
      TypeError: no function.
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation")
    raise TypeError(
        f"Could not interpret activation function identifier: {identifier!r}"
    )
