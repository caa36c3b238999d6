"""`ARModel`: values from a window of values before them."""

from __future__ import annotations

from typing import Any, ClassVar

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.timeseries.autoregressive_loops import (
    evaluate_windows,
    predict_windows,
)
from tensorloom.contrib.timeseries.distributions import normal_log_prob
from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures, exogenous
from tensorloom.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from tensorloom.contrib.timeseries.prediction_models import FlatPredictionModel
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, reshape, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import selection
from tensorloom.ops.indexing.slice import slice as slice_op
from tensorloom.ops.math import binary, cast, elementwise
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.nn import activation
from tensorloom.ops.reductions import reductions


@export("contrib.timeseries.ARModel")
class ARModel(TimeSeriesModel):
    """An autoregressive model: a prediction model of a window of values, and of time.

    A time has a feature for each bucket of each period: how far into the bucket it is,
    in buckets, and zero in all other buckets. With an input window of size zero the
    model is a regression on time alone.
    """

    SQUARED_LOSS: ClassVar[str] = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS: ClassVar[str] = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Any = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Any = None,
    ) -> None:
        """Describes the model.

        Args:
          periodicities: a period or a list of them, in units of time.
          input_window_size: how many values are looked at.
          output_window_size: how many are predicted at a time.
          num_features: of each value.
          prediction_model_factory: makes a layer from `num_features`,
            `input_window_size` and `output_window_size`. It maps the features of both
            windows to a dictionary of predictions, as `FlatPredictionModel` does.
          num_time_buckets: into which a period is divided.
          loss: NORMAL_LIKELIHOOD_LOSS, by which covariances are trained too, or
            SQUARED_LOSS.
          exogenous_feature_columns: columns of features that are not predicted.
        """
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(num_features, exogenous_feature_columns)
        self.exogenous_size = 0
        if exogenous_feature_columns is not None:
            self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        assert num_time_buckets > 0, "num_time_buckets must be above zero"
        self._buckets = int(num_time_buckets)
        periods = periodicities or []
        if not isinstance(periods, (list, tuple)):
            periods = [periods]
        self._periodicities = [int(period) for period in periods]
        assert all(period > 0 for period in self._periodicities), periods
        assert self._periodicities or input_window_size, "there is nothing to look at"
        assert output_window_size > 0, "output_window_size must be above zero"

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the prediction model."""
        super().initialize_graph(input_statistics=input_statistics)
        # The slash leaves all scopes around: predictions are made within a loop, and
        # have to find the variables of training.
        self._model_scope = variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> Any:
        """Zeros for the input window: times, values, and exogenous features."""
        size = self.input_window_size
        return (
            fill.zeros([size], dtype=dtypes.int64),
            fill.zeros([size, self.num_features], dtype=self.dtype),
            fill.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    def random_model_parameters(self, seed: int | None = None) -> None:
        """None: the model draws no parameters."""

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
    ) -> None:
        """None: the model draws no series."""

    def prediction_ops(
        self, times: Any, values: Any, exogenous_regressors: Any
    ) -> dict[str, Any]:
        """Predictions for the output window.

        Args:
          times: of both windows, [batch, window].
          values: of the input window, [batch, input window, features]; anything where
            that has no size.
          exogenous_regressors: of both windows, [batch, window, size].

        Returns:
          "mean" and "covariance", [batch, output window, features] each.
        """
        times.get_shape().assert_is_compatible_with([None, self.window_size])
        batch = shape.shape(times)[0]
        inputs: list[Any] = []
        outputs: list[Any] = []
        if self._periodicities:
            _, buckets = self._compute_time_features(times)
            count = self._buckets * len(self._periodicities)
            features = reshape.reshape(buckets, [batch, self.window_size, count])
            self._add_split(features, inputs, outputs)
        if self.input_window_size:
            sizes = [self.input_window_size, self.num_features]
            values.get_shape().assert_is_compatible_with([None, *sizes])
            window = slice_op(values, [0, 0, 0], [-1, self.input_window_size, -1])
            inputs.append(reshape.reshape(window, [batch, *sizes]))
        if self.exogenous_size:
            exogenous_regressors.get_shape().assert_is_compatible_with(
                [None, self.window_size, self.exogenous_size]
            )
            self._add_split(exogenous_regressors, inputs, outputs)
        assert inputs, "there is nothing to look at"
        input_features = concat.concat(inputs, axis=2)
        if outputs:
            output_features = concat.concat(outputs, axis=2)
        else:
            output_features = fill.zeros(
                [batch, self.output_window_size, 0], dtype=self.dtype
            )
        known = self._buckets * len(self._periodicities) + self.exogenous_size
        static = times.get_shape()[0].value
        looked_at = known + (self.num_features if self.input_window_size else 0)
        input_features.set_shape([static, self.input_window_size, looked_at])
        output_features.set_shape([static, self.output_window_size, known])
        return self._output_window_predictions(input_features, output_features)

    def _add_split(self, features: Any, inputs: list[Any], outputs: list[Any]) -> None:
        sizes = (self.input_window_size, self.output_window_size)
        first, second = concat.split(features, sizes, axis=1)
        inputs.append(first)
        outputs.append(second)

    def _output_window_predictions(
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Any]:
        with self._model_scope:
            predictions: dict[str, Any] = self._model_instance(
                input_window_features, output_window_features
            )
            for value in predictions.values():
                value.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def loss_op(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        """The mean loss of predictions."""
        mean = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = elementwise.sqrt(binary.maximum(prediction_ops["covariance"], 1e-5))
            total = -reductions.reduce_sum(normal_log_prob(targets, sigma, mean))
        else:
            assert self.loss == ARModel.SQUARED_LOSS, self.loss
            total = reductions.reduce_sum(binary.squared_difference(mean, targets))
        return total / cast.cast(_count(targets), total.dtype)

    def _process_exogenous_features(self, times: Any, features: dict[str, Any]) -> Any:
        """As of all models; vectors of size zero where there are no features."""
        vectors = super()._process_exogenous_features(times=times, features=features)
        if vectors is not None:
            return vectors
        assert self.exogenous_size == 0
        return fill.zeros(concat.concat([shape.shape(times), constant([0])], axis=0))

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions for times after a window, each window from the one before.

        Args:
          features: times [batch, window]; as state times [batch, input window or more],
            values with features, and exogenous features; and exogenous features.

        Returns:
          "mean" and "covariance", [batch, window, features] each.
        """
        if not self._graph_initialized:
            self.initialize_graph()
        mean, covariance = predict_windows(self, features)
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(covariance),
        }

    def _process_window(
        self, features: dict[str, Any], mode: str, exogenous_regressors: Any
    ) -> ModelOutputs:
        """Loss and predictions of one window."""
        times = cast.cast(features[TrainEvalFeatures.TIMES], dtypes.int64)
        original = cast.cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        exogenous_regressors = cast.cast(exogenous_regressors, dtype=self.dtype)
        self._check_window(times)
        values = self._scale_data(original)
        size = self.input_window_size
        before = values[:, :size, :] if size > 0 else None
        predictions = self.prediction_ops(times, before, exogenous_regressors)
        targets = slice_op(values, [0, size, 0], [-1, -1, -1])
        mean = predictions["mean"]
        targets.get_shape().assert_is_compatible_with(mean.get_shape())
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            # In the scale of the series, as those who look at it expect.
            loss = self.loss_op(
                self._scale_back_data(targets), {"mean": self._scale_back_data(mean)}
            )
        else:
            loss = self.loss_op(targets, predictions)
        return ModelOutputs(
            loss=loss,
            end_state=(
                times[:, -size:],
                values[:, -size:, :],
                exogenous_regressors[:, -size:, :],
            ),
            predictions={
                "mean": self._scale_back_data(mean),
                "covariance": self._scale_back_variance(predictions["covariance"]),
                "observed": original[:, -self.output_window_size :],
            },
            prediction_times=times[:, -self.output_window_size :],
        )

    def _check_window(self, times: Any) -> None:
        if times.get_shape().is_compatible_with([None, self.window_size]):
            return
        raise ValueError(
            f"ARModel with input_window_size={self.input_window_size} and "
            f"output_window_size={self.output_window_size} expects feature "
            f"'{TrainEvalFeatures.TIMES}' to have shape (batch_size, "
            f"{self.window_size}) (for any batch_size), but got shape "
            f"{times.get_shape()}. If you are using RandomWindowInputFn, set "
            f"window_size={self.window_size} or adjust the input_window_size and "
            "output_window_size arguments to ARModel."
        )

    def get_batch_loss(
        self, features: dict[str, Any], mode: str, state: Any
    ) -> ModelOutputs:
        """Loss and predictions.

        Args:
          features: times and values of windows. In evaluation windows may be longer
            than the model's: then they are cut into windows whose outputs do not
            overlap, and what is left over at the beginning is not looked at.
          mode: TRAIN or EVAL.
          state: windows before these, in evaluation.

        Raises:
          ValueError: the windows are of another size, or too short, or the mode is
            another.
        """
        features = {key: convert_to_tensor(value) for key, value in features.items()}
        regressors = self._process_exogenous_features(
            times=features[TrainEvalFeatures.TIMES], features=exogenous(features)
        )
        if mode == ModeKeys.TRAIN:
            return self._process_window(features, mode, regressors)
        if mode == ModeKeys.EVAL:
            return evaluate_windows(self, features, mode, state, regressors)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _compute_time_features(self, time: Any) -> tuple[Any, Any]:
        """How many periods a time is in, and how far it is into each bucket."""
        periods = constant(
            self._periodicities,
            shape=[1, 1, len(self._periodicities), 1],
            dtype=time.dtype,
        )
        time = reshape.reshape(time, [shape.shape(time)[0], -1, 1, 1])
        offset = time / self._periodicities
        phase = cast.cast(time % periods, self.dtype) * self._buckets
        phase = phase / cast.cast(periods, self.dtype)
        starts = reshape.reshape(
            range_op(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets]
        )
        into = activation.relu(phase - starts)
        return offset, selection.where_v2(into < 1.0, into, fill.zeros_like(into))


def _count(values: Any) -> Any:
    return reductions.reduce_prod(shape.shape(values))
