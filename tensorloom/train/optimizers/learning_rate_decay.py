"""Learning rates that depend on the global step."""

from __future__ import annotations

import functools
import math
from typing import Any

from tensorloom.client.control_flow.case import case
from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import (
    convert_n_to_tensor,
    convert_to_tensor,
)
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


def _initial(learning_rate: Any) -> tuple[Tensor, Any]:
    """The initial learning rate as a tensor, and its dtype."""
    initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
    return initial, initial.dtype


def _cosine(fraction: Any) -> Any:
    """From 1 down to 0 while `fraction` goes from 0 to 1."""
    return 0.5 * (1.0 + math_ops.cos(constant_op.constant(math.pi) * fraction))


@export("train.exponential_decay")
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ^ (global_step / decay_steps).

    Args:
      staircase: take the integer part of the exponent.
    """
    with name_scope(name or "ExponentialDecay") as scope:
        initial, dtype = _initial(learning_rate)
        steps = math_ops.cast(decay_steps, dtype)
        rate = math_ops.cast(decay_rate, dtype)
        power = math_ops.cast(global_step, dtype) / steps
        if staircase:
            power = math_ops.floor(power)
        result: Tensor = math_ops.multiply(
            initial, math_ops.pow(rate, power), name=scope
        )
        return result


@export("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    natural_rate = math_ops.exp(math_ops.negative(decay_rate))
    return exponential_decay(
        learning_rate, global_step, decay_steps, natural_rate, staircase, name
    )


@export("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    with name_scope(name or "InverseTimeDecay") as scope:
        initial, dtype = _initial(learning_rate)
        steps = math_ops.cast(decay_steps, dtype)
        rate = math_ops.cast(decay_rate, dtype)
        progress = math_ops.cast(global_step, dtype) / steps
        if staircase:
            progress = math_ops.floor(progress)
        one = math_ops.cast(constant_op.constant(1), dtype)
        divisor = math_ops.add(one, math_ops.multiply(rate, progress))
        result: Tensor = math_ops.divide(initial, divisor, name=scope)
        return result


@export("train.polynomial_decay")
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From the initial to the end learning rate along a polynomial.

    Args:
      cycle: begin again, over more steps, when the end is reached.
    """
    with name_scope(name or "PolynomialDecay") as scope:
        initial, dtype = _initial(learning_rate)
        end = math_ops.cast(end_learning_rate, dtype)
        exponent = math_ops.cast(power, dtype)
        step = math_ops.cast(global_step, dtype)
        steps = math_ops.cast(decay_steps, dtype)
        if cycle:
            periods = cond(
                math_ops.equal(step, 0),
                lambda: 1.0,
                lambda: math_ops.ceil(step / decay_steps),
            )
            steps = math_ops.multiply(steps, periods)
        else:
            step = math_ops.minimum(step, decay_steps)
        progress = math_ops.divide(step, steps)
        result: Tensor = math_ops.add(
            math_ops.multiply(initial - end, math_ops.pow(1 - progress, exponent)),
            end,
            name=scope,
        )
        return result


@export("train.piecewise_constant_decay", "train.piecewise_constant")
def piecewise_constant(
    x: Any, boundaries: Any, values: Any, name: str | None = None
) -> Tensor:
    """values[0] up to boundaries[0], values[i] up to boundaries[i], and so on.

    Raises:
      ValueError: dtypes or lengths do not fit.
    """
    boundaries = convert_n_to_tensor(boundaries)
    values = convert_n_to_tensor(values)
    step = convert_to_tensor(x)
    boundaries = [_like_step(boundary, step) for boundary in boundaries]
    for value in values[1:]:
        if value.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({values[0].dtype.base_dtype} vs {value.dtype.base_dtype})."
            )
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values"
        )
    with name_scope(name or "PiecewiseConstant"):
        step = convert_to_tensor(x)
        pairs = [
            (step <= boundaries[0], lambda: values[0]),
            (step > boundaries[-1], lambda: values[-1]),
        ]
        for low, high, value in zip(
            boundaries[:-1], boundaries[1:], values[1:-1], strict=True
        ):
            inside = (step > low) & (step <= high)
            pairs.append((inside, functools.partial(_same, value)))
        result: Tensor = case(pairs, lambda: values[0], exclusive=True)
        return result


def _same(value: Tensor) -> Tensor:
    return value


def _like_step(boundary: Tensor, step: Tensor) -> Tensor:
    boundary_type, step_type = boundary.dtype.base_dtype, step.dtype.base_dtype
    if boundary_type == step_type:
        return boundary
    if boundary_type == dtypes.int32 and step_type == dtypes.int64:
        cast: Tensor = math_ops.cast(boundary, step_type)
        return cast
    raise ValueError(
        f"Boundaries ({boundary_type}) must have the same dtype as x ({step_type})."
    )


@export("train.cosine_decay")
def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine, from the learning rate down to `alpha` of it."""
    with name_scope(name or "CosineDecay"):
        initial, dtype = _initial(learning_rate)
        steps = math_ops.cast(decay_steps, dtype)
        step = math_ops.minimum(math_ops.cast(global_step, dtype), steps)
        decayed = (1 - alpha) * _cosine(step / steps) + alpha
        result: Tensor = math_ops.multiply(initial, decayed)
        return result


@export("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay with warm restarts (Loshchilov and Hutter, 2016).

    Args:
      first_decay_steps: length of the first period; each next is `t_mul` times longer.
      m_mul: the learning rate at the start of a period, relative to the last one's.
    """
    with name_scope(name or "SGDRDecay") as scope:
        initial, dtype = _initial(learning_rate)
        first = math_ops.cast(first_decay_steps, dtype)
        floor = math_ops.cast(alpha, dtype)
        longer = math_ops.cast(t_mul, dtype)
        lower = math_ops.cast(m_mul, dtype)
        completed = math_ops.cast(global_step, dtype) / first

        def equal_periods() -> Any:
            restarts = math_ops.floor(completed)
            return restarts, completed - restarts

        def growing_periods() -> Any:
            restarts = math_ops.floor(
                math_ops.log(1.0 - completed * (1.0 - longer)) / math_ops.log(longer)
            )
            before = (1.0 - longer**restarts) / (1.0 - longer)
            return restarts, (completed - before) / longer**restarts

        restarts, fraction = cond(
            math_ops.equal(longer, 1.0), equal_periods, growing_periods
        )
        height = lower**restarts
        cosine = (
            0.5
            * height
            * (1.0 + math_ops.cos(constant_op.constant(math.pi) * fraction))
        )
        decayed = (1 - floor) * cosine + floor
        result: Tensor = math_ops.multiply(initial, decayed, name=scope)
        return result


@export("train.linear_cosine_decay")
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """(alpha + linear decay) * cosine + beta, times the learning rate (Bello, 2017)."""
    with name_scope(name or "LinearCosineDecay") as scope:
        initial, dtype = _initial(learning_rate)
        steps = math_ops.cast(decay_steps, dtype)
        periods = math_ops.cast(num_periods, dtype)
        offset = math_ops.cast(alpha, dtype)
        least = math_ops.cast(beta, dtype)
        step = math_ops.minimum(math_ops.cast(global_step, dtype), steps)
        linear = (steps - step) / steps
        completed = step / steps
        cosine = _cosine(2.0 * periods * completed)
        decayed = (offset + linear) * cosine + least
        result: Tensor = math_ops.multiply(initial, decayed, name=scope)
        return result


@export("train.noisy_linear_cosine_decay")
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """Linear cosine decay with Gaussian noise that decays too."""
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        initial, dtype = _initial(learning_rate)
        steps = math_ops.cast(decay_steps, dtype)
        first_variance = math_ops.cast(initial_variance, dtype)
        calming = math_ops.cast(variance_decay, dtype)
        periods = math_ops.cast(num_periods, dtype)
        offset = math_ops.cast(alpha, dtype)
        least = math_ops.cast(beta, dtype)
        step = math_ops.minimum(math_ops.cast(global_step, dtype), steps)
        linear = (steps - step) / steps
        variance = first_variance / math_ops.pow(1.0 + step, calming)
        deviation = math_ops.sqrt(variance)
        noisy = linear + random_ops.random_normal(linear.shape, stddev=deviation)
        completed = step / steps
        cosine = _cosine(2.0 * periods * completed)
        decayed = (offset + noisy) * cosine + least
        result: Tensor = math_ops.multiply(initial, decayed, name=scope)
        return result
