"""Models of periods: values that come again, each in its turn."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    DEFAULT_CONFIGURATION,
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, pad, reshape, shape
from tensorloom.ops.indexing import gather, selection
from tensorloom.ops.linalg import matrix_diag
from tensorloom.ops.math import cast, comparison, elementwise
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions import reductions
from tensorloom.ops.reductions.scan import cumsum


def _indices(count: int, like: Any, dtype: Any) -> Any:
    """0, 1, ... as a last dimension, after as many of size 1 as `like` has."""
    ones = fill.ones([shape.rank(like)], dtype=dtypes.int32)
    sizes = concat.concat([ones, [count]], axis=0)
    return reshape.reshape(range_op(count, dtype=dtype), sizes)


class CycleStateSpaceModel(StateSpaceModel):
    """N values that sum to zero, of which the first is observed and then the last.

    The state has N - 1 of them. Noise is added to one in each step.
    """

    def __init__(
        self,
        periodicity: int,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Takes N."""
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self) -> Any:
        """The first power."""
        return self.transition_to_powers(fill.ones([], dtype=dtypes.int32))

    def get_noise_transform(self) -> Any:
        """To the first value."""
        first = fill.ones([1], dtype=self.dtype)
        return pad.pad(first, [(0, self._periodicity - 2)])[..., None]

    def transition_to_powers(self, powers: Any) -> Any:
        """Powers of the transition, integers, [..., N - 1, N - 1].

        Element (i, j) of power p is 1 where i - j is p, and less 1 where i + 1 is p,
        all of it modulo N.
        """
        count = self._periodicity
        powers %= count
        places = _indices(count - 1, powers, powers.dtype)
        is_negative = comparison.equal(places + 1, powers[..., None])
        negative = -cast.cast(is_negative, self.dtype)
        distance = places[..., None] - places[..., None, :]
        is_one = comparison.equal(distance % count, powers[..., None, None])
        return cast.cast(is_one, self.dtype) + negative[..., None]

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> Any:
        """The noise of so many steps, [..., N - 1, N - 1], three diagonals.

        Args:
          num_steps: integers, [...].
          noise_addition_coefficient: a factor of the noise.
        """
        count = self._periodicity
        noise = reshape.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        steps = num_steps[..., None]
        left = (_indices(count, num_steps, num_steps.dtype) - (steps - 1)) % count
        times = cast.cast((steps + left) // count, dtype=self.dtype)
        factor = convert_to_tensor(noise_addition_coefficient, self.dtype)[..., None]
        # How much was added to each value.
        added = factor * noise * times
        along = matrix_diag.matrix_diag(added)
        upper = concat.concat(
            [fill.zeros_like(along[..., :-1, 0:1]), -along[..., :-1, 0:-2]], axis=-1
        )
        lower = concat.concat(
            [fill.zeros_like(along[..., 0:1, :-1]), -along[..., 0:-2, :-1]], axis=-2
        )
        before = concat.concat([added[..., -1:], added[..., :-2]], axis=-1)
        return matrix_diag.matrix_diag(added[..., :-1] + before) + lower + upper

    def get_observation_model(self, times: Any) -> Any:
        """The first value."""
        rest = fill.zeros([self._periodicity - 2], dtype=self.dtype)
        return concat.concat([fill.ones([1], dtype=self.dtype), rest], axis=0)


class ResolutionCycleModel(CycleStateSpaceModel):
    """N values for a period of any length: the transition to the power of N / length.

    With an odd N that power of the matrix is real: its eigenvalues, roots of unity,
    come in pairs. All powers have closed forms, which are sums of cosecants.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Describes the model.

        Args:
          num_latent_values: N, odd.
          periodicity: how many steps the period has, any number.
          near_integer_threshold: where integer powers begin, at which cosecants have
            poles.
          configuration: of the model.

        Raises:
          ValueError: N is even.
        """
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Any) -> Any:
        value = cast.cast(value, self.dtype)
        distance = elementwise.abs(value - elementwise.round(value))
        return comparison.less(distance, self._near_integer_threshold)

    def _original_powers(self, powers: Any) -> Any:
        """Powers of the plain cycle's transition that are powers of this one's."""
        count = cast.cast(self._num_latent_values, self.dtype)
        per_period = count / cast.cast(self._true_periodicity, dtype=self.dtype)
        return cast.cast(powers, self.dtype) * per_period

    def _cosecant(self, angle: Any) -> Any:
        """1 / sin(pi angle / N)."""
        count = cast.cast(self._num_latent_values, self.dtype)
        return 1.0 / elementwise.sin(math.pi / count * angle)

    def transition_to_powers(self, powers: Any) -> Any:
        """Powers of the transition, [..., N - 1, N - 1].

        Element (i, j) of power p, in steps of the plain cycle, is (-1)^i sin(pi p) / N
        ((-1)^j csc(pi (p - i + j) / N) + csc(pi (p - i - 1) / N)).
        """
        original = self._original_powers(powers)
        count = cast.cast(self._num_latent_values, self.dtype)
        factor = (elementwise.sin(original * math.pi) / count)[..., None, None]
        indices = _indices(self._num_latent_values - 1, original, dtypes.int32)
        places = cast.cast(indices, self.dtype)
        signs = cast.cast(1 - 2 * (indices % 2), self.dtype)
        of_row = self._cosecant(original[..., None] - places - 1)
        across = places[..., None, :] - places[..., None]
        of_both = signs[..., None, :] * self._cosecant(
            original[..., None, None] + across
        )
        between = factor * signs[..., None] * (of_row[..., None] + of_both)
        # At integers that is 0 times infinity; the plain cycle knows the limit.
        exact = super().transition_to_powers(
            cast.cast(elementwise.round(original), dtypes.int64)
        )
        return selection.where(self._close_to_integer(original), exact, between)

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> Any:
        """The noise of so many steps, [..., N - 1, N - 1].

        Whole periods are like whole cycles; the steps that are left are summed.
        """

        def with_periods() -> tuple[Any, Any]:
            length = cast.cast(self._true_periodicity, self.dtype)
            of_period = super(
                ResolutionCycleModel, self
            ).transition_power_noise_accumulator(
                noise_addition_coefficient=length
                / cast.cast(self._num_latent_values, self.dtype),
                num_steps=convert_to_tensor(
                    self._num_latent_values, dtype=num_steps.dtype
                ),
            )
            period = cast.cast(self._true_periodicity, num_steps.dtype)
            periods = cast.cast(num_steps // period, self.dtype)
            ones = fill.ones([shape.rank(periods)], dtype=dtypes.int32)
            sizes = concat.concat([ones, shape.shape(of_period)], axis=0)
            total = periods[..., None, None] * reshape.reshape(of_period, sizes)
            return num_steps % period, total

        def without_periods() -> tuple[Any, Any]:
            size = self._num_latent_values - 1
            sizes = concat.concat([shape.shape(num_steps), [size, size]], axis=0)
            return num_steps, fill.zeros(sizes, dtype=self.dtype)

        left, total = cond(self._whole_period_folding(), with_periods, without_periods)
        sums = self._power_sum_array(reductions.reduce_max(left))
        noise = reshape.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return total + noise * gather.gather(sums, indices=left)

    def _whole_period_folding(self) -> Any:
        """Whether periods end with steps, and have enough of them."""
        return comparison.logical_and(
            self._close_to_integer(self._true_periodicity),
            comparison.greater_equal(self._true_periodicity, self._num_latent_values),
        )

    def _power_sum_array(self, max_remaining_steps: Any) -> Any:
        """The noise of 0, 1, ... steps, if it is 1 in each, [steps + 1, N - 1, N - 1].

        Element (i, j) of step p is (-1)^(i + j) sin^2(pi p) / N^2 m_i m_j with m_i =
        csc(pi (p - i) / N) + csc(pi (p - i - 1) / N).
        """
        original = self._original_powers(range_op(max_remaining_steps))
        indices = range_op(self._num_latent_values - 1)[None, ...]
        after = original[..., None] - cast.cast(indices, self.dtype)
        row = self._cosecant(after) + self._cosecant(after - 1.0)
        meshed = row[..., None, :] * row[..., None]
        both = indices[..., None, :] + indices[..., None]
        signs = cast.cast(1 - 2 * (both % 2), self.dtype)
        count = cast.cast(self._num_latent_values, self.dtype)
        is_pole, pole_sign = self._pole(after / count)
        is_next_pole, next_sign = self._pole((after - 1) / count)
        any_pole = comparison.logical_or(is_pole, is_next_pole)
        sign = selection.where(is_pole, pole_sign, next_sign)
        is_one = comparison.logical_and(any_pole[..., None], any_pole[..., None, :])
        # Zero at integers, but for the poles.
        zeros = fill.zeros_like(meshed)
        meshed = selection.where(self._close_to_integer(original), zeros, meshed)
        factor = elementwise.sin(math.pi * original) / count
        terms = selection.where(
            is_one,
            sign[..., None] * sign[..., None, :],
            meshed * factor[..., None, None] ** 2,
        )
        return pad.pad(cumsum(signs * terms), [(1, 0), (0, 0), (0, 0)])

    def _pole(self, value: Any) -> tuple[Any, Any]:
        """Whether a value is an integer, and the sign of sin(pi x) near it."""
        return self._close_to_integer(value), elementwise.cos(value * math.pi)
