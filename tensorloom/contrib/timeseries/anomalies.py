"""`AnomalyMixtureARModel`: values that may be anomalies, with a wider distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.timeseries.autoregression import ARModel
from tensorloom.contrib.timeseries.distributions import (
    cauchy_log_prob,
    normal_log_prob,
)
from tensorloom.contrib.timeseries.prediction_models import FlatPredictionModel
from tensorloom.ops.array import shape
from tensorloom.ops.math import binary, cast, elementwise
from tensorloom.ops.reductions import reductions
from tensorloom.ops.state.initializers import Zeros


class AnomalyMixtureARModel(ARModel):
    """An autoregressive model whose loss forgives anomalies.

    It predicts from anomalous values as from others.
    """

    GAUSSIAN_ANOMALY: ClassVar[str] = "gaussian"
    CAUCHY_ANOMALY: ClassVar[str] = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Any = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Any = None,
    ) -> None:
        """Describes the model; other arguments as of `ARModel`.

        Args:
          anomaly_prior_probability: of an anomaly, between 0 and 1.
          anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY.
        """
        assert 0.0 < anomaly_prior_probability < 1.0, anomaly_prior_probability
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(
        self, times: Any, values: Any, exogenous_regressors: Any
    ) -> dict[str, Any]:
        """As of `ARModel`, with "anomaly_params": a variance, or Cauchy's scale."""
        predictions = super().prediction_ops(times, values, exogenous_regressors)
        parameter = get_variable(
            "anomaly_log_param", shape=[], dtype=self.dtype, initializer=Zeros()
        )
        predictions["anomaly_params"] = elementwise.exp(parameter)
        return predictions

    def _anomaly_log_prob(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        mean, parameter = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            sigma = elementwise.sqrt(binary.maximum(parameter, 1e-5))
            return normal_log_prob(targets, sigma, mean)
        return cauchy_log_prob(targets, parameter, mean)

    def loss_op(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        """The mean loss of predictions under the mixture."""
        prior = self._anomaly_prior_probability
        sigma = elementwise.sqrt(binary.maximum(prediction_ops["covariance"], 1e-5))
        normal = normal_log_prob(targets, sigma, prediction_ops["mean"])
        normal += math.log(1 - prior)
        anomaly = self._anomaly_log_prob(targets, prediction_ops) + math.log(prior)
        less, more = binary.minimum(normal, anomaly), binary.maximum(normal, anomaly)
        mixed = more + elementwise.log(1 + elementwise.exp(less - more))
        count = reductions.reduce_prod(shape.shape(targets))
        return -reductions.reduce_sum(mixed) / cast.cast(count, self.dtype)
