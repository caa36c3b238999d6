"""`TimeSeriesRegressor`: an Estimator of a model of a series, and how it is served."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.timeseries.autoregression import ARModel
from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures
from tensorloom.contrib.timeseries.heads import (
    TimeSeriesRegressionHead,
    state_to_dictionary,
)
from tensorloom.contrib.timeseries.state_management import (
    FilteringOnlyStateManager,
    PassthroughStateManager,
)
from tensorloom.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.export.receivers import ServingInputReceiver
from tensorloom.feature_column.numeric import numeric_column
from tensorloom.feature_column.parse_spec import make_parse_example_spec
from tensorloom.framework.export import export
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import concat, fill, pad, reshape, shape
from tensorloom.ops.array.placeholder import placeholder, placeholder_with_default
from tensorloom.ops.math import cast
from tensorloom.ops.parsing.parsing_features import FixedLenFeature, parse_example
from tensorloom.train.optimizers.adam import AdamOptimizer

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


@export("contrib.timeseries.TimeSeriesRegressor")
class TimeSeriesRegressor(Estimator):
    """An Estimator of a `TimeSeriesModel`."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        """Makes the Estimator.

        Args:
          model: the model.
          state_manager: says what state windows begin with; by default the start state,
            and in evaluations of an `ARModel` one that is given.
          optimizer: Adam with a rate of 0.02 by default.
          model_dir, config: as of `Estimator`.
          head_type: a `TimeSeriesRegressionHead`, or a class like it.
        """
        if state_manager is None:
            is_window_model = isinstance(model, ARModel)
            state_manager = (
                FilteringOnlyStateManager()
                if is_window_model
                else PassthroughStateManager()
            )
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=InputStatisticsFromMiniBatch(
                dtype=model.dtype, num_features=model.num_features
            ),
        )
        super().__init__(
            model_fn=head.create_estimator_spec, model_dir=model_dir, config=config
        )

    def _model_start_state_placeholders(
        self, batch_size_tensor: Any, static_batch_size: int | None = None
    ) -> dict[str, Any]:
        """Placeholders for a state, zeros where none is fed."""
        # A graph of its own: models may make variables to know their state's shapes.
        with Graph().as_default():
            self._model.initialize_graph()
            start = nest.map_structure(
                lambda tensor: np.zeros(
                    tensor.shape.as_list(), tensor.dtype.base_dtype.as_numpy_dtype
                ),
                self._model.get_start_state(),
            )
        placeholders = {}
        for name, state in state_to_dictionary(start).items():
            ones = fill.ones(len(state.shape), dtype=dtypes.int32)
            default = pad.tile(
                state[None, ...],
                multiples=concat.concat([batch_size_tensor[None], ones], axis=0),
            )
            placeholders[name] = placeholder_with_default(
                input=default,
                name=name,
                shape=TensorShape((static_batch_size,)).concatenate(state.shape),
            )
        return placeholders

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Any:
        """An input receiver of Examples, for models with an `OneShotPredictionHead`.

        Args:
          filtering_length: how many times are observed.
          prediction_length: how many are predicted.
          default_batch_size: how many Examples there are; any number by default.
          values_input_dtype: of the values in Examples; float32 by default.
          truncate_values: whether Examples have values of all times, of which those to
            predict are not looked at.

        Returns:
          For `export_savedmodel`. When called it raises ValueError for columns of
          variable length that are no strings.
        """
        total = filtering_length + prediction_length
        values_length = total if truncate_values else filtering_length

        def receiver_fn() -> ServingInputReceiver:
            columns = [
                *self._model.exogenous_feature_columns,
                numeric_column(key=_TIMES, dtype=dtypes.int64),
                numeric_column(
                    key=_VALUES,
                    dtype=values_input_dtype or dtypes.float32,
                    shape=(self._model.num_features,),
                ),
            ]
            parsed = {}
            for key, spec in make_parse_example_spec(columns).items():
                length = values_length if key == _VALUES else total
                parsed[key] = _sequence_spec(key, spec, length)
            examples = placeholder(
                shape=[default_batch_size], dtype=dtypes.string, name="input"
            )
            features = parse_example(serialized=examples, features=parsed)
            features[_TIMES] = reshape.squeeze(features[_TIMES], axis=-1)
            values = cast.cast(features[_VALUES], dtype=self._model.dtype)
            features[_VALUES] = values[:, :filtering_length]
            features.update(
                self._model_start_state_placeholders(
                    batch_size_tensor=shape.shape(features[_TIMES])[0],
                    static_batch_size=default_batch_size,
                )
            )
            return ServingInputReceiver(features, {"examples": examples})

        return receiver_fn

    def build_raw_serving_input_receiver_fn(
        self,
        default_batch_size: int | None = None,
        default_series_length: int | None = None,
    ) -> Any:
        """An input receiver of arrays: times, values, state, exogenous features.

        Args:
          default_batch_size: how many series there are; any number by default.
          default_series_length: how many times; any number by default.

        Returns:
          For `export_savedmodel`.
        """
        window = [default_batch_size, default_series_length]
        features = self._model.num_features

        def receiver_fn() -> ServingInputReceiver:
            times = placeholder(name=_TIMES, dtype=dtypes.int64, shape=window)
            # Predictions need no values.
            none = fill.zeros(
                shape=[*(size or 0 for size in window), features],
                dtype=self._model.dtype,
            )
            values = placeholder_with_default(
                name=_VALUES, input=none, shape=(*window, features)
            )
            placeholders = {_TIMES: times, _VALUES: values}
            for key, (sizes, dtype) in self._exogenous_shapes().items():
                placeholders[key] = placeholder(
                    dtype=dtype, name=key, shape=[*window, *sizes[1:]]
                )
            placeholders.update(
                self._model_start_state_placeholders(
                    shape.shape(times)[0], static_batch_size=default_batch_size
                )
            )
            return ServingInputReceiver(placeholders, placeholders)

        return receiver_fn

    def _exogenous_shapes(self) -> dict[str, tuple[list[Any], Any]]:
        """Shapes with a batch, and dtypes, of exogenous features."""
        if not self._model.exogenous_feature_columns:
            return {}
        with Graph().as_default():
            parsed = self._model._parsed_exogenous_features()
            return {
                key: (value.get_shape().with_rank_at_least(1).as_list(), value.dtype)
                for key, value in parsed.items()
            }


def _sequence_spec(key: str, spec: Any, length: int) -> FixedLenFeature:
    """The feature at so many times."""
    if isinstance(spec, FixedLenFeature):
        return spec._replace(shape=(length, *spec.shape))
    if spec.dtype == dtypes.string:
        return FixedLenFeature(shape=(length,), dtype=dtypes.string)
    raise ValueError(f"VarLenFeatures not supported, got {spec} for key {key}")
