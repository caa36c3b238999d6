"""Data feeders: what feeds arrays, frames or iterators to placeholders, in batches."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensorloom.contrib.learn.io.batch_shapes import (
    checked_array,
    checked_dtype,
    each,
    in_out_shape,
)
from tensorloom.contrib.learn.io.dask_feeder import DaskDataFeeder
from tensorloom.contrib.learn.io.dask_io import (
    extract_dask_data,
    extract_dask_labels,
    is_dask,
)
from tensorloom.contrib.learn.io.pandas_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder

FeedFn = Callable[[], dict[str, Any]]


def _is_iterator(x: Any) -> bool:
    return hasattr(x, "next") or hasattr(x, "__next__")


def setup_train_data_feeder(
    x: Any,
    y: Any,
    n_classes: Any,
    batch_size: int | None = None,
    shuffle: bool = True,
    epochs: int | None = None,
) -> Any:
    """Makes the data feeder for features and labels.

    Args:
      x: an array, a pandas or dask frame, an iterator of examples, or a dict of arrays.
      y: labels of the same kind, or None.
      n_classes: labels become one-hot rows of so many; a dict for labels in a dict.
      batch_size: examples in a batch; all of them when None.
      shuffle: whether arrays come in random order.
      epochs: how often arrays come; without end when None.

    Raises:
      ValueError: only one of `x` and `y` is an iterator.
    """
    x = extract_pandas_data(extract_dask_data(x))
    if y is not None:
        y = extract_pandas_labels(extract_dask_labels(y))
    if _is_iterator(x):
        if y is not None and not _is_iterator(y):
            raise ValueError(
                "Both x and y should be iterators for streaming learning to work."
            )
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    kind: Any = DaskDataFeeder if is_dask(x) and is_dask(y) else DataFeeder
    return kind(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)


def _rows_of(examples: list[Any]) -> Any:
    """A matrix with a row for each example: numbers make one row together."""
    rows = np.array(examples)
    return rows[np.newaxis] if rows.ndim == 1 else rows


def _batches(x: Iterator[Any], batch_size: int | None) -> Iterator[Any]:
    """Batches of the examples of an iterator; dicts of them for dicts."""
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    while examples := list(itertools.islice(x, batch_size)):
        if isinstance(examples[0], dict):
            yield {
                key: _rows_of([example[key] for example in examples])
                for key in examples[0]
            }
        else:
            yield _rows_of(examples)


def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """Batches of features: an iterable of arrays.

    Args:
      x: an array, a pandas or dask frame, or an iterator of examples.
      batch_size: examples in a batch; all of them when None.

    Raises:
      ValueError: the batch size is not positive.
    """
    x = extract_pandas_data(extract_dask_data(x))
    if _is_iterator(x):
        return _batches(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    if batch_size is None:
        return [x]
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    count = math.ceil(len(x) / batch_size)
    return [x[index * batch_size : (index + 1) * batch_size] for index in range(count)]


@export("contrib.learn.preprocessing.setup_processor_data_feeder")
def setup_processor_data_feeder(x: Any) -> Any:
    """The rows of a pandas data frame; other things come back as they are."""
    return extract_pandas_matrix(x)


def _rows(data: Any, index: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.Series | pandas.DataFrame):
        return data.iloc[index]
    return data[index]


def _placeholder(shape: Any, dtype: Any, name: str) -> Any:
    """A placeholder for any number of examples; a dict of them for a dict."""
    if shape is None:
        return None
    if isinstance(shape, dict):
        return {
            key: _placeholder(item, dtype[key], f"{name}_{key}")
            for key, item in shape.items()
        }
    return placeholder(dtypes.as_dtype(dtype), [None, *shape[1:]], name=name)


def _feeds(placeholders: Any, values: Any) -> dict[str, Any]:
    """Values by the names of their placeholders."""
    if isinstance(placeholders, dict):
        return {place.name: values[key] for key, place in placeholders.items()}
    return {placeholders.name: values}


def _set_label(row: Any, index: tuple[int, ...], label: Any, classes: Any) -> None:
    """Puts the label of one example into its row, as a one-hot row for classes."""
    if classes is None or classes <= 1:
        row[index] = label
    elif np.ndim(label) == 0 or len(row.shape) == 2:
        row[(*index, int(np.asarray(label).item()))] = 1.0
    else:
        for place, value in enumerate(label):
            row[(*index, place, int(value))] = 1.0


class DataFeeder:
    """Feeds arrays in batches, in random order or not.

    Args:
      x: features: an array or a dict of arrays, whose rows are examples.
      y: labels: the same, or a list, or None.
      n_classes: labels become one-hot rows of so many; a dict for labels in a dict.
      batch_size: examples in a batch; all of them when None.
      shuffle: whether they come in random order.
      random_state: what makes the order: a `numpy.random.RandomState`.
      epochs: how often they come; without end when None.
    """

    input_shape: Any
    output_shape: Any

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        epochs: int | None = None,
    ) -> None:
        if isinstance(y, list):
            y = np.array(y)
        self._x = each(x, lambda value: checked_array(value, value.dtype))
        self._y = self._checked_labels(y, n_classes)
        self.n_classes = n_classes
        self.max_epochs = epochs
        y_shape = None if y is None else each(self._y, lambda value: value.shape)
        self.input_shape, self.output_shape, self._batch_size = in_out_shape(
            each(self._x, lambda value: value.shape), y_shape, n_classes, batch_size
        )
        self._input_dtype = each(self._x, lambda value: checked_dtype(value.dtype))
        self._output_dtype = self._label_dtype()
        self._shuffle = shuffle
        self.random_state = random_state or np.random.RandomState(42)
        self.indices = self._order()
        self.offset = 0
        self.epoch = 0
        self._epoch_placeholder: Any = None

    @staticmethod
    def _checked_labels(y: Any, n_classes: Any) -> Any:
        if y is None:
            return None
        if n_classes is None or isinstance(y, dict):
            return each(y, lambda value: checked_array(value, value.dtype))
        return checked_array(y, np.int64 if n_classes > 1 else np.float32)

    def _label_dtype(self) -> Any:
        if self._y is None:
            return np.float32
        kinds = each(self._y, lambda value: checked_dtype(value.dtype))
        if isinstance(kinds, dict) and self.n_classes is not None:
            kinds.update({key: np.float32 for key in self.n_classes if key in kinds})
        return kinds

    def _count(self) -> int:
        x = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        count = x.shape[0]
        return int(count.value if is_tensor(x) else count)

    def _order(self) -> Any:
        count = self._count()
        return (
            self.random_state.permutation(count) if self._shuffle else np.arange(count)
        )

    @property
    def x(self) -> Any:
        """The features."""
        return self._x

    @property
    def y(self) -> Any:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether examples come in random order."""
        return self._shuffle

    @property
    def input_dtype(self) -> Any:
        """The dtype of the features, or a dict of dtypes."""
        return self._input_dtype

    @property
    def output_dtype(self) -> Any:
        """The dtype of the labels, or a dict of dtypes."""
        return self._output_dtype

    @property
    def batch_size(self) -> int:
        """Examples in a batch."""
        return self._batch_size

    def make_epoch_variable(self) -> Any:
        """Adds a placeholder that is fed the number of the epoch: int32 [1]."""
        self._epoch_placeholder = placeholder(dtypes.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Adds the placeholders of features and labels to the graph."""
        self._input_placeholder = _placeholder(
            self.input_shape, self._input_dtype, "input"
        )
        self._output_placeholder = _placeholder(
            self.output_shape, self._output_dtype, "output"
        )
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Takes placeholders that exist."""
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def get_feed_params(self) -> dict[str, int]:
        """Where it is: epoch, offset and batch size."""
        return {
            "epoch": self.epoch,
            "offset": self.offset,
            "batch_size": self._batch_size,
        }

    def get_feed_dict_fn(self) -> FeedFn:
        """A function that gives the feeds of one batch after the other.

        Raises:
          StopIteration: (the function) all epochs are over.
        """

        def features(data: Any, chosen: Any) -> Any:
            rows = _rows(data, chosen)
            return np.array(rows).reshape(-1, 1) if len(data.shape) == 1 else rows

        def labels(chosen: Any, data: Any, shape: Any, dtype: Any, classes: Any) -> Any:
            out = np.zeros([len(chosen), *shape[1:]], dtype=dtype)
            for index, example in enumerate(chosen):
                label = _rows(data, example)
                if len(out.shape) < np.ndim(label) + 1:
                    label = np.reshape(label, out.shape[1:])
                _set_label(out, (index,), label, classes)
            return out

        def feed_dict_fn() -> dict[str, Any]:
            if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
                raise StopIteration
            feeds: dict[str, Any] = {}
            if self._epoch_placeholder is not None:
                feeds[self._epoch_placeholder.name] = [self.epoch]
            chosen = self._next_indices()
            inputs = each(self._x, lambda data: features(data, chosen))
            feeds.update(_feeds(self._input_placeholder, inputs))
            if self._output_placeholder is not None:
                outputs = each(
                    self._y,
                    functools.partial(labels, chosen),
                    self.output_shape,
                    self._output_dtype,
                    self.n_classes,
                )
                feeds.update(_feeds(self._output_placeholder, outputs))
            return feeds

        return feed_dict_fn

    def _next_indices(self) -> Any:
        """The numbers of the examples of the next batch."""
        chosen = self.indices[self.offset : self.offset + self._batch_size]
        self.offset += self._batch_size
        if self.offset >= self._count():
            self.indices = self._order()
            self.offset = 0
            self.epoch += 1
        return chosen


class StreamingDataFeeder(DataFeeder):
    """Feeds the examples of iterators in batches.

    Args:
      x: an iterator of the features of one example each, arrays or dicts of arrays.
      y: an iterator of labels, or None.
      n_classes: labels become one-hot rows of so many; a dict for labels in a dict.
      batch_size: examples in a batch.
    """

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: int | None) -> None:
        first_x = next(x)
        self._x = itertools.chain([first_x], x)
        first_y, self._y = None, None
        if y is not None:
            first_y = next(y)
            self._y = itertools.chain([first_y], y)
        self.n_classes = n_classes
        one = first_y[0] if isinstance(first_y, list) else first_y
        y_shape = None if y is None else each(one, lambda item: [1, *np.shape(item)])
        self.input_shape, self.output_shape, self._batch_size = in_out_shape(
            each(first_x, lambda item: [1, *item.shape]), y_shape, n_classes, batch_size
        )
        self._input_dtype = each(first_x, lambda item: checked_dtype(item.dtype))
        self._output_dtype = self._dtype_of(first_y, n_classes)

    @staticmethod
    def _dtype_of(first_y: Any, n_classes: Any) -> Any:
        def one(item: Any) -> Any:
            if isinstance(item, list):
                return one(item[0])
            if isinstance(item, np.ndarray):
                return item.dtype
            return checked_dtype(np.dtype(type(item)))

        is_dict = isinstance(first_y, dict)
        if n_classes is not None and not is_dict and n_classes > 0:
            return np.float32
        return None if first_y is None else each(first_y, one)

    def get_feed_params(self) -> dict[str, int]:
        """The batch size."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> FeedFn:
        """A function that gives the feeds of one batch after the other.

        Raises:
          StopIteration: (the function) there are no more examples.
        """
        self.stopped = False

        def batch(examples: list[Any], shape: Any, dtype: Any, classes: Any) -> Any:
            if isinstance(shape, dict):
                return {
                    key: batch(
                        [example[key] for example in examples],
                        shape[key],
                        dtype[key],
                        None if classes is None else classes.get(key),
                    )
                    for key in shape
                }
            out = np.zeros([len(examples), *shape[1:]], dtype=dtype)
            for index, example in enumerate(examples):
                one = isinstance(example, list) and len(shape) == 1
                _set_label(out, (index,), example[0] if one else example, classes)
            return out

        def feed_dict_fn() -> dict[str, Any]:
            if self.stopped:
                raise StopIteration
            inputs = list(itertools.islice(self._x, self._batch_size))
            self.stopped = len(inputs) < self._batch_size
            if not inputs:
                raise StopIteration
            values = batch(inputs, self.input_shape, self._input_dtype, None)
            feeds = _feeds(self._input_placeholder, values)
            if self._y is not None:
                outputs = list(itertools.islice(self._y, len(inputs)))
                values = batch(
                    outputs, self.output_shape, self._output_dtype, self.n_classes
                )
                feeds.update(_feeds(self._output_placeholder, values))
            return feeds

        return feed_dict_fn
