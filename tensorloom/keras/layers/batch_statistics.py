"""Statistics of batches, and the moving averages that follow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.distribution.thread_modes import current_strategy
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.smart_cond import known_value, smart_cond
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.nn.batch_norm import fused_batch_norm
from tensorloom.ops.nn.norm import batch_normalization, moments
from tensorloom.ops.state import reference_variable as state_ops


class BatchStatistics(Layer):
    """The computation of a batch normalization; its subclass makes the variables."""

    axis: Any
    momentum: Any
    epsilon: float
    center: bool
    scale: bool
    gamma: Any
    beta: Any
    moving_mean: Any
    moving_variance: Any
    moving_stddev: Any
    renorm: bool
    renorm_mean: Any
    renorm_stddev: Any
    renorm_clipping: dict[str, Any]
    renorm_momentum: Any
    virtual_batch_size: int | None
    adjustment: Callable[[Tensor], Any] | None
    _gamma_const: Any
    _beta_const: Any
    _data_format: str
    _bessels_correction_test_only: bool
    # The number of inputs where a replica may have none, else None.
    _size_of_inputs: Any = None

    @property
    def _param_dtype(self) -> Any:
        raise NotImplementedError

    # --- averages -------------------------------------------------------------------

    def _assign_moving_average(self, variable: Any, value: Any, momentum: Any) -> Any:
        """variable -= (variable - value) * (1 - momentum)."""
        with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
            decay = convert_to_tensor(1.0 - momentum, name="decay")
            kind = variable.dtype.base_dtype
            if decay.dtype != kind:
                decay = math_ops.cast(decay, kind)
            delta = (variable - math_ops.cast(value, variable.dtype)) * decay
            delta = self._unless_empty(delta)
            return state_ops.assign_sub(variable, delta, name=scope)

    def _unless_empty(self, value: Any) -> Any:
        """Zeros in place of what an empty batch gave."""
        if self._size_of_inputs is None:
            return value
        there = self._size_of_inputs > 0
        return array_ops.where(there, value, array_ops.zeros_like(value))

    def _assign_new_value(self, variable: Any, value: Any) -> Any:
        with name_scope("AssignNewValue") as scope, colocate_with(variable):
            return state_ops.assign(variable, value, name=scope)

    def _follow_stddev(self, variance: Any, momentum: Any) -> Any:
        """The variance that belongs to the moving standard deviation."""
        stddev = self._assign_moving_average(
            self.moving_stddev, math_ops.sqrt(variance + self.epsilon), momentum
        )
        return self._assign_new_value(
            self.moving_variance, nn_ops.relu(stddev * stddev - self.epsilon)
        )

    # --- fused ----------------------------------------------------------------------

    def _fused_batch_norm(self, inputs: Any, training: Any) -> Tensor:
        self._size_of_inputs = _size_if_empty(inputs)
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const

        def by_batch() -> Any:
            return fused_batch_norm(
                inputs,
                gamma,
                beta,
                epsilon=self.epsilon,
                data_format=self._data_format,
            )

        def by_averages() -> Any:
            return fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                epsilon=self.epsilon,
                is_training=False,
                data_format=self._data_format,
            )

        output, mean, variance = smart_cond(training, by_batch, by_averages)
        if not self._bessels_correction_test_only:
            size = math_ops.cast(
                array_ops.size(inputs) / array_ops.size(variance), variance.dtype
            )
            variance *= (size - math_ops.cast(1.0, variance.dtype)) / size
        known = known_value(training)
        if known is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known is not False:

            def follow_variance() -> Any:
                if self.renorm:
                    return self._follow_stddev(variance, momentum)
                return self._assign_moving_average(
                    self.moving_variance, variance, momentum
                )

            self.add_update(
                lambda: self._assign_moving_average(self.moving_mean, mean, momentum)
            )
            self.add_update(follow_variance)
        return output  # type: ignore[no-any-return]

    # --- not fused ------------------------------------------------------------------

    def _batch_norm(self, inputs: Any, training: Any) -> Tensor:
        self._size_of_inputs = _size_if_empty(inputs)
        shape = inputs.shape
        axes = [axis for axis in range(shape.rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del axes[1]  # parts of the batch are not reduced over
        broadcast = self._broadcaster(shape, axes)
        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        if known_value(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance, new = self._moments(inputs, training, axes)
            if self.renorm:
                r, d, *new = self._renormalized(new[0], new[1], training)
                r = broadcast(array_ops.stop_gradient(r, name="renorm_r"))
                d = broadcast(array_ops.stop_gradient(d, name="renorm_d"))
                scale, offset = _composed(r, d, scale, offset)
            self._follow(training, *new)
        mean = math_ops.cast(mean, inputs.dtype)
        variance = math_ops.cast(variance, inputs.dtype)
        if offset is not None:
            offset = math_ops.cast(offset, inputs.dtype)
        if scale is not None:
            scale = math_ops.cast(scale, inputs.dtype)
        outputs = batch_normalization(
            inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    def _broadcaster(self, shape: Any, axes: list[int]) -> Callable[[Any], Any]:
        """What makes a vector of the channels fit the inputs."""
        sizes = [1] * shape.rank
        sizes[self.axis[0]] = shape.as_list()[self.axis[0]]
        last = axes == list(range(shape.rank - 1))

        def broadcast(value: Any) -> Any:
            if value is None or last or len(value.shape) == shape.rank:
                return value
            return array_ops.reshape(value, sizes)

        return broadcast

    def _adjusted(
        self, inputs: Any, training: Any, scale: Any, offset: Any
    ) -> tuple[Any, Any]:
        assert self.adjustment is not None
        factor: Any
        bias: Any
        factor, bias = self.adjustment(array_ops.shape(inputs))
        factor = smart_cond(
            training, lambda: factor, lambda: array_ops.ones_like(factor)
        )
        bias = smart_cond(training, lambda: bias, lambda: array_ops.zeros_like(bias))
        return _composed(factor, bias, scale, offset)

    def _moments(
        self, inputs: Any, training: Any, axes: list[int]
    ) -> tuple[Any, Any, list[Any]]:
        """(mean, variance) to normalize by, and those that the averages follow."""
        in_parts = self.virtual_batch_size is not None
        of_batch = moments(
            math_ops.cast(inputs, self._param_dtype),
            axes,
            keep_dims=in_parts or len(self.axis) > 1,
        )
        of_batch = tuple(self._unless_empty(value) for value in of_batch)
        averages = self.moving_mean, self.moving_variance
        used = [
            smart_cond(
                training,
                lambda value=value: value,  # type: ignore[misc]
                lambda average=average: convert_to_tensor(average),  # type: ignore[misc]
            )
            for value, average in zip(of_batch, averages, strict=True)
        ]
        if not in_parts:
            return used[0], used[1], list(used)
        new = [math_ops.reduce_mean(value, axis=1, keepdims=True) for value in used]
        return used[0], used[1], new

    def _renormalized(self, mean: Any, variance: Any, training: Any) -> tuple[Any, ...]:
        """(r, d, mean, variance): corrections towards the averages."""
        stddev = math_ops.sqrt(variance + self.epsilon)
        least = math_ops.sqrt(self.epsilon)
        renorm_stddev = math_ops.maximum(self.renorm_stddev, least)
        r = stddev / renorm_stddev
        d = (mean - self.renorm_mean) / renorm_stddev
        # The averages are read before they are updated.
        with control_dependencies([r, d]):
            mean = array_ops.identity(mean)
            stddev = array_ops.identity(stddev)
        r, d = self._clipped(r, d)
        corrections = (
            smart_cond(training, lambda: r, lambda: array_ops.ones_like(r)),
            smart_cond(training, lambda: d, lambda: array_ops.zeros_like(d)),
        )
        updates = [
            self._follow_renorm(self.renorm_mean, mean, training),
            self._follow_renorm(self.renorm_stddev, stddev, training),
        ]
        with control_dependencies(updates):
            out_mean = array_ops.identity(mean)
            out_variance = array_ops.identity(variance)
        return *corrections, out_mean, out_variance

    def _clipped(self, r: Any, d: Any) -> tuple[Any, Any]:
        clipping = self.renorm_clipping
        rmin, rmax, dmax = (clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            r = math_ops.maximum(r, rmin)
        if rmax is not None:
            r = math_ops.minimum(r, rmax)
        if dmax is not None:
            d = math_ops.maximum(d, -dmax)
            d = math_ops.minimum(d, dmax)
        return r, d

    def _follow_renorm(self, variable: Any, value: Any, training: Any) -> Any:
        value = array_ops.identity(value)
        return smart_cond(
            training,
            lambda: self._assign_moving_average(variable, value, self.renorm_momentum),
            lambda: array_ops.identity(variable),
        )

    def _follow(self, training: Any, mean: Any, variance: Any) -> None:
        """Adds the updates of the moving averages."""

        def follow_variance() -> Any:
            if self.renorm:
                return self._follow_stddev(variance, self.momentum)
            return self._assign_moving_average(
                self.moving_variance, variance, self.momentum
            )

        def follow_mean() -> Any:
            return self._assign_moving_average(self.moving_mean, mean, self.momentum)

        self.add_update(
            lambda: smart_cond(training, follow_mean, lambda: self.moving_mean)
        )
        self.add_update(
            lambda: smart_cond(training, follow_variance, lambda: self.moving_variance)
        )


def _size_if_empty(inputs: Any) -> Any:
    """The number of inputs, if a strategy may give a replica none; else None."""
    strategy = current_strategy()
    if strategy is None or not getattr(
        strategy.extended, "experimental_enable_get_next_as_optional", False
    ):
        return None
    return array_ops.size(inputs)


def _composed(
    scale: Any, offset: Any, then_scale: Any, then_offset: Any
) -> tuple[Any, Any]:
    """Scale and offset that do what both pairs do one after the other."""
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset
