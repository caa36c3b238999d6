"""`VARMA`: vectors that depend on those before (AR), and on noise before (MA)."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.timeseries.matrices import variable_covariance_matrix
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    DEFAULT_CONFIGURATION,
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, pad, reshape
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.math import binary, elementwise
from tensorloom.ops.reductions import reductions
from tensorloom.ops.state.initializers import Zeros


class VARMA(StateSpaceModel):
    """A state of blocks, one for each lag, each as large as a value.

    A step shifts the blocks; the first one becomes the sum of all, times the AR
    coefficients. Noise goes to the others, times the MA coefficients.
    """

    def __init__(
        self,
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Takes the longest lags."""
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _define_parameters(
        self, observation_transition_tradeoff_log: Any = None
    ) -> None:
        count = self.num_features
        with variable_scope(self._variable_scope):
            self.ar_coefs = get_variable(
                name="ar_coefs",
                shape=[count, count, self.ar_order],
                dtype=self.dtype,
                initializer=Zeros(),
            )
            self.ma_coefs = get_variable(
                name="ma_coefs",
                initializer=pad.tile(
                    eye(count, dtype=self.dtype)[None, :, :], [self.ma_order, 1, 1]
                ),
                dtype=self.dtype,
            )
        super()._define_parameters(observation_transition_tradeoff_log)

    def _unit(self, blocks: int = 1) -> Any:
        return eye(blocks * self.num_features, dtype=self.dtype)

    def get_state_transition(self) -> Any:
        """The AR coefficients above the shift of all blocks but the last."""
        blocks, count = self.state_num_blocks, self.num_features
        coefficients = pad.pad(
            self.ar_coefs, [[0, 0], [0, 0], [0, blocks - self.ar_order]]
        )
        first = reshape.reshape(coefficients, [count, self.state_dimension])
        shift = pad.pad(self._unit(blocks - 1), [[0, 0], [0, count]])
        return concat.concat([first, shift], axis=0)

    def get_noise_transform(self) -> Any:
        """The MA coefficients above the noise of the oldest block."""
        blocks, count = self.state_num_blocks, self.num_features
        coefficients = pad.pad(
            self.ma_coefs, [[blocks - 1 - self.ma_order, 0], [0, 0], [0, 0]]
        )
        others = reshape.reshape(
            coefficients, [(blocks - 1) * count, count], name="noise_transform"
        )
        return concat.concat([others, self._unit()], axis=0)

    def get_observation_model(self, times: Any) -> Any:
        """The first block, and the last where noise of the MA part ends there."""
        blocks, count = self.state_num_blocks, self.num_features
        if self.ar_order > self.ma_order or blocks < 2:
            paddings = [[0, 0], [0, count * (blocks - 1)]]
            return pad.pad(self._unit(), paddings, name="observation_model")
        first = pad.pad(self._unit(), [[0, 0], [0, count * (blocks - 2)]])
        return concat.concat([first, self._unit()], axis=1, name="observation_model")

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> Any:
        """The covariance of noise; at first that of the data, which it explains."""
        scale: Any = 0.0
        if self._input_statistics is not None:
            variance = reductions.reduce_mean(self._start_variance())
            scale = elementwise.log(binary.maximum(variance, minimum_initial_variance))
        transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        return variable_covariance_matrix(
            int(transform.shape[1]),
            "state_transition_noise",
            dtype=self.dtype,
            initial_overall_scale_log=scale,
        )
