"""`TimeSeriesModel`: what every model has; scaling of values, exogenous features."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures
from tensorloom.contrib.timeseries.state_tables import replicate_state
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.feature_column.parse_spec import make_parse_example_spec
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import concat, reshape, shape
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.math import cast, elementwise
from tensorloom.ops.parsing.parsing_features import parse_example

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.statistics import InputStatistics


class ModelOutputs(NamedTuple):
    """What a model computes for windows."""

    # What training minimizes, a scalar.
    loss: Any
    # The state after the windows.
    end_state: Any
    # By name, of the shape of `prediction_times` and more.
    predictions: Any
    # The times of the predictions, [batch, window].
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """A model of a series of times and values."""

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        """Describes the series.

        Args:
          num_features: of each value.
          exogenous_feature_columns: columns of features that are known and not
            predicted.
          dtype: to compute in.
        """
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Any:
        """The columns of features that are not predicted."""
        return self._exogenous_feature_columns

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
    ) -> Any:
        """Draws series from the model. Raises NotImplementedError where it cannot."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes what the model has in the default graph.

        Args:
          input_statistics: of the series; values are scaled by them.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = elementwise.sqrt(variances)

    def _scale_data(self, data: Any) -> Any:
        """From the scale of the series to the model's."""
        if self._input_statistics is None:
            return data
        return (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        """From the model's scale to that of the series."""
        if self._input_statistics is None:
            return data
        return (data * self._stats_sigmas) + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. "
                "This defines variables and ops in the default graph, and allows "
                "Tensor-valued input statistics to be specified."
            )

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The loss of windows that all begin with the start state.

        Args:
          features: times [batch, window], values [batch, window, features], and
            exogenous features.
          mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
        """
        self._check_graph_initialized()
        batch_size = shape.shape(features[TrainEvalFeatures.TIMES])[0]
        state = replicate_state(self.get_start_state(), batch_size)
        return self.get_batch_loss(features=features, mode=mode, state=state)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before the series, a structure of tensors without a batch."""

    @abc.abstractmethod
    def get_batch_loss(
        self, features: dict[str, Any], mode: str, state: Any
    ) -> ModelOutputs:
        """Loss, predictions and end state of windows that begin with a state."""

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions for times after a state.

        Args:
          features: times [batch, window], the state, and exogenous features.
        """

    def _parsed_exogenous_features(self) -> dict[str, Any]:
        return parse_example(
            serialized=placeholder(shape=[None], dtype=dtypes.string),
            features=make_parse_example_spec(self._exogenous_feature_columns),
        )

    def _get_exogenous_embedding_shape(self) -> Any:
        """The shape of one time's exogenous features, as `input_layer` makes them."""
        if not self._exogenous_feature_columns:
            return (0,)
        with Graph().as_default():
            embedded = input_layer(
                features=self._parsed_exogenous_features(),
                feature_columns=self._exogenous_feature_columns,
            )
            return embedded.get_shape().as_list()[1:]

    def _process_exogenous_features(self, times: Any, features: dict[str, Any]) -> Any:
        """The exogenous features as vectors, [batch, window, size], or None.

        Raises:
          ValueError: the rank of a feature is not known.
        """
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _without_window(name, value) for name, value in features.items()}
        embedded = input_layer(
            features=flat,
            feature_columns=self._exogenous_feature_columns,
            trainable=True,
        )
        sizes = concat.concat([shape.shape(times), shape.shape(embedded)[1:]], axis=0)
        vectors = reshape.reshape(embedded, sizes)
        vectors.set_shape(times.get_shape().concatenate(embedded.get_shape()[1:]))
        return cast.cast(vectors, dtype=self.dtype)


def _without_window(name: str, value: Any) -> Any:
    """Batch and window of a feature as one dimension."""
    if value.get_shape().ndims is None:
        raise ValueError(
            "Features with unknown rank are not supported. Got shape "
            f"{value.get_shape()} for feature {name}."
        )
    sizes = shape.shape(value)
    flat = reshape.reshape(
        value, concat.concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0)
    )
    # Columns of numbers want a dimension of size 1.
    is_scalar = flat.get_shape().ndims == 1 and flat.dtype != dtypes.string
    return flat[:, None] if is_scalar else flat
