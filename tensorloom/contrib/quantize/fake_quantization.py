"""Layers that round their input to the levels of a range, which they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.graph.graph import GraphKeys, Tensor, name_scope
from tensorloom.ops.math.binary import maximum, minimum
from tensorloom.ops.quantized.fake_quant import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_per_channel,
)
from tensorloom.ops.reductions.reductions import reduce_max, reduce_min
from tensorloom.ops.state.initializers import Constant
from tensorloom.ops.state.reference_variable import assign
from tensorloom.train.optimizers.moving_averages import assign_moving_average

# (variable, new end of the range, "Min" or "Max") -> the end that is used.
Update = Callable[[Any, Tensor, str], Any]


def fixed_quantize(
    inputs: Any,
    init_min: float = -6.0,
    init_max: float = 6.0,
    scope: str | None = None,
) -> Tensor:
    """The inputs rounded to 256 levels of a fixed range.

    Args:
      inputs: a float32 tensor.
      init_min, init_max: the range.
      scope: name of the scope.
    """
    with name_scope(scope, "FixedQuantize", values=[inputs]):
        return fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def last_value_quantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: str | None = None,
    name_prefix: str = "LastValueQuant",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """The inputs rounded to levels of the range that they are in.

    Variables `min` and `max` keep the range for when `is_training` is false.

    Args:
      inputs: a float32 tensor.
      per_channel: takes a range for each number of the last axis, of 1, 2 or 4 axes.
      init_min, init_max: the range before the first step.
      vars_collection: a collection that the variables join.
      name_prefix: name of the variable scope.
      reuse: whether the variables are there already.
      is_training: whether the range is of the inputs, or the kept one.
      num_bits: 2 to 8, for 2 ** num_bits levels.
      narrow_range: leaves the lowest level out.
      symmetric: takes a range about zero.

    Raises:
      AssertionError: `per_channel` with another number of axes.
    """

    def update(variable: Any, value: Tensor, end: str) -> Any:
        return assign(variable, value, name=f"Assign{end}Last")

    return _quantize(
        inputs,
        per_channel,
        (init_min, init_max),
        vars_collection,
        name_prefix,
        reuse,
        is_training,
        num_bits,
        narrow_range,
        symmetric,
        update,
    )


def moving_avg_quantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: str | None = GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """The inputs rounded to levels of a moving average of their range.

    Args:
      ema_decay: the part of the average that stays with each step.
      inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse,
        is_training, num_bits, narrow_range, symmetric: see `last_value_quantize`.

    Raises:
      AssertionError: `per_channel` with another number of axes.
    """

    def update(variable: Any, value: Tensor, end: str) -> Any:
        name = f"Assign{end}Ema"
        return assign_moving_average(variable, value, ema_decay, name=name)

    return _quantize(
        inputs,
        per_channel,
        (init_min, init_max),
        vars_collection,
        name_prefix,
        reuse,
        is_training,
        num_bits,
        narrow_range,
        symmetric,
        update,
    )


def _quantize(
    inputs: Any,
    per_channel: bool,
    initial: tuple[float, float],
    vars_collection: str | None,
    name_prefix: str,
    reuse: bool | None,
    is_training: bool,
    num_bits: int,
    narrow_range: bool,
    symmetric: bool,
    update: Update,
) -> Tensor:
    with variable_scope(
        None, default_name=name_prefix, values=[inputs], reuse=reuse
    ) as scope:
        scope.set_partitioner(None)
        shape = inputs.get_shape()
        if per_channel:
            assert len(shape) in (1, 2, 4), (
                f"Expected 1D, 2D or 4D input, was: {shape} in  scope: {name_prefix}"
            )
        ends: list[Any] = [
            _range_end(name, shape[-1:] if per_channel else [], value, vars_collection)
            for name, value in zip(("min", "max"), initial, strict=True)
        ]
        if is_training:
            low, high = _range_of(inputs, per_channel)
            low, high = _with_zero(low, high, num_bits, narrow_range, symmetric)
            ends = [update(ends[0], low, "Min"), update(ends[1], high, "Max")]
        quantize = (
            fake_quant_with_min_max_vars_per_channel
            if per_channel
            else fake_quant_with_min_max_vars
        )
        return quantize(
            inputs, ends[0], ends[1], num_bits=num_bits, narrow_range=narrow_range
        )


def _range_end(name: str, shape: Any, value: float, collection: str | None) -> Any:
    return get_variable(
        name,
        shape=shape,
        initializer=Constant(value),
        collections=[*([collection] if collection else []), GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
        aggregation=VariableAggregation.MEAN,
    )


def _range_of(inputs: Any, per_channel: bool) -> tuple[Any, Any]:
    """The least and the greatest input, of all or of each channel."""
    rank = len(inputs.get_shape()) if per_channel else 0
    if per_channel and rank == 1:
        return inputs, inputs
    axes = list(range(rank - 1)) if per_channel else None
    return (
        reduce_min(inputs, axis=axes, name="BatchMin"),
        reduce_max(inputs, axis=axes, name="BatchMax"),
    )


def _with_zero(
    low: Any, high: Any, num_bits: int, narrow_range: bool, symmetric: bool
) -> tuple[Any, Any]:
    """The range, wide enough for zero, which must be a level: TFLite asks for that."""
    if not symmetric:
        return minimum(low, 0.0), maximum(high, 0.0)
    # In two's complement there is one negative number more.
    levels = 1 << num_bits
    ratio = -1 if narrow_range else -(levels - 2) / levels
    return minimum(low, high / ratio), maximum(high, low * ratio)
