"""`AdderStateSpaceModel`: a level, and a slope that each step adds to it."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    DEFAULT_CONFIGURATION,
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import concat, fill, pad, reshape, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.math import cast
from tensorloom.ops.reductions import reductions
from tensorloom.ops.state.initializers import Zeros


class AdderStateSpaceModel(StateSpaceModel):
    """The level is observed, the slope is not."""

    def __init__(
        self,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Says whether the level has noise of its own."""
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self) -> Any:
        """The mean of the first values as level, if it is known."""
        if self._input_statistics is None:
            return super().get_prior_mean()
        with variable_scope(self._variable_scope):
            first = self._input_statistics.series_start_moments.mean
            start = stack([reductions.reduce_mean(self._scale_data(first)), 0.0])
            return start + get_variable(
                name="prior_state_mean",
                shape=start.get_shape(),
                initializer=Zeros(),
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def transition_to_powers(self, powers: Any) -> Any:
        """[[1, power], [0, 1]] for each power, [..., 2, 2]."""
        none = fill.zeros([shape.rank(powers), 2], dtype=dtypes.int32)
        paddings = concat.concat([none, [(0, 1), (1, 0)]], axis=0)
        corner = pad.pad(powers[..., None, None], paddings)
        unit = eye(num_rows=2, batch_shape=shape.shape(powers), dtype=self.dtype)
        return unit + cast.cast(corner, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The noise of so many steps, by sums of integers and of their squares."""
        sizes = concat.concat([shape.shape(num_steps), [2, 2]], axis=0)
        count = cast.cast(num_steps, self.dtype)
        last = count - 1
        noise = self._transformed_noise(adjoint_b=True)
        a, b, c, d = unstack(reshape.reshape(noise, [-1, 4]), axis=1)
        total = last * (last + 1) / 2
        squares = total * (2 * last + 1) / 3
        elements = [
            count * a + total * (b + c) + squares * d,
            count * b + total * d,
            count * c + total * d,
            count * d,
        ]
        return reshape.reshape(stack(elements, axis=1), sizes)

    def get_state_transition(self) -> Any:
        """The level becomes level and slope; the slope stays."""
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        """Noise of both, or of the slope alone."""
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> Any:
        """The level."""
        return constant([1.0, 0.0], dtype=self.dtype)
