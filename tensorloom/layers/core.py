"""`tf.layers`: densely connected layers, dropout, flattening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.keras.layers import core as keras_core
from tensorloom.keras.layers import dense as keras_dense
from tensorloom.layers.base import Layer
from tensorloom.layers.layer_functions import layer_function
from tensorloom.ops.state import initializers as init_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Shared by all layers, as TensorFlow does.
_ZEROS = init_ops.Zeros()


@export("layers.Dense")
class Dense(keras_dense.Dense, Layer):
    """activation(inputs * kernel + bias), over the last axis.

    Arguments: see `tf.keras.layers.Dense`.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units=units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


dense = layer_function(Dense, "dense")


@export("layers.Dropout")
class Dropout(keras_core.Dropout, Layer):
    """Sets inputs to zero at random, where `call` is told to train.

    Arguments: see `tf.keras.layers.Dropout`.
    """

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            rate=rate, noise_shape=noise_shape, seed=seed, name=name, **kwargs
        )

    def call(self, inputs: Any, training: Any = False) -> Tensor:  # type: ignore[override]
        """The outputs; `training` is a bool or a bool tensor."""
        return super().call(inputs, training=training)


@export("layers.dropout")
def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: Any = None,
) -> Tensor:
    """A `Dropout` layer, called on inputs."""
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer(inputs, training=training)  # type: ignore[no-any-return]


@export("layers.Flatten")
class Flatten(keras_core.Flatten, Layer):
    """[batch, ...] -> [batch, product of the others].

    Arguments: see `tf.keras.layers.Flatten`.
    """


@export("layers.flatten")
def flatten(
    inputs: Any, name: Any = None, data_format: str = "channels_last"
) -> Tensor:
    """A `Flatten` layer, called on inputs."""
    layer = Flatten(name=name, data_format=data_format)
    return layer(inputs)  # type: ignore[no-any-return]
