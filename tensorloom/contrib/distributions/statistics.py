"""Moving averages, percentiles, correlations of draws, and posteriors of normals."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.triangular import rotate_transpose
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import colocate_with
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.clip import clip_by_value
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.signal.fft_ops import fft, ifft
from tensorloom.ops.state.initializers import zeros_initializer


def _check_float(dtype: Any, what: str) -> None:
    if not dtype.is_floating:
        raise TypeError(
            f"{what}.base_dtype({dtype.name}) does not have float type `dtype`."
        )


@export("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Updates exponentially weighted moving averages of a mean and a variance.

    Args:
      mean_var, variance_var: float variables.
      value: the new value.
      decay: how much the averages keep: near to 1.
      name: of the scope.

    Returns:
      The updated variables.

    Raises:
      TypeError: the variables are not of one float dtype.
    """
    values = [variance_var, mean_var, value, decay]
    with (
        name_scope(name, "assign_moving_mean_variance", values),
        colocate_with(variance_var),
        colocate_with(mean_var),
    ):
        dtype = mean_var.dtype.base_dtype
        _check_float(dtype, "mean_var")
        if dtype != variance_var.dtype.base_dtype:
            raise TypeError(
                f"mean_var.base_dtype({dtype.name}) != "
                f"variance_var.base_dtype({variance_var.dtype.base_dtype.name})"
            )
        value = convert_to_tensor(value, dtype=dtype, name="value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        step = value - mean_var
        with control_dependencies([step]):
            rest = 1.0 - decay
            new_mean = mean_var.assign_add(rest * step)
            excess = variance_var - decay * math_ops.square(step)
            new_variance = variance_var.assign_sub(rest * excess)
        return new_mean, new_variance


@export("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None
) -> Any:
    """Updates the logarithm of a moving average of exponentials.

    Args:
      log_mean_exp_var: a float variable.
      log_value: the logarithm of the new value.
      decay: how much the average keeps.
      name: of the scope.

    Returns:
      The updated variable.
    """
    values = [log_mean_exp_var, log_value, decay]
    with (
        name_scope(name, "assign_log_moving_mean_exp", values),
        colocate_with(log_mean_exp_var),
    ):
        dtype = log_mean_exp_var.dtype.base_dtype
        _check_float(dtype, "log_mean_exp_var")
        log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        step = (log_value - log_mean_exp_var)[None, ...]
        old = math_ops.log(decay) * array_ops.ones_like(step)
        parts = array_ops.concat([old, step + math_ops.log1p(-decay)], axis=0)
        return log_mean_exp_var.assign_add(math_ops.reduce_logsumexp(parts, axis=0))


@export("contrib.distributions.moving_mean_variance")
def moving_mean_variance(
    value: Any, decay: Any, collections: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Moving averages of a value's mean and variance, in variables of their own.

    Args:
      value: floats.
      decay: how much the averages keep.
      collections: of the variables; the global variables if None.
      name: of the variable scope.
    """
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        _check_float(dtype, "value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        variance, mean = (
            get_variable(
                variable,
                shape=value.shape,
                dtype=value.dtype,
                initializer=zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for variable in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)


def _posterior_variance(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """The mean and variance of a normal's mean, after n draws of sum s."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(
            "Observation sum s.dtype does not match prior dtype: "
            f"{s.dtype} vs. {prior.dtype}"
        )
    n = math_ops.cast(n, prior.dtype)
    before, noise = math_ops.square(prior.scale), math_ops.square(scale)
    variance = 1.0 / (1 / before + n / noise)
    return (prior.loc / before + s / noise) * variance, variance


@export("contrib.distributions.normal_conjugates_known_scale_posterior")
def normal_conjugates_known_scale_posterior(
    prior: Any, scale: Any, s: Any, n: Any
) -> Normal:
    """What is known of the mean of a normal distribution after some draws.

    Args:
      prior: a Normal: what was known before.
      scale: the standard deviation of the draws.
      s: their sum.
      n: how many they are.

    Raises:
      TypeError: the prior is no Normal, or of another dtype than `s`.
    """
    mean, variance = _posterior_variance(prior, scale, s, n)
    return Normal(loc=mean, scale=math_ops.sqrt(variance))


@export("contrib.distributions.normal_conjugates_known_scale_predictive")
def normal_conjugates_known_scale_predictive(
    prior: Any, scale: Any, s: Any, n: Any
) -> Normal:
    """What the next draw may be, after some draws of a normal distribution.

    Args, Raises: as of `normal_conjugates_known_scale_posterior`.
    """
    mean, variance = _posterior_variance(prior, scale, s, n)
    return Normal(loc=mean, scale=math_ops.sqrt(variance + math_ops.square(scale)))


@export("contrib.distributions.SeedStream")
class SeedStream:
    """Seeds for the draws of one computation, each another one.

    Args:
      seed: an int, None, or a SeedStream whose seed is used.
      salt: a text that tells computations of one seed apart.
    """

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        """The next seed; None if there is none to begin with."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        """The seed to begin with."""
        return self._seed

    @property
    def salt(self) -> str:
        """What tells computations of one seed apart."""
        return self._salt


@export("contrib.distributions.auto_correlation")
def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: Any = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Any:
    """How numbers of a sequence go with those some steps before, by that number.

    Args:
      x: floats or complex numbers.
      axis: along which the sequences are.
      max_lags: the largest number of steps; one less than the length if None.
      center: whether the mean is taken off first.
      normalize: whether the results are divided by the one of no steps.
      name: of the scope.

    Raises:
      TypeError: `x` is of integers.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex and not x.dtype.is_floating:
            raise TypeError(
                f"Argument x must have either float or complex dtype found: {x.dtype}"
            )
        rank = array_ops.rank(x) if x.shape.ndims is None else x.shape.ndims
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        turned = rotate_transpose(x, shift)
        if center:
            turned -= math_ops.reduce_mean(turned, axis=-1, keepdims=True)
        length = turned.shape.as_list()[-1] if turned.shape.ndims else None
        is_static = length is not None
        if length is None:
            length = array_ops.shape(turned)[-1]
        padded = _padded(turned, length)
        if not x.dtype.is_complex:
            zero = array_ops.zeros_like(padded)
            padded = math_ops.complex(padded, zero)
        # The correlation is the transform of the spectrum's squared size.
        spectrum = fft(padded)
        products = math_ops.cast(ifft(spectrum * math_ops.conj(spectrum)), x.dtype)
        last = length - 1
        if max_lags is not None:
            wanted = constant_value(convert_to_tensor(max_lags, name="max_lags"))
            if wanted is not None and is_static:
                last = min(last, int(wanted))
            else:
                last = math_ops.minimum(last, max_lags)
        products = products[..., : last + 1]
        real = x.dtype.real_dtype
        counts = math_ops.cast(length, real) - math_ops.range(
            0.0, math_ops.cast(last, real) + 1.0
        )
        found = products / math_ops.cast(counts, x.dtype)
        if normalize:
            found /= found[..., :1]
        return rotate_transpose(found, -shift)


def _padded(x: Tensor, length: Any) -> Any:
    """With zeros behind, so that it is twice as long at least: a power of two."""
    if isinstance(length, int):
        target: Any = 2 ** int(np.ceil(np.log2(length * 2)))
    else:
        doubled = math_ops.cast(length * 2, dtypes.float64)
        power = math_ops.ceil(math_ops.log(doubled) / np.log(2.0))
        target = math_ops.cast(
            math_ops.pow(convert_to_tensor(2.0, dtypes.float64), power), dtypes.int32
        )
    zeros = array_ops.zeros(
        array_ops.concat([array_ops.shape(x)[:-1], [target - length]], 0), x.dtype
    )
    return array_ops.concat([x, zeros], axis=-1)


@export("contrib.distributions.percentile")
def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The number below which q percent of the numbers are.

    Args:
      x: numbers.
      q: between 0 and 100.
      axis: along which; an int or several; all if None.
      interpolation: which of two numbers is taken: "lower", "higher" or "nearest".
      keep_dims: whether those axes stay, of size 1.
      validate_args: whether steps check q.
      name: of the scope.

    Raises:
      ValueError: another interpolation, an axis that there is not, or q is no number.
    """
    allowed = {"lower", "higher", "nearest"}
    interpolation = interpolation or "nearest"
    if interpolation not in allowed:
        raise ValueError(
            f"Argument 'interpolation' must be in {allowed}.  Found {interpolation}"
        )
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = math_ops.cast(q, dtypes.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(
                f"Expected argument 'x' to have ndims 0.  Found tensor {q}"
            )
        if validate_args:
            most = convert_to_tensor(100.0, dtypes.float64)
            checks = [
                check_rank.assert_rank(q, 0),
                check_ops.assert_non_negative(q),
                check_ops.assert_less_equal(q, most),
            ]
            q = checked(q, checks)
        axes = None if axis is None else _known_axes(x, axis)
        rows = array_ops.reshape(x, [-1]) if axes is None else _axes_last(x, axes)
        above = 1.0 - q / 100.0
        count = array_ops.shape(rows)[-1]
        place = (math_ops.cast(count, dtypes.float64) - 1) * above
        rounded = {
            "lower": math_ops.ceil,
            "higher": math_ops.floor,
            "nearest": math_ops.round,
        }[interpolation](place)
        index = clip_by_value(math_ops.cast(rounded, dtypes.int32), 0, count - 1)
        falling, _ = nn_ops.top_k(rows, k=count)
        found = falling[..., index]
        found.set_shape(rows.shape[:-1])
        if not keep_dims:
            return found
        if axes is None:
            rank = array_ops.rank(x) if x.shape.ndims is None else x.shape.ndims
            return found * array_ops.ones(array_ops.ones([rank], dtypes.int32), x.dtype)
        for one in sorted(axes):
            found = array_ops.expand_dims(found, axis=one)
        return found


def _known_axes(x: Tensor, axis: Any) -> list[int]:
    known = constant_value(convert_to_tensor(axis, name="axis"))
    if known is None:
        raise ValueError(
            f"Expected argument 'axis' to be statically available.  Found: {axis}"
        )
    rank = x.shape.ndims
    if not rank:
        raise ValueError(f"Expected argument 'x' to have ndims >= 1.  Found tensor {x}")
    found = []
    for one in np.atleast_1d(known).tolist():
        if one >= rank:
            raise ValueError(f"dim {one} not in the interval [0, {rank - 1}].")
        if one < -rank:
            raise ValueError(
                f"Negatively indexed dim {one} not in the interval [-{rank}, -1]"
            )
        found.append(one % rank)
    return found


def _axes_last(x: Tensor, axes: Sequence[int]) -> Any:
    """The axes put last, as one."""
    rest = [axis for axis in range(x.shape.ndims or 0) if axis not in axes]
    turned = array_ops.transpose(x, [*rest, *axes])
    if x.shape.is_fully_defined():
        sizes: Any = [x.shape.as_list()[axis] for axis in rest]
        return array_ops.reshape(turned, [*sizes, -1])
    sizes = array_ops.shape(turned)[: len(rest)]
    return array_ops.reshape(turned, array_ops.concat([sizes, [-1]], axis=0))
