"""`tf.keras.initializers`: those of `tf.initializers`, with defaults of Keras."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export, export_value
from tensorloom.framework.types import dtypes
from tensorloom.keras.named_objects import (
    deserialize_keras_object,
    serialize_keras_object,
)
from tensorloom.ops.linalg import matrix_init as matrix_init_ops
from tensorloom.ops.state import initializers as init_ops


@export(
    "keras.initializers.TruncatedNormal",
    "keras.initializers.truncated_normal",
)
class TruncatedNormal(init_ops.TruncatedNormal):
    """Normal values of deviation 0.05, those beyond two deviations drawn again."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


@export(
    "keras.initializers.RandomUniform",
    "keras.initializers.uniform",
    "keras.initializers.random_uniform",
)
class RandomUniform(init_ops.RandomUniform):
    """Uniform values in [-0.05, 0.05)."""

    def __init__(
        self,
        minval: Any = -0.05,
        maxval: Any = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=dtype)


@export(
    "keras.initializers.RandomNormal",
    "keras.initializers.normal",
    "keras.initializers.random_normal",
)
class RandomNormal(init_ops.RandomNormal):
    """Normal values of deviation 0.05."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


# By every name that a configuration may have.
_OBJECTS: dict[str, Any] = {
    "Constant": init_ops.Constant,
    "GlorotNormal": init_ops.GlorotNormal,
    "GlorotUniform": init_ops.GlorotUniform,
    "Identity": matrix_init_ops.Identity,
    "Initializer": init_ops.Initializer,
    "Ones": init_ops.Ones,
    "Orthogonal": matrix_init_ops.Orthogonal,
    "RandomNormal": RandomNormal,
    "RandomUniform": RandomUniform,
    "TruncatedNormal": TruncatedNormal,
    "UniformUnitScaling": init_ops.UniformUnitScaling,
    "VarianceScaling": init_ops.VarianceScaling,
    "Zeros": init_ops.Zeros,
    "constant": init_ops.Constant,
    "glorot_normal": init_ops.GlorotNormal,
    "glorot_uniform": init_ops.GlorotUniform,
    "he_normal": init_ops.he_normal,
    "he_uniform": init_ops.he_uniform,
    "identity": matrix_init_ops.Identity,
    "lecun_normal": init_ops.lecun_normal,
    "lecun_uniform": init_ops.lecun_uniform,
    "normal": RandomNormal,
    "one": init_ops.Ones,
    "ones": init_ops.Ones,
    "orthogonal": matrix_init_ops.Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform,
    "zero": init_ops.Zeros,
    "zeros": init_ops.Zeros,
}
_FUNCTIONS = ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform")
_SHARED = (
    "Constant",
    "Identity",
    "Initializer",
    "Ones",
    "Orthogonal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "identity",
    "ones",
    "orthogonal",
    "zeros",
    *_FUNCTIONS,
)
for _name in _SHARED:
    export_value(_OBJECTS[_name], f"keras.initializers.{_name}")


@export("keras.initializers.serialize")
def serialize(initializer: Any) -> Any:
    """What `deserialize` makes the initializer of again."""
    return serialize_keras_object(initializer)


@export("keras.initializers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The initializer that a name or a configuration tells.

    Raises:
      ValueError: an unknown name.
    """
    return deserialize_keras_object(
        config,
        module_objects=_OBJECTS,
        custom_objects=custom_objects,
        printable_module_name="initializer",
    )


@export("keras.initializers.get")
def get(identifier: Any) -> Any:
    """The initializer that a name or configuration tells; others as they are.

    Raises:
      ValueError: an unknown name, or no initializer.
    """
    if identifier is None:
        return None
    if isinstance(identifier, str) and identifier in _FUNCTIONS:
        return _OBJECTS[identifier]()
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")
