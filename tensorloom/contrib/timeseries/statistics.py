"""Statistics of a series, from the windows of it that were seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures
from tensorloom.framework.runtime.scopes import control_dependencies, device
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import identity, shape
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math import binary, cast, comparison, elementwise
from tensorloom.ops.nn import norm
from tensorloom.ops.reductions import reductions
from tensorloom.ops.state.initializers import Ones, Zeros
from tensorloom.ops.state.reference_variable import assign, assign_add


class Moments(NamedTuple):
    """Mean and variance, [features] each."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """What is known of the whole series."""

    # Of the first values of the series, or of the earliest that were seen.
    series_start_moments: Any
    # Of all values.
    overall_feature_moments: Any
    # The lowest time, a scalar.
    start_time: Any
    # How many times the series has; an estimate from their density.
    total_observation_count: Any


class _Sums(NamedTuple):
    """What the statistics are computed from, added up."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


class InputStatisticsFromMiniBatch:
    """Statistics in variables, which each window in training makes better."""

    def __init__(
        self, num_features: int, dtype: Any, starting_variance_window_size: int = 16
    ) -> None:
        """Describes the series.

        Args:
          num_features: of each value.
          dtype: of floating point.
          starting_variance_window_size: how many values are the series' first.
        """
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(
        self, features: dict[str, Any], update_statistics: bool = True
    ) -> InputStatistics:
        """The statistics; they are updated by the features before they are read.

        Args:
          features: times [batch, window] and values [batch, window, features], if
            there are any.
          update_statistics: whether they count.
        """
        times = features.get(TrainEvalFeatures.TIMES)
        values = features.get(TrainEvalFeatures.VALUES)
        with variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        update = self._update(statistics, sums, times, values)
        with control_dependencies([update]):
            read = nest.map_structure(identity.identity, statistics)
            # Other workers may have written a later time meanwhile.
            earliest = binary.minimum(read.start_time, reductions.reduce_min(times))
            updated: InputStatistics = read._replace(start_time=earliest)
            return updated

    def _variable(
        self, name: str, dtype: Any, initializer: Any, vector: bool = False
    ) -> Any:
        shape = [self._num_features] if vector else []
        # An initial number has its shape already.
        is_number = isinstance(initializer, int)
        return get_variable(
            name=name,
            shape=None if is_number else shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
        )

    def _statistics(self) -> InputStatistics:
        zeros, ones, dtype = Zeros(), Ones(), self._dtype
        return InputStatistics(
            Moments(
                self._variable("series_start_mean", dtype, zeros, True),
                self._variable("series_start_variance", dtype, ones, True),
            ),
            Moments(
                self._variable("overall_feature_mean", dtype, zeros, True),
                self._variable("overall_feature_var", dtype, ones, True),
            ),
            self._variable("start_time", dtypes.int64, dtypes.int64.max),
            self._variable("total_observation_count", dtypes.int64, ones),
        )

    def _sums(self) -> _Sums:
        zeros, dtype = Zeros(), self._dtype
        return _Sums(
            self._variable("max_time_seen", dtypes.int64, dtypes.int64.min),
            self._variable("chunk_count", dtypes.int64, zeros),
            self._variable("inter_observation_duration_sum", dtype, zeros),
            self._variable("example_count", dtypes.int64, None),
            self._variable("overall_feature_sum", dtype, zeros, True),
            self._variable("overall_feature_sum_of_squares", dtype, zeros, True),
        )

    def _update(
        self, statistics: InputStatistics, sums: _Sums, times: Any, values: Any
    ) -> Any:
        values = cast.cast(values, self._dtype)
        max_time, added = self._add(sums, times, values)
        with control_dependencies([added]):
            count = cast.cast(sums.example_count, self._dtype)
            mean = sums.overall_feature_sum / count
            moments = statistics.overall_feature_moments
            mean_update = assign(moments.mean, mean)
            squares = sums.overall_feature_sum_of_squares / count
            # Divided by n - 1.
            variance = count / (count - 1.0) * (squares - mean**2)
            variance_update = assign(moments.variance, variance)
            start_update, start_time = self._update_start(statistics, times, values)
            density = sums.inter_observation_duration_sum / cast.cast(
                sums.chunk_count, self._dtype
            )
            length = cast.cast(max_time - start_time + 1, self._dtype)
            total_update = assign(
                statistics.total_observation_count,
                cast.cast(elementwise.round(length / density), dtypes.int64),
            )
            return group(
                mean_update, variance_update, start_update, start_time, total_update
            )

    def _add(self, sums: _Sums, times: Any, values: Any) -> tuple[Any, Any]:
        """The highest time after the update, and the operation of all updates."""
        spans = reductions.reduce_max(times, axis=1) - reductions.reduce_min(
            times, axis=1
        )
        steps = cast.cast(shape.shape(times)[1] - 1, self._dtype)
        durations = cast.cast(spans, self._dtype) / steps
        with device(sums.max_time_seen.device):
            max_time = assign(
                sums.max_time_seen,
                binary.maximum(sums.max_time_seen, reductions.reduce_max(times)),
            )
        increments: tuple[tuple[Any, Callable[[], Any]], ...] = (
            (sums.chunk_count, lambda: shape.shape(times, out_type=dtypes.int64)[0]),
            (
                sums.inter_observation_duration_sum,
                lambda: reductions.reduce_sum(durations),
            ),
            (sums.example_count, lambda: shape.size(times, out_type=dtypes.int64)),
            (
                sums.overall_feature_sum,
                lambda: reductions.reduce_sum(values, axis=[0, 1]),
            ),
            (
                sums.overall_feature_sum_of_squares,
                lambda: reductions.reduce_sum(values**2, axis=[0, 1]),
            ),
        )
        updates = []
        for variable, increment in increments:
            with device(variable.device):
                updates.append(assign_add(variable, increment()))
        return max_time, group(max_time, *updates)

    def _update_start(
        self, statistics: InputStatistics, times: Any, values: Any
    ) -> tuple[Any, Any]:
        """Updates of the moments at the start, and the start time after its update."""
        earliest = cast.cast(reductions.argmin(times[:, 0]), dtypes.int32)

        def from_earliest() -> Any:
            size = self._starting_variance_window_size
            mean, variance = norm.moments(values[earliest, :size], axes=[0])
            moments = statistics.series_start_moments
            return group(assign(moments.mean, mean), assign(moments.variance, variance))

        with device(statistics.start_time.device):
            # Also where the time is equal: so that the moments are right in the end,
            # whatever other workers do meanwhile.
            is_earliest = comparison.less_equal(
                times[earliest, 0], statistics.start_time
            )
            moments_update = cond(is_earliest, from_earliest, no_op)
            with control_dependencies([moments_update]):
                lowest = binary.minimum(
                    statistics.start_time, reductions.reduce_min(times)
                )
                return moments_update, assign(statistics.start_time, lowest)
