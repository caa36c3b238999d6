"""`StateSpaceModel`: a linear model of a hidden state with normal noise."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.timeseries.matrices import (
    log_noninformative_covariance_prior,
    matrix_to_powers,
    power_sums_tensor,
    variable_covariance_matrix,
)
from tensorloom.contrib.timeseries.sequential import SequentialTimeSeriesModel
from tensorloom.contrib.timeseries.state_space_models import state_space_steps
from tensorloom.contrib.timeseries.state_space_models.kalman_filter import KalmanFilter
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, identity, pad, reshape, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.indexing import gather, selection
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math import binary, cast, comparison, elementwise
from tensorloom.ops.reductions import reductions


class StateSpaceModelConfiguration(NamedTuple):
    """What a state-space model is to be."""

    # Of each value.
    num_features: int = 1
    # Whether observations have noise of their own; of the outermost model alone.
    use_observation_noise: bool = True
    # To compute in.
    dtype: Any = dtypes.float32
    # From a covariance to the logarithm of its prior.
    covariance_prior_fn: Callable[[Any], Any] = log_noninformative_covariance_prior
    # Whether the prior counts once for the series, or once for a window.
    bayesian_prior_weighting: bool = True
    # A `FilteringStepPostprocessor`, or None.
    filtering_postprocessor: Any = None
    # Whether the state at the start is trained.
    trainable_start_state: bool = False
    # Whether exogenous features add to the state, and to its uncertainty.
    exogenous_noise_increases: bool = True
    # Whether exogenous features are like observations of the state.
    exogenous_noise_decreases: bool = False
    # Columns of features that are not predicted.
    exogenous_feature_columns: Any = ()
    # From `times` and `features` to where exogenous features count; None for always.
    exogenous_update_condition: Callable[..., Any] | None = None
    # Of two variances of the state, before it is corrected.
    filtering_maximum_posterior_variance_ratio: float = 1e6
    # Of the state, before it is corrected.
    filtering_minimum_posterior_variance: float = 0.0
    # How noise is divided at first between transitions and observations, a logarithm.
    transition_covariance_initial_log_scale_bias: float = -5.0
    # See `SequentialTimeSeriesModel`.
    static_unrolling_window_size_threshold: int | None = None


DEFAULT_CONFIGURATION: Final = StateSpaceModelConfiguration()


class StateSpaceModel(SequentialTimeSeriesModel):
    """state(t) = T state(t - 1) + R noise(t); value(t) = M state(t) + noise(t).

    Classes say T, R and M. The covariances of the noise are learnt. A state is a mean
    [batch, n], a covariance [batch, n, n] and a time [batch].
    """

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        """Takes the configuration."""
        self._configuration = configuration
        processor = configuration.filtering_postprocessor
        names = [] if processor is None else list(processor.output_names)
        threshold = configuration.static_unrolling_window_size_threshold
        super().__init__(
            train_output_names=["mean", "covariance", "log_likelihood", *names],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=threshold,
        )
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        self._observation_transition_tradeoff_log_scale: Any = None
        # Where the model was made its variables stand: members of an ensemble have
        # scopes of their own, though they are all defined in one call.
        self._variable_scope = get_variable_scope()

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """T, [n, n]."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """R, [n, noise]."""

    @abc.abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """M: [n], [features, n], or [batch, features, n] for times [batch]."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The covariance of all noise of so many steps.

        Args:
          num_steps: integers, [...].

        Returns:
          [..., n, n].
        """
        sums = power_sums_tensor(
            reductions.reduce_max(num_steps) + 1,
            convert_to_tensor(self.get_state_transition(), dtype=self.dtype),
            self._transformed_noise(transpose_b=True),
        )
        return gather.gather(sums, indices=num_steps)

    def _transformed_noise(self, **options: Any) -> Any:
        """R noise R^T."""
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        left = matmul(transform, self.state_transition_noise_covariance)
        return matmul(left, transform, **options)

    def transition_to_powers(self, powers: Any) -> Any:
        """T to powers, [..., n, n] for [...]."""
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        return matrix_to_powers(transition, powers)

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes powers and noise for each distance of times in a window, once."""
        times, before = convert_to_tensor(times), convert_to_tensor(state[2])
        between = reshape.reshape(times[:, 1:] - times[:, :-1], [-1])
        # Negative while the start of the series is still an estimate.
        first = binary.maximum(times[:, 0] - before, 0)
        gaps, _ = selection.unique(concat.concat([between, first], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _cached_transition_powers_and_sums(self, num_steps: Any) -> list[Any]:
        gaps = self._window_gap_sizes
        both = concat.concat([gaps, cast.cast(num_steps, gaps.dtype)], axis=0)
        places = selection.unique(both)[1][-shape.shape(num_steps)[0] :]
        found = []
        for cache in (self._window_transition_powers, self._window_power_sums):
            rows = gather.gather(cache, places)
            known = num_steps.get_shape().concatenate(rows.get_shape()[-2:])
            rows.set_shape(known)
            found.append(rows)
        return found

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        mean, covariance, before = state
        steps = binary.maximum(current_times - before, 0)
        powers, noise = self._cached_transition_powers_and_sums(steps)
        return (
            self._kalman_filter.predict_state_mean(mean, powers),
            self._kalman_filter.predict_state_var(covariance, powers, noise),
            before + steps,
        )

    def _filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        state: Any,
        predictions: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        return state_space_steps.filtering_step(
            self, current_times, current_values, state, predictions
        )

    def _prediction_step(
        self, current_times: Any, state: Any
    ) -> tuple[Any, dict[str, Any]]:
        return state_space_steps.prediction_step(self, current_times, state)

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        given = (current_times, current_exogenous_regressors)
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(*given, state)
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(*given, state)
        return state

    def _exogenous_noise_decreasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        return state_space_steps.observe_exogenous(self, exogenous_values, state)

    def _exogenous_noise_increasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        return state_space_steps.add_exogenous(exogenous_values, state)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """The priors of the covariances, in training."""
        if mode != ModeKeys.TRAIN:
            return fill.zeros([], dtype=self.dtype)
        configuration, statistics = self._configuration, self._input_statistics
        count = shape.shape(times)[1]
        if statistics is not None and configuration.bayesian_prior_weighting:
            count = statistics.total_observation_count
        covariances = [self.state_transition_noise_covariance]
        noise = self._observation_noise_covariance
        if configuration.use_observation_noise and noise is not None:
            covariances.append(noise)
        priors = [
            convert_to_tensor(
                configuration.covariance_prior_fn(covariance), dtype=self.dtype
            )
            for covariance in covariances
        ]
        return -(1.0 / cast.cast(count, self.dtype)) * sum(priors[1:], priors[0])

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        return get_variable(
            name="observation_transition_tradeoff_log_scale",
            initializer=constant(-bias, dtype=self.dtype),
            dtype=self.dtype,
        )

    def _define_parameters(
        self, observation_transition_tradeoff_log: Any = None
    ) -> None:
        """Makes the model's variables.

        Args:
          observation_transition_tradeoff_log: added to the logarithm of observation
            noise and taken from that of transition noise, so that training can shift
            noise quickly; an ensemble has one for all.
        """
        with variable_scope(self._variable_scope):
            tradeoff = observation_transition_tradeoff_log
            if tradeoff is None:
                tradeoff = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = tradeoff
            self.state_transition_noise_covariance = (
                self.get_state_transition_noise_covariance()
            )

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the variables of the outermost model; see `TimeSeriesModel`."""
        self._set_input_statistics(input_statistics=input_statistics)
        self._define_parameters()
        with variable_scope(self._variable_scope):
            self._observation_noise_covariance = convert_to_tensor(
                self.get_observation_noise_covariance(), dtype=self.dtype
            )
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        # In this order, as in TensorFlow: operations are named by it.
        self.prior_state_var = self.get_prior_covariance()
        self.prior_state_mean = self.get_prior_mean()

    def get_prior_covariance(self) -> Any:
        """The covariance of the state at the start, [n, n]."""
        with variable_scope(self._variable_scope):
            size = self._state_size()
            if not self._configuration.trainable_start_state:
                return eye(size, dtype=self.dtype)
            base = variable_covariance_matrix(size, "prior_state_var", self.dtype)
            if self._input_statistics is None:
                return base
            # At least of the scale of the noise in the data.
            moments = self._input_statistics.series_start_moments
            scale = reductions.reduce_max(self._scale_variance(moments.variance))
            return base * binary.maximum(scale, 1.0)

    def _state_size(self) -> int:
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        sizes: list[Any] = transition.shape.as_list()
        return int(sizes[0])

    def get_prior_mean(self) -> Any:
        """The mean of the state at the start, [n]."""
        with variable_scope(self._variable_scope):
            return get_variable(
                name="prior_state_mean",
                shape=[self._state_size()],
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Random values of the parameters, for `generate`.

        Raises:
          NotImplementedError: values have more than one feature; TensorFlow has none.
        """
        from tensorloom.contrib.timeseries.state_space_models import generation

        return generation.random_parameters(self, seed)

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[str, Any]:
        """Draws series, in the default session.

        Args:
          number_of_series: how many.
          series_length: of each.
          model_parameters: values in place of those of the session.
          seed: of NumPy.
          add_observation_noise: by default as configured.

        Returns:
          Times [series, length] and values [series, length, 1].

        Raises:
          NotImplementedError: values have more than one feature; TensorFlow has none.
        """
        from tensorloom.contrib.timeseries.state_space_models import generation

        return generation.generate(
            self,
            number_of_series,
            series_length,
            model_parameters,
            seed,
            add_observation_noise,
        )

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """M for each time, [batch, features, n]."""
        model = convert_to_tensor(self.get_observation_model(times), dtype=self.dtype)
        known = model.get_shape().with_rank_at_least(1).with_rank_at_most(3)
        if known.ndims is None:
            is_batch = Assert(
                comparison.equal(shape.rank(model), 3), [shape.shape(model)]
            )
            with control_dependencies([is_batch]):
                return identity.identity(model)
        batch = shape.shape(times)[0]
        if known.ndims == 1:
            row = reshape.reshape(model, shape=[1, 1, -1])
            model = pad.tile(row, [batch, self.num_features, 1])
        elif known.ndims == 2:
            model = pad.tile(reshape.expand_dims(model, axis=0), [batch, 1, 1])
        model.get_shape().assert_has_rank(3)
        return model

    def _start_variance(self) -> Any:
        assert self._input_statistics is not None
        moments = self._input_statistics.series_start_moments
        return self._scale_variance(moments.variance)

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> Any:
        """The covariance of the noise of transitions, [noise, noise].

        At first it is low: predictions should be sure, if the data allow it.
        """
        transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        scale: Any = 0.0
        if self._input_statistics is not None:
            count = cast.cast(
                self._input_statistics.total_observation_count, self.dtype
            )
            variance = reductions.reduce_mean(self._start_variance()) / count
            scale = elementwise.log(binary.maximum(variance, minimum_initial_variance))
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(
            int(transform.shape[1]),
            "state_transition_noise",
            dtype=self.dtype,
            initial_overall_scale_log=scale,
        )

    def get_observation_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> Any:
        """The covariance of the noise of observations, [features, features]."""
        name, count = "observation_noise_covariance", self.num_features
        if not self._configuration.use_observation_noise:
            return fill.zeros([count, count], name=name, dtype=self.dtype)
        variance = None
        if self._input_statistics is not None:
            variance = binary.maximum(self._start_variance(), minimum_initial_variance)
        return variable_covariance_matrix(
            size=count,
            dtype=self.dtype,
            name=name,
            initial_diagonal_values=variance,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    def get_start_state(self) -> Any:
        """Mean, covariance and time before the series, without a batch."""
        if self._input_statistics is None:
            start = fill.zeros([], dtype=dtypes.int64)
        else:
            start = self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, start - 1

    def get_features_for_timesteps(self, timesteps: Any) -> Any:
        """No features, [times, 0]."""
        return fill.zeros([shape.shape(timesteps)[0], 0], dtype=self.dtype)
