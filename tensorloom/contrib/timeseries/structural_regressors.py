"""`StructuralEnsembleRegressor`: an Estimator of a structural model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.timeseries.heads import TimeSeriesRegressionHead
from tensorloom.contrib.timeseries.regressors import TimeSeriesRegressor
from tensorloom.contrib.timeseries.state_management import ChainingStateManager
from tensorloom.contrib.timeseries.state_space_models.filtering_postprocessors import (
    StateInterpolatingAnomalyDetector,
)
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.contrib.timeseries.state_space_models.structural import (
    MultiResolutionStructuralEnsemble,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes


class StateSpaceRegressor(TimeSeriesRegressor):
    """An Estimator of any state-space model; states go from window to window."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        """Makes the Estimator; see `TimeSeriesRegressor`.

        Raises:
          ValueError: the model is no `StateSpaceModel`.
        """
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of "
                f"StateSpaceModel) in its `model` argument, got {model}."
            )
        if state_manager is None:
            state_manager = ChainingStateManager()
        super().__init__(model, state_manager, optimizer, model_dir, config, head_type)


@export("contrib.timeseries.StructuralEnsembleRegressor")
class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An Estimator of level, trend, periods and deviations that fade.

    Windows may be of any size. For evaluation take the whole series, or go through it
    several times: states that training left are old.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        dtype: Any = dtypes.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        """Makes the Estimator.

        Args:
          periodicities, cycle_num_latent_values, moving_average_order,
            autoregressive_order: as of `MultiResolutionStructuralEnsemble`.
          num_features: of each value.
          exogenous_feature_columns, exogenous_update_condition, dtype: as of
            `StateSpaceModelConfiguration`.
          anomaly_prior_probability: of an anomaly, which counts less; None for none.
          optimizer: Adam with a rate of 0.02 by default.
          model_dir, config: as of `Estimator`.
          head_type: as of `TimeSeriesRegressor`.
        """
        processor = None
        if anomaly_prior_probability is not None:
            processor = StateInterpolatingAnomalyDetector(
                anomaly_prior_probability=anomaly_prior_probability
            )
        configuration = StateSpaceModelConfiguration(
            num_features=num_features,
            dtype=dtype,
            filtering_postprocessor=processor,
            exogenous_feature_columns=exogenous_feature_columns or (),
            exogenous_update_condition=exogenous_update_condition,
        )
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=configuration,
        )
        super().__init__(
            model=model,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )
