"""Steps of state-space models: predictions, corrections, exogenous features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.timeseries.matrices import (
    clip_covariance,
    transform_to_covariance_matrices,
)
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.array import shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.math import comparison
from tensorloom.ops.reductions import reductions

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.state_space_models.state_space import (
        StateSpaceModel,
    )


def prediction_step(
    model: StateSpaceModel, current_times: Any, state: Any
) -> tuple[Any, dict[str, Any]]:
    """The state at a time that it was brought up to, and what is observed there."""
    mean, covariance, times = state
    is_there = Assert(
        reductions.reduce_all(comparison.less_equal(current_times, times)),
        ["Attempted to predict without imputation"],
    )
    with control_dependencies([is_there]):
        observed, observed_covariance = model._kalman_filter.observed_from_state(
            state_mean=mean,
            state_var=covariance,
            observation_model=model.get_broadcasted_observation_model(current_times),
            observation_noise=model._observation_noise_covariance,
        )
    batch, count = current_times.get_shape(), model.num_features
    observed.set_shape(batch.concatenate((count,)))
    observed_covariance.set_shape(batch.concatenate((count, count)))
    # In the model's scale, since the loss is computed from them.
    predictions = {"mean": observed, "covariance": observed_covariance}
    return (mean, covariance, current_times), predictions


def filtering_step(
    model: StateSpaceModel,
    current_times: Any,
    current_values: Any,
    state: Any,
    predictions: dict[str, Any],
) -> tuple[Any, dict[str, Any]]:
    """The state corrected by values, and predictions with "loss" and likelihood."""
    mean, covariance, times = state
    configuration = model._configuration
    observation_model = model.get_broadcasted_observation_model(current_times)
    is_there = Assert(
        reductions.reduce_all(comparison.equal(current_times, times)),
        ["Attempted to perform filtering without imputation/prediction"],
    )
    with control_dependencies([is_there]):
        covariance = clip_covariance(
            covariance,
            configuration.filtering_maximum_posterior_variance_ratio,
            configuration.filtering_minimum_posterior_variance,
        )
        filtered, filtered_covariance, log_prob = model._kalman_filter.do_filter(
            estimated_state=mean,
            estimated_state_covariance=covariance,
            predicted_observation=predictions["mean"],
            predicted_observation_covariance=predictions["covariance"],
            observation=current_values,
            observation_model=observation_model,
            observation_noise=model._observation_noise_covariance,
        )
    log_prob.set_shape(current_times.get_shape())
    predictions["loss"] = -log_prob
    predictions["log_likelihood"] = log_prob
    corrected = (filtered, filtered_covariance, current_times)
    processor = configuration.filtering_postprocessor
    if processor is None:
        return corrected, predictions
    processed: tuple[Any, dict[str, Any]] = processor.process_filtering_step(
        current_times=current_times,
        current_values=current_values,
        predicted_state=state,
        filtered_state=corrected,
        outputs=predictions,
    )
    return processed


def observe_exogenous(model: StateSpaceModel, values: Any, state: Any) -> Any:
    """The state after exogenous features that tell what it is, with learnt noise."""
    mean, covariance, times = state
    size = model._state_size()
    with variable_scope("exogenous_noise_decreasing_covariance"):
        noise = transform_to_covariance_matrices(values, size)
    with variable_scope("exogenous_noise_decreasing_observation"):
        observation = fully_connected(values, size, activation_fn=None)
    corrected, corrected_covariance = model._kalman_filter.posterior_from_prior_state(
        prior_state=mean,
        prior_state_var=covariance,
        observation=observation,
        observation_model=eye(
            size, batch_shape=shape.shape(values)[:-1], dtype=model.dtype
        ),
        predicted_observations=(mean, noise + covariance),
        observation_noise=noise,
    )
    return corrected, corrected_covariance, times


def add_exogenous(values: Any, state: Any) -> Any:
    """The state after exogenous features that change it, and make it less sure."""
    mean, covariance, times = state
    with variable_scope("exogenous_noise_increasing_mean"):
        added = fully_connected(values, mean.shape[1].value, activation_fn=None)
    with variable_scope("exogenous_noise_increasing_covariance"):
        noise = transform_to_covariance_matrices(values, covariance.shape[1].value)
    return mean + added, covariance + noise, times
