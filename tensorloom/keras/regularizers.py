"""`tf.keras.regularizers`: losses of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.keras.named_objects import (
    deserialize_keras_object,
    serialize_keras_object,
)
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops


@export("keras.regularizers.Regularizer")
class Regularizer:
    """Base of regularizers; instances are called with a weight and give a loss."""

    def __call__(self, x: Any) -> Any:
        """The loss of a weight."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The regularizer that `get_config` described."""
        return cls(**config)


@export("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """`l1` times the sum of absolute values plus `l2` times the sum of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = np.asarray(l1, dtype=np.float32)
        self.l2 = np.asarray(l2, dtype=np.float32)

    def __call__(self, x: Any) -> Any:
        """The loss of a weight."""
        if not self.l1 and not self.l2:
            return constant(0.0)
        regularization: Any = 0.0
        if self.l1:
            regularization += self.l1 * math_ops.reduce_sum(math_ops.abs(x))
        if self.l2:
            regularization += self.l2 * math_ops.reduce_sum(math_ops.square(x))
        return regularization

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal regularizer."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@export("keras.regularizers.l1")
def l1(l: float = 0.01) -> L1L2:  # noqa: E741  (TensorFlow's name)
    """`l` times the sum of absolute values."""
    return L1L2(l1=l)


@export("keras.regularizers.l2")
def l2(l: float = 0.01) -> L1L2:  # noqa: E741  (TensorFlow's name)
    """`l` times the sum of squares."""
    return L1L2(l2=l)


@export("keras.regularizers.l1_l2")
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Both of them."""
    return L1L2(l1=l1, l2=l2)


_OBJECTS: dict[str, Any] = {
    "L1L2": L1L2,
    "Regularizer": Regularizer,
    "l1": l1,
    "l1_l2": l1_l2,
    "l2": l2,
}


@export("keras.regularizers.serialize")
def serialize(regularizer: Any) -> Any:
    """What `deserialize` makes the regularizer of again."""
    return serialize_keras_object(regularizer)


@export("keras.regularizers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The regularizer that a name or a configuration tells.

    Raises:
      ValueError: an unknown name.
    """
    return deserialize_keras_object(
        config,
        module_objects=_OBJECTS,
        custom_objects=custom_objects,
        printable_module_name="regularizer",
    )


@export("keras.regularizers.get")
def get(identifier: Any) -> Any:
    """The regularizer that a name or configuration tells; others as they are.

    Raises:
      ValueError: an unknown name, or no regularizer.
    """
    if identifier is None:
        return None
    if isinstance(identifier, str) and identifier in ("l1", "l2", "l1_l2"):
        return _OBJECTS[identifier]()
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret regularizer identifier:", identifier)
