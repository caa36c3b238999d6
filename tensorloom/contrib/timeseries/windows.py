"""Input functions: a whole series, random windows of one, and what comes after it."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable, is_variable_initialized
from tensorloom.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    TrainEvalFeatures,
)
from tensorloom.contrib.timeseries.numpy_series import times_to_predict
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import concat, identity, permute, reshape, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import gather
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions import reductions
from tensorloom.ops.state.reference_variable import assign
from tensorloom.train.inputs.input_batches import batch, maybe_shuffle_batch
from tensorloom.train.inputs.input_producers import limit_epochs

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.readers import TimeSeriesReader

InputFn = Callable[[], tuple[dict[str, Any], None]]


@export("contrib.timeseries.predict_continuation_input_fn")
def predict_continuation_input_fn(
    evaluation: dict[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> InputFn:
    """An input function to predict what comes after an evaluation.

    Args:
      evaluation: what `Estimator.evaluate` returned.
      steps: how many times to predict, or None.
      times: an array of them, [window] or [batch, window], or None.
      exogenous_features: [batch, window, ...] each.

    Returns:
      For `Estimator.predict`.

    Raises:
      ValueError: steps and times are both given or neither, or do not fit.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times_to_predict(times, steps, evaluation),
        **(exogenous_features or {}),
    }

    def input_fn() -> tuple[dict[str, Any], None]:
        # Once: predictions would have no end.
        limited = nest.map_structure(
            lambda value: limit_epochs(value, num_epochs=1), features
        )
        return limited, None

    return input_fn


class TimeSeriesInputFn(abc.ABC):
    """Makes windows of a series; an object is an input function."""

    @abc.abstractmethod
    def create_batch(self) -> tuple[dict[str, Any], None]:
        """Features, [batch, window, ...] each, and None."""

    def __call__(self) -> tuple[dict[str, Any], None]:
        """`create_batch()`."""
        return self.create_batch()


@export("contrib.timeseries.WholeDatasetInputFn")
class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as one window: for evaluation, and not for training."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        """Takes the reader."""
        self._reader = time_series_reader

    def create_batch(self) -> tuple[dict[str, Any], None]:
        """All features, [1, length, ...] each, and None."""
        features = self._reader.read_full()
        return {key: value[None, ...] for key, value in features.items()}, None


@export("contrib.timeseries.RandomWindowInputFn")
class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows one after the other, which a queue shuffles and puts into batches."""

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        """Describes the windows.

        Args:
          time_series_reader: the reader.
          window_size: how many times a window has.
          batch_size: how many windows a batch has.
          queue_capacity_multiplier: how many batches the queues hold.
          shuffle_min_after_dequeue_multiplier: how many batches stay in the queue, to
            be drawn from.
          discard_out_of_order: leave out windows whose times fall, where the series
            begins again; else sort them.
          discard_consecutive_batches_limit: how many batches may be left out one after
            the other; then the step ends with OutOfRangeError.
          jitter: skip a record between some windows, so that they begin elsewhere in
            each round.
          num_threads: of the queues; with one and a seed results are repeated.
          shuffle_seed: of the order.

        Raises:
          ValueError: the series is shorter than a window.
        """
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> tuple[dict[str, Any], None]:
        """Features, [batch, window, ...] each, and None."""
        features = self._windows()
        times = features[TrainEvalFeatures.TIMES]
        keep: Any = True
        if self._discard_out_of_order:
            keep = self._in_order(times)
        else:
            count = shape.shape(times)[-1]
            _, descending = top_k(times, k=count, sorted=True)
            indices = permute.reverse(descending, axis=[0])
            features = {
                key: gather.gather(params=value, indices=indices)
                for key, value in features.items()
            }
        batched = maybe_shuffle_batch(
            features,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            batch_size=self._batch_size,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._min_after_dequeue_multiplier * self._batch_size,
            keep_input=keep,
            enqueue_many=True,
        )
        return batched, None

    def _windows(self) -> dict[str, Any]:
        """A batch of windows next to each other."""
        features = self._reader.read()
        jitter: Any = 0
        if self._jitter:
            jitter = random_uniform(shape=[], maxval=2, dtype=dtypes.int32)
        passed = self._batch_size
        records = batch(
            features,
            batch_size=self._window_size * passed + jitter,
            enqueue_many=True,
            capacity=self._queue_capacity_multiplier * passed * self._window_size,
            num_threads=self._num_threads,
        )
        sizes = [passed, self._window_size]
        windows = {}
        for key, value in records.items():
            kept = value[jitter:] if self._jitter else value
            window = reshape.reshape(
                kept, concat.concat([sizes, shape.shape(kept)[1:]], axis=0)
            )
            window.set_shape(TensorShape(sizes).concatenate(value.get_shape()[1:]))
            windows[key] = window
        return windows

    def _in_order(self, times: Any) -> Any:
        """Which windows have times that do not fall; counts batches without one."""
        in_order = reductions.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        limiter = Variable(
            initial_value=constant(0, dtype=dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        def count() -> Any:
            return cond(
                reductions.reduce_any(in_order),
                lambda: assign(limiter, 0),
                lambda: limiter.count_up_to(self._discard_limit),
            )

        # The queue's threads begin before local variables are initialized.
        counted = cond(
            is_variable_initialized(limiter),
            count,
            lambda: constant(0, dtype=dtypes.int64),
        )
        with control_dependencies([counted]):
            return identity.identity(in_order)
