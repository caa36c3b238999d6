"""Batch normalization as a bijector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.distributions.bijector import Bijector
from tensorloom.framework.export import export
from tensorloom.layers.normalization import BatchNormalization as Layer
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.nn.norm import moments

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("contrib.distributions.bijectors.BatchNormalization")
class BatchNormalization(Bijector):
    """`inverse` normalizes a batch, `forward` takes that back by the moving averages.

    Args:
      batchnorm_layer: a `tf.layers.BatchNormalization`; a new one, of positive gamma,
        if None.
      training: whether `inverse` uses the batch's own mean and variance.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      ValueError: the layer is none, or renormalizes, or has virtual batches.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        layer = batchnorm_layer or Layer(
            gamma_constraint=lambda gamma: nn_ops.relu(gamma) + 1e-6
        )
        if not isinstance(layer, Layer):
            raise ValueError(
                "batchnorm_layer must be an instance of BatchNormalization layer."
            )
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm = layer
        self._training = training
        axes = 1 if isinstance(layer.axis, int) else len(layer.axis)
        super().__init__(
            forward_min_event_ndims=axes, validate_args=validate_args, name=name
        )

    def _built(self, shape: Any) -> None:
        if not shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(shape)

    def _reduced_axes(self, rank: int) -> list[int]:
        return [axis for axis in range(rank) if axis not in self.batchnorm.axis]

    def _forward(self, x: Tensor) -> Any:
        self._built(x.shape)
        layer, sizes = self.batchnorm, x.shape.as_list()

        def spread(value: Any) -> Any:
            """Along the axis that is normalized, where that is not the last."""
            rank = len(sizes)
            if self._reduced_axes(rank) == list(range(rank - 1)):
                return value
            shape = [1] * rank
            shape[layer.axis[0]] = sizes[layer.axis[0]]
            return array_ops.reshape(value, shape)

        scale = math_ops.sqrt(spread(layer.moving_variance) + layer.epsilon)
        if layer.scale:
            scale /= spread(layer.gamma)
        mean = spread(layer.moving_mean)
        if layer.center:
            mean -= spread(layer.beta) * scale
        return x * scale + mean

    def _inverse(self, y: Tensor) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _log_det(self, y: Tensor, by_moving_averages: bool) -> Any:
        self._built(y.shape)
        if by_moving_averages:
            variance: Any = self.batchnorm.moving_variance
        else:
            axes = self._reduced_axes(len(y.shape.as_list()))
            _, variance = moments(y, axes=axes, keepdims=True)
        log_variance = math_ops.log(variance + self.batchnorm.epsilon)
        log_gamma = math_ops.log(self.batchnorm.gamma)
        total = math_ops.reduce_sum(log_gamma)
        return total - 0.5 * math_ops.reduce_sum(log_variance)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return -self._log_det(x, by_moving_averages=True)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return self._log_det(y, by_moving_averages=not self._training)
