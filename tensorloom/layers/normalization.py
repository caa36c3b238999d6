"""`tf.layers`: batch normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.keras.layers import batch_normalization as keras_batch_normalization
from tensorloom.layers.base import Layer
from tensorloom.ops.state import initializers as init_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Shared by all layers, as TensorFlow does.
_ZEROS = init_ops.Zeros()
_ONES = init_ops.Ones()


@export("layers.BatchNormalization")
class BatchNormalization(keras_batch_normalization.BatchNormalization, Layer):
    """Normalizes by the statistics of batches, or by their averages.

    Arguments: see `tf.keras.layers.BatchNormalization`.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = _ZEROS,
        gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = _ZEROS,
        moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: Any = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis=axis,
            momentum=momentum,
            epsilon=epsilon,
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_momentum,
            fused=fused,
            trainable=trainable,
            virtual_batch_size=virtual_batch_size,
            adjustment=adjustment,
            name=name,
            **kwargs,
        )

    def call(self, inputs: Any, training: Any = False) -> Tensor:  # type: ignore[override]
        """The outputs; `training` is a bool or a bool tensor."""
        return super().call(inputs, training=training)


@export("layers.batch_normalization")
def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: Any = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: Any = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Tensor:
    """A `BatchNormalization` layer, called on inputs."""
    layer = BatchNormalization(
        axis=axis,
        momentum=momentum,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer,
        moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        beta_constraint=beta_constraint,
        gamma_constraint=gamma_constraint,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_momentum,
        fused=fused,
        trainable=trainable,
        virtual_batch_size=virtual_batch_size,
        adjustment=adjustment,
        name=name,
        _reuse=reuse,
        _scope=name,
    )
    return layer(inputs, training=training)  # type: ignore[no-any-return]
