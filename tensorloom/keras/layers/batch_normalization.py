"""Batch normalization (Ioffe and Szegedy 2015, arXiv:1502.03167)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras import initializers
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.batch_statistics import BatchStatistics
from tensorloom.keras.layers.weight_options import take_weight_options, weight_options
from tensorloom.keras.learning_phase import learning_phase
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

_CLIPPINGS = frozenset(["rmax", "rmin", "dmax"])


@export("keras.layers.BatchNormalization")
class BatchNormalization(BatchStatistics):
    """gamma * (inputs - mean) / sqrt(variance + epsilon) + beta.

    In training mean and variance are the batch's, and moving averages follow them; else
    they are the averages.

    Args:
      axis: of the channels; several are allowed.
      momentum: of the moving averages.
      epsilon: added to the variance.
      center, scale: whether there are beta and gamma.
      beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint: of the variables.
      renorm: batch renormalization (arXiv:1702.03275).
      renorm_clipping: bounds of its corrections, by `rmax`, `rmin`, `dmax`.
      renorm_momentum: of its moving averages.
      fused: the fused op where it can be used; False for never.
      trainable: whether beta and gamma are.
      virtual_batch_size: normalizes parts of the batch by themselves.
      adjustment: shape of the inputs -> (scale, bias) in training.

    Raises:
      TypeError: the axis is neither an int nor a list.
      ValueError: an unknown clipping.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
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
        adjustment: Callable[[Tensor], Any] | None = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = list(axis) if isinstance(axis, list) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        take_weight_options(
            self, "beta", beta_initializer, beta_regularizer, beta_constraint
        )
        take_weight_options(
            self, "gamma", gamma_initializer, gamma_regularizer, gamma_constraint
        )
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.supports_masking = True
        self.fused: Any = True if fused is None else fused
        self._bessels_correction_test_only = True
        self.trainable = trainable
        if renorm:
            renorm_clipping = renorm_clipping or {}
            if not _CLIPPINGS.issuperset(renorm_clipping):
                raise ValueError(
                    f"renorm_clipping {renorm_clipping} contains keys not in "
                    f"{sorted(_CLIPPINGS)}"
                )
            self.renorm_clipping = renorm_clipping
            self.renorm_momentum = renorm_momentum

    # --- variables ------------------------------------------------------------------

    @property
    def _param_dtype(self) -> Any:
        """Of the variables: halves are not enough for averages."""
        if self.dtype in ("float16", "bfloat16"):
            return dtypes.float32
        return self.dtype or dtypes.float32

    def build(self, input_shape: Any) -> None:
        """Makes gamma, beta, moving_mean and moving_variance.

        Raises:
          ValueError: axes or sizes that do not fit the inputs.
        """
        shape = as_shape(input_shape)
        if not shape.rank:
            raise ValueError("Input has undefined rank:", shape)
        self._resolve_axes(shape.rank)
        self._check_virtual_batch()
        self.fused = bool(self.fused) and shape.rank == 4 and self._can_be_fused()
        if self.fused:
            self._data_format = "NCHW" if self.axis == [1] else "NHWC"
        sizes = shape.as_list()
        channels = {axis: sizes[axis] for axis in self.axis}
        if None in channels.values():
            raise ValueError(
                "Input has undefined `axis` dimension. Input shape: ", shape
            )
        self.input_spec = InputSpec(ndim=shape.rank, axes=channels)
        param_shape = self._param_shape(shape.rank, channels)
        self._add_scale_and_offset(param_shape)
        self._add_averages(param_shape)
        self.built = True

    def _resolve_axes(self, rank: int) -> None:
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [rank + axis if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")

    def _check_virtual_batch(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true "
                "batch size of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus "
                "axis cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError(
                "When using virtual_batch_size, adjustment cannot be specified"
            )

    def _can_be_fused(self) -> bool:
        return (
            not self.renorm
            and self.axis in ([1], [3])
            and self.virtual_batch_size is None
            and self.adjustment is None
        )

    def _param_shape(self, rank: int, channels: dict[int, int]) -> Any:
        if len(channels) == 1 and self.virtual_batch_size is None:
            return tuple(channels.values())
        shape = [channels.get(axis, 1) for axis in range(rank)]
        if self.virtual_batch_size is not None:
            # The batch becomes two axes.
            shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        return shape

    def _add_scale_and_offset(self, shape: Any) -> None:
        self.gamma = self._parameter("gamma", shape) if self.scale else None
        if self.gamma is None and self.fused:
            self._gamma_const = constant(1.0, dtype=self._param_dtype, shape=shape)
        self.beta = self._parameter("beta", shape) if self.center else None
        if self.beta is None and self.fused:
            self._beta_const = constant(0.0, dtype=self._param_dtype, shape=shape)

    def _parameter(self, name: str, shape: Any) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
            experimental_autocast=False,
        )

    def _average(self, name: str, shape: Any, initializer: Any) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    def _add_averages(self, shape: Any) -> None:
        # Averages are never partitioned, whatever the scope says.
        scope: Any = getattr(self, "_scope", None)
        partitioner = scope.partitioner if scope else None
        if scope:
            scope.set_partitioner(None)
        try:
            mean, variance = (
                self.moving_mean_initializer,
                self.moving_variance_initializer,
            )
            self.moving_mean = self._average("moving_mean", shape, mean)
            self.moving_variance = self._average("moving_variance", shape, variance)
            if self.renorm:
                self._add_renorm_averages(shape)
        finally:
            if partitioner:
                scope.set_partitioner(partitioner)

    def _add_renorm_averages(self, shape: Any) -> None:
        def stddev(*args: Any, **kwargs: Any) -> Tensor:
            return math_ops.sqrt(self.moving_variance_initializer(*args, **kwargs))

        with colocate_with(self.moving_variance):
            self.moving_stddev = self._average("moving_stddev", shape, stddev)
        mean = self.moving_mean_initializer
        with colocate_with(self.moving_mean):
            self.renorm_mean = self._average("renorm_mean", shape, mean)
        with colocate_with(self.moving_stddev):
            self.renorm_stddev = self._average("renorm_stddev", shape, stddev)

    # --- calling --------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = None) -> Tensor:  # type: ignore[override]
        """The normalized inputs; `training` is a bool or a bool tensor."""
        if training is None:
            training = learning_phase()
        if self.virtual_batch_size is None:
            if self.fused:
                return self._fused_batch_norm(inputs, training)
            return self._batch_norm(inputs, training)
        shape = [-1, *inputs.shape.as_list()[1:]]
        parts = [self.virtual_batch_size, -1, *shape[1:]]
        outputs = self._batch_norm(array_ops.reshape(inputs, parts), training)
        return array_ops.reshape(outputs, shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer, without `adjustment`."""
        config = {
            **super().get_config(),
            "axis": self.axis,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **weight_options(self, "beta", "gamma"),
        }
        for name in ("moving_mean", "moving_variance"):
            initializer = getattr(self, f"{name}_initializer")
            config[f"{name}_initializer"] = initializers.serialize(initializer)
        if self.renorm:
            config["renorm"] = True
            config["renorm_clipping"] = self.renorm_clipping
            config["renorm_momentum"] = self.renorm_momentum
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config
