"""Layer normalization (Ba et al. 2016, arXiv:1607.06450)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras.layers.core import SameShape
from tensorloom.keras.layers.weight_options import (
    add_weight,
    take_weight_options,
    weight_options,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn.norm import batch_normalization, moments

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("keras.layers.LayerNormalization")
class LayerNormalization(SameShape):
    """gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, example by example.

    Args:
      axis: axes that mean and variance are taken over.
      epsilon: added to the variance.
      center, scale: whether there are beta and gamma.
      beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint: of the variables.

    Raises:
      ValueError: the axis is neither an int nor a list of them.
    """

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but "
                f"received instead: {axis}"
            )
        self.axis: Any = axis
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        take_weight_options(
            self, "beta", beta_initializer, beta_regularizer, beta_constraint
        )
        take_weight_options(
            self, "gamma", gamma_initializer, gamma_regularizer, gamma_constraint
        )
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Makes gamma and beta, of the sizes of the axes.

        Raises:
          ValueError: the rank is unknown, or axes that do not fit it.
        """
        shape = as_shape(input_shape)
        if shape.rank is None:
            raise ValueError(f"Input shape {shape} has undefined rank.")
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [shape.rank + axis if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < shape.rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {tuple(self.axis)}")
        sizes = [shape.as_list()[axis] for axis in self.axis]
        self.gamma = self._parameter("gamma", sizes) if self.scale else None
        self.beta = self._parameter("beta", sizes) if self.center else None
        self.built = True

    def _parameter(self, name: str, shape: Any) -> Any:
        return add_weight(self, name, shape, dtype=None, experimental_autocast=False)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The normalized inputs."""
        rank, sizes = inputs.shape.rank, inputs.shape.as_list()
        mean, variance = moments(inputs, self.axis, keep_dims=True)
        broadcast_shape = [sizes[i] if i in self.axis else 1 for i in range(rank)]

        def broadcast(value: Any) -> Any:
            if value is None or len(value.shape) == rank or self.axis == [rank - 1]:
                return value
            return array_ops.reshape(value, broadcast_shape)

        outputs = batch_normalization(
            inputs,
            mean,
            variance,
            offset=broadcast(self.beta),
            scale=broadcast(self.gamma),
            variance_epsilon=self.epsilon,
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "axis": self.axis,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **weight_options(self, "beta", "gamma"),
        }
