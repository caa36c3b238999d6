"""Heads: from a model of a series to the `EstimatorSpec` of each mode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.timeseries.feature_checks import (
    check_predict_features,
    check_train_eval_features,
)
from tensorloom.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.sparse_tensor import convert_to_tensor_or_sparse_tensor
from tensorloom.metrics.averages import mean
from tensorloom.ops.array import fill, shape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math import cast
from tensorloom.ops.state.reference_variable import assign
from tensorloom.summary import summary
from tensorloom.train.training_util import get_global_step

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.models import ModelOutputs


class _NoStatePredictOutput(PredictOutput):
    """An output whose signature takes no state."""

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """The signature without the inputs of the state."""
        return super().as_signature_def(
            {
                key: value
                for key, value in receiver_tensors.items()
                if not key.startswith(State.STATE_PREFIX)
            }
        )


class TimeSeriesRegressionHead:
    """Trains, evaluates, predicts, and serves with a state that goes in and out."""

    def __init__(
        self,
        model: Any,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        """Takes the parts.

        Args:
          model: a `TimeSeriesModel`.
          state_manager: says what state windows begin with.
          optimizer: trains.
          input_statistics_generator: an `InputStatisticsFromMiniBatch`, or None.
          name: of the head's scope.
        """
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of the head."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """1."""
        return 1

    def create_loss(
        self,
        features: dict[str, Any],
        mode: str,
        logits: Any = None,
        labels: Any = None,
    ) -> ModelOutputs:
        """The model's outputs, with a summary of the loss."""
        outputs: ModelOutputs = self.state_manager.define_loss(
            self.model, features, mode
        )
        loss = MetricKeys.LOSS
        summary.scalar(f"{loss}/{self._name}" if self._name else loss, outputs.loss)
        return outputs

    def _train_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        # What was computed for the last windows, beside the mean loss.
        metrics = {
            key: _last_value(key, value) for key, value in outputs.predictions.items()
        }
        times, state = FilteringResults.TIMES, FilteringResults.STATE_TUPLE
        metrics[times] = _last_value(times, outputs.prediction_times)
        metrics[state] = _last_values(state, outputs.end_state)
        metrics[MetricKeys.LOSS_MEAN] = mean(outputs.loss, name="average_loss")
        return EstimatorSpec(
            loss=outputs.loss,
            mode=ModeKeys.EVAL,
            eval_metric_ops=metrics,
            predictions=outputs.predictions,
        )

    def _predict_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        times = features[PredictionFeatures.TIMES]
        predictions[PredictionResults.TIMES] = times
        return EstimatorSpec(predictions=predictions, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """Signatures: predictions of a state, and states after observations."""
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        with variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            stateless = {
                key: value
                for key, value in features.items()
                if not key.startswith(State.STATE_PREFIX)
            }
            cold = self.model.define_loss(features=stateless, mode=ModeKeys.EVAL)
        outputs = {
            SavedModelLabels.PREDICT: PredictOutput(predictions),
            SavedModelLabels.FILTER: PredictOutput(
                state_to_dictionary(filtered.end_state)
            ),
            SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(
                state_to_dictionary(cold.end_state)
            ),
        }
        return EstimatorSpec(
            mode=ModeKeys.PREDICT, export_outputs=outputs, predictions={}
        )

    def _convert_feature_to_tensor(self, name: str, value: Any) -> Any:
        if name == TrainEvalFeatures.TIMES:
            return cast.cast(value, dtypes.int64)
        if name == TrainEvalFeatures.VALUES:
            return cast.cast(value, self.model.dtype)
        if name == State.STATE_TUPLE:
            return value  # of the dtypes of the model
        return convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """The features with a state's numbered tensors as one; if there are any."""
        numbered = {
            int(found.group(1)): key
            for key in features
            if (found := re.search(rf"^{State.STATE_PREFIX}_(\d+)$", key))
        }
        if not numbered:
            return features, False
        tensors = [features[numbered[number]] for number in sorted(numbered)]
        others = {
            key: value
            for key, value in features.items()
            if key not in numbered.values()
        }
        others[State.STATE_TUPLE] = nest.pack_sequence_as(
            structure=self.model.get_start_state(), flat_sequence=tensors
        )
        return others, True

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        required = (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)
        check_predict_features(features, required, {State.STATE_TUPLE})

    def create_estimator_spec(
        self, features: dict[str, Any], mode: str, labels: Any = None
    ) -> EstimatorSpec:
        """The spec of a mode.

        Raises:
          ValueError: there are labels, features are missing or of wrong shapes, or
            there is no such mode.
        """
        with name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{TrainEvalFeatures.TIMES}' and '{TrainEvalFeatures.VALUES}' as "
                    "features."
                )
            features = {
                name: self._convert_feature_to_tensor(name=name, value=value)
                for name, value in features.items()
            }
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            features, is_serving = self._gather_state(features)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                check_train_eval_features(features, self.model)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(
                model=self.model, input_statistics=statistics
            )
            if mode == ModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            # A state in numbered tensors comes from an exported model.
            make = self._serving_ops if is_serving else self._predict_ops
            return make(features)


@export("contrib.timeseries.OneShotPredictionHead")
class OneShotPredictionHead(TimeSeriesRegressionHead):
    """Serves without a state: observations go in with the times to predict.

    Values are [batch, observed, features], times and exogenous features [batch, total,
    ...]: the times that are observed, and then those to predict.
    """

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        values, state = TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE
        required = (PredictionFeatures.TIMES, values, state)
        # There are fewer values than times.
        check_predict_features(features, required, {state, values})

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]  # nobody can feed it
        return spec

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """One signature: predictions after observations."""
        values = features[FilteringFeatures.VALUES]
        with variable_scope("model", use_resource=True):
            length = shape.shape(values)[1]
            observed = {FilteringFeatures.VALUES: values}
            following = {}
            for key, value in features.items():
                if key not in (State.STATE_TUPLE, FilteringFeatures.VALUES):
                    observed[key] = value[:, :length]
                    following[key] = value[:, length:]
            filtered = self.model.define_loss(features=observed, mode=ModeKeys.EVAL)
            following[State.STATE_TUPLE] = filtered.end_state
        with variable_scope("model", reuse=True):
            predictions = self.model.predict(features=following)
        outputs = {SavedModelLabels.PREDICT: _NoStatePredictOutput(predictions)}
        return EstimatorSpec(
            mode=ModeKeys.PREDICT, export_outputs=outputs, predictions={}
        )


def _last_value(name: str, value: Any) -> tuple[Any, Any]:
    """A metric that is the value of the last step.

    It is kept in a variable, as the other metrics are, so that all are of one step.
    """
    kept = Variable(
        name=f"{name}_identity_metric",
        initial_value=fill.zeros([], dtype=value.dtype),
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
    )
    update = assign(kept, value, validate_shape=False)
    kept.set_shape(value.get_shape())
    return kept.value(), update


def _last_values(name: str, values: Any) -> tuple[Any, Any]:
    """A metric that is a structure of the last step."""
    pairs = [
        _last_value(f"{name}_{number}", value)
        for number, value in enumerate(nest.flatten(values))
    ]
    kept = nest.pack_sequence_as(values, [value for value, _ in pairs])
    return kept, group(*(update for _, update in pairs))


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The tensors of a state by numbered keys."""
    return {
        f"{State.STATE_PREFIX}_{number:02d}": value
        for number, value in enumerate(nest.flatten(state_tuple))
    }
