"""`SequentialTimeSeriesModel`: models that go through a window step by step."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
    exogenous,
)
from tensorloom.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, permute, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.stack import stack
from tensorloom.ops.indexing import selection
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import cast, comparison
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions import reductions


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model with a state that each time changes.

    Before each time the state is brought up to it (`_imputation_step`). Then it takes
    exogenous features in, predicts (`_prediction_step`) and, where values are known, is
    corrected by them (`_filtering_step`).
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = dtypes.float32,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        """Describes the model.

        Args:
          train_output_names: what `_filtering_step` gives beside "loss".
          predict_output_names: what `_prediction_step` gives.
          num_features: of each value.
          normalize_features: whether values are scaled; then `_scale_back_predictions`
            is needed.
          dtype: to compute in.
          exogenous_feature_columns: columns of features that are not predicted.
          exogenous_update_condition: from `times` [batch] and `features` of one time to
            bool [batch]: where exogenous features change the state; by default always.
          static_unrolling_window_size_threshold: windows up to this size are written
            into the graph step by step, longer ones and, by default, all are loops.
        """
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = list(train_output_names)
        self._predict_output_names = list(predict_output_names)
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = (
            static_unrolling_window_size_threshold
        )

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Predictions in the scale of the series."""
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data "
            "(normalize_features=True), but no method was provided to transform the "
            "predictions back to the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        state: Any,
        predictions: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """The state corrected by values, and outputs with "loss", [batch, ...] each."""

    @abc.abstractmethod
    def _prediction_step(
        self, current_times: Any, state: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The state at a time, and predictions for it, [batch, ...] each."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state just before a time, whatever lies between."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """The state after exogenous features, [batch, size]."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """What is added to the mean loss of observations."""
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Prepares for a window."""
        return

    def get_batch_loss(
        self, features: dict[str, Any], mode: str, state: Any
    ) -> ModelOutputs:
        """Loss, predictions and end state of windows that begin with a state."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        outputs["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=nest.map_structure(lambda tensor: tensor[:, -1], states),
            predictions=outputs,
            prediction_times=features[TrainEvalFeatures.TIMES],
        )

    def _apply_exogenous_update(
        self,
        current_times: Any,
        step_number: Any,
        state: Any,
        raw_features: dict[str, Any],
        embedded_exogenous_regressors: Any,
    ) -> Any:
        if embedded_exogenous_regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times,
            current_exogenous_regressors=embedded_exogenous_regressors[
                :, step_number, :
            ],
            state=state,
        )
        if self._exogenous_update_condition is None:
            return updated
        condition = self._exogenous_update_condition(
            times=current_times,
            features={
                key: value[:, step_number]
                for key, value in exogenous(raw_features).items()
            },
        )
        pairs = zip(nest.flatten(updated), nest.flatten(state), strict=True)
        return nest.pack_sequence_as(
            state, [selection.where(condition, new, old) for new, old in pairs]
        )

    def per_step_batch_loss(
        self, features: dict[str, Any], mode: str, state: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """The mean loss, and of each step the state and the outputs.

        Args:
          features: times [batch, window], values [batch, window, features], and
            exogenous features.
          mode: TRAIN or EVAL.
          state: to begin with, [batch, ...] each.

        Returns:
          A scalar; the states, [batch, window, ...] each; outputs by name, likewise.
        """
        self._check_graph_initialized()
        times = cast.cast(features[TrainEvalFeatures.TIMES], dtype=dtypes.int64)
        values = cast.cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        regressors = self._process_exogenous_features(
            times=times, features=exogenous(features)
        )

        def step(step_number: Any, current_times: Any, state: Any) -> Any:
            state = self._apply_exogenous_update(
                current_times, step_number, state, features, regressors
            )
            predicted, predictions = self._prediction_step(current_times, state)
            return self._filtering_step(
                current_times=current_times,
                current_values=values[:, step_number, :],
                state=predicted,
                predictions=predictions,
            )

        names = ["loss", *self._train_output_names]
        states, outputs = self._state_update_loop(times, state, step, names)
        losses = outputs.pop("loss")
        losses.set_shape(times.get_shape())
        count = cast.cast(reductions.reduce_prod(shape.shape(times)), dtype=self.dtype)
        loss = reductions.reduce_sum(losses) / count
        loss += self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions for times after a state, [batch, window, ...] each."""
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        regressors = self._process_exogenous_features(
            times=times, features=exogenous(features)
        )

        def step(step_number: Any, current_times: Any, state: Any) -> Any:
            state = self._apply_exogenous_update(
                current_times, step_number, state, features, regressors
            )
            return self._prediction_step(current_times, state)

        _, predictions = self._state_update_loop(
            times,
            features[PredictionFeatures.STATE_TUPLE],
            step,
            self._predict_output_names,
        )
        if self._normalize_features:
            predictions = self._scale_back_predictions(predictions)
        return predictions

    def _state_update_loop(
        self,
        times: Any,
        state: Any,
        state_update_fn: Callable[..., Any],
        outputs: Sequence[str],
    ) -> tuple[Any, dict[str, Any]]:
        """Takes all steps of a window.

        Args:
          times: [batch, window].
          state: to begin with.
          state_update_fn: from step_number, current_times and state to the next state
            and a dictionary of outputs.
          outputs: the keys of that.

        Returns:
          The states of all steps and the outputs, [batch, window, ...] each.
        """
        times = convert_to_tensor(times, dtype=dtypes.int64)
        known = times.shape[1].value
        threshold = self._static_unrolling_window_size_threshold
        unrolls = None not in (known, threshold) and known <= threshold
        self._window_initializer(times, state)
        size = shape.shape(times)[1]

        def step(
            number: Any, state: Any, kept: Any, written: Any, reuse: bool = False
        ) -> Any:
            with variable_scope("state_update_step", reuse=reuse):
                current = times[:, number]
                before = self._imputation_step(current_times=current, state=state)
                after, values = state_update_fn(
                    step_number=number, current_times=current, state=before
                )
                assert set(values) == set(outputs), (set(values), set(outputs))
                written = [
                    array.write(number, values[key])
                    for array, key in zip(written, outputs, strict=True)
                ]
                flat = nest.flatten(after)
                for new, old in zip(flat, nest.flatten(before), strict=True):
                    new.set_shape(old.get_shape())
                kept = [
                    array.write(number, new)
                    for array, new in zip(kept, flat, strict=True)
                ]
                return number + 1, nest.pack_sequence_as(before, flat), kept, written

        def array(dtype: Any) -> Any:
            return _Steps() if unrolls else TensorArray(dtype=dtype, size=size)

        loop = (
            fill.zeros([], dtypes.int32),
            state,
            [array(element.dtype) for element in nest.flatten(state)],
            [array(self.dtype) for _ in outputs],
        )
        if unrolls:
            for number in range(known):
                position = constant(number, dtypes.int32)
                loop = step(position, *loop[1:], reuse=number > 0)
        else:
            loop = while_loop(
                lambda number, *_: comparison.less(number, size), step, list(loop)
            )
        states = nest.pack_sequence_as(state, [_windows(array) for array in loop[2]])
        results = zip(outputs, loop[3], strict=True)
        return states, {key: _windows(array) for key, array in results}


class _Steps:
    """A list in place of a TensorArray, where steps are written one by one."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, position: Any, value: Any) -> _Steps:
        self.values.append(value)
        return self


def _windows(array: Any) -> Any:
    """All elements, [batch, window, ...]."""
    if isinstance(array, _Steps):
        return stack(array.values, axis=1)
    stacked = array.stack()
    rest = range_op(2, shape.rank(stacked))
    return permute.transpose(stacked, perm=concat.concat([[1, 0], rest], 0))
