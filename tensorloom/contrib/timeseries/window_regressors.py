"""`ARRegressor` and `LSTMAutoRegressor`: Estimators of models of windows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tensorloom.contrib.timeseries.anomalies import AnomalyMixtureARModel
from tensorloom.contrib.timeseries.autoregression import ARModel
from tensorloom.contrib.timeseries.heads import OneShotPredictionHead
from tensorloom.contrib.timeseries.prediction_models import (
    FlatPredictionModel,
    LSTMPredictionModel,
)
from tensorloom.contrib.timeseries.regressors import TimeSeriesRegressor
from tensorloom.contrib.timeseries.state_management import FilteringOnlyStateManager
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.framework.export import export
from tensorloom.train.optimizers.adagrad import AdagradOptimizer


@export("contrib.timeseries.ARRegressor")
class ARRegressor(TimeSeriesRegressor):
    """An Estimator of an autoregressive model, linear or with hidden layers.

    Windows in training are of `input_window_size + output_window_size` times.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Any = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        """Makes the Estimator.

        Args:
          periodicities, input_window_size, output_window_size, num_features,
            exogenous_feature_columns, num_time_buckets, loss: as of `ARModel`.
          hidden_layer_sizes: of layers between; none by default.
          anomaly_prior_probability: of an anomaly; None for none.
          anomaly_distribution: of anomalies: "gaussian" by default, or "cauchy".
          optimizer: Adagrad with a rate of 0.1 by default.
          model_dir, config: as of `Estimator`.

        Raises:
          ValueError: anomalies have a distribution without a probability, or go with
            another loss than the likelihood.
        """
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError(
                "anomaly_prior_probability is required if anomaly_distribution is "
                "specified."
            )
        shared: dict[str, Any] = {
            "periodicities": periodicities,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
            ),
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
        }
        if anomaly_prior_probability is None:
            model = ARModel(loss=loss, **shared)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError(
                "AnomalyMixtureARModel only supports "
                "ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument."
            )
        else:
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution
                or AnomalyMixtureARModel.GAUSSIAN_ANOMALY,
                **shared,
            )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=AdagradOptimizer(0.1) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
        )


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An Estimator of an LSTM over a window, and one over the window to predict."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Any = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ) -> None:
        """Makes the Estimator.

        Args:
          periodicities, input_window_size, output_window_size, num_features, loss: as
            of `ARModel`.
          model_dir, config: as of `Estimator`.
          extra_feature_columns: columns of features that are not predicted.
          num_timesteps: into which a period is divided.
          num_units: of both cells.
          optimizer: an optimizer, its name, or what makes one; with a rate of 0.01.
        """
        model = ARModel(
            periodicities=periodicities,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            num_features=num_features,
            exogenous_feature_columns=extra_feature_columns,
            num_time_buckets=num_timesteps,
            loss=loss,
            prediction_model_factory=functools.partial(
                LSTMPredictionModel, num_units=num_units
            ),
        )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=get_optimizer_instance(optimizer, learning_rate=0.01),
            model_dir=model_dir,
            config=config,
            head_type=OneShotPredictionHead,
        )
