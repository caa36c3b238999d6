"""Series drawn from state-space models, by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math.sequence import range as range_op

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.state_space_models.state_space import (
        StateSpaceModel,
    )


def parameter_switch(parameter_overrides: dict[Any, Any]) -> Callable[[Any], Any]:
    """A function that gives a parameter's value: the one given, or the session's."""

    def value_of(parameter: Any) -> Any:
        given = parameter_overrides.get(parameter, parameter)
        return convert_to_tensor(given).eval()

    return value_of


def _check_features(model: StateSpaceModel) -> None:
    if model.num_features != 1:
        raise NotImplementedError(
            "Generation for multivariate state space models is not currently "
            "implemented."
        )


def random_parameters(model: StateSpaceModel, seed: int | None) -> dict[Any, Any]:
    """Random values of a model's parameters."""
    _check_features(model)
    if seed:
        np.random.seed(seed)
    transform = convert_to_tensor(model.get_noise_transform())
    sizes: list[Any] = transform.get_shape().as_list()
    state_size, noise_size = sizes
    variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noise_size])
    start = np.random.normal(size=[state_size])
    parameters: dict[Any, Any] = {}
    if model.prior_state_mean is not None:
        parameters[model.prior_state_mean] = start
    if model.state_transition_noise_covariance is not None:
        parameters[model.state_transition_noise_covariance] = np.diag(variances)
    if model.prior_state_var is not None:
        parameters[model.prior_state_var] = np.zeros([state_size, state_size])
    if model._configuration.use_observation_noise:
        variance = 1.0 / np.random.gamma(shape=4, scale=4)
        parameters[model._observation_noise_covariance] = [[variance]]
    return parameters


def generate(
    model: StateSpaceModel,
    number_of_series: int,
    series_length: int,
    model_parameters: dict[Any, Any] | None,
    seed: int | None,
    add_observation_noise: bool | None,
) -> dict[str, Any]:
    """Draws series; see `StateSpaceModel.generate`."""
    if seed is not None:
        np.random.seed(seed)
    _check_features(model)
    noisy = add_observation_noise
    if noisy is None:
        noisy = model._configuration.use_observation_noise
    given = model_parameters or {}
    value_of = parameter_switch(given)
    transition = convert_to_tensor(model.get_state_transition(), dtype=model.dtype)
    transition = transition.eval(feed_dict=given)
    transform = convert_to_tensor(model.get_noise_transform()).eval(feed_dict=given)
    deviations = np.sqrt(np.diag(value_of(model.state_transition_noise_covariance)))
    observed: Any = 0.0
    if noisy:
        observed = np.sqrt(value_of(model._observation_noise_covariance)[0][0])
    state = np.tile(value_of(model.prior_state_mean)[None], [number_of_series, 1])
    models = model.get_broadcasted_observation_model(times=range_op(series_length))
    values = np.zeros([number_of_series, series_length])
    for step, observation in enumerate(models.eval(feed_dict=given)):
        noise = np.random.normal(
            loc=np.zeros([number_of_series, transform.shape[1]]),
            scale=np.tile(deviations[None], [number_of_series, 1]),
        )
        state = np.dot(state, transition.T) + np.dot(noise, transform.T)
        values[:, step] = np.dot(state, observation[0].T)
        if noisy:
            values[:, step] = np.random.normal(loc=values[:, step], scale=observed)
    return {
        TrainEvalFeatures.TIMES: np.tile(
            np.arange(series_length)[None], [number_of_series, 1]
        ),
        TrainEvalFeatures.VALUES: values[..., None],
    }
