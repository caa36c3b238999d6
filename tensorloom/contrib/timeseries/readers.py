"""Readers of series: from arrays, CSV files and Examples."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.queues.readers import TextLineReader, TFRecordReader
from tensorloom.client.variables.variables import Variable, is_variable_initialized
from tensorloom.contrib.timeseries.feature_keys import TrainEvalFeatures
from tensorloom.contrib.timeseries.numpy_series import canonical_series
from tensorloom.estimator.inputs.numpy_io import numpy_input_fn
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import fill, identity, reshape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.stack import stack
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import comparison
from tensorloom.ops.parsing.parsing_features import parse_example
from tensorloom.ops.parsing.parsing_ops import decode_csv
from tensorloom.ops.state.reference_variable import assign
from tensorloom.train.inputs.input_producers import string_input_producer

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader(abc.ABC):
    """Gives records of a series, by the names of their features."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError where it is known that there are fewer records."""
        return

    @abc.abstractmethod
    def read(self) -> dict[str, Any]:
        """Some records, one after the other: [records, ...] each."""

    @abc.abstractmethod
    def read_full(self) -> dict[str, Any]:
        """All records: [records, ...] each."""


@export("contrib.timeseries.NumpyReader")
class NumpyReader(TimeSeriesReader):
    """A series in arrays, which are not put into the graph."""

    def __init__(self, data: dict[str, Any], read_num_records_hint: int = 4096) -> None:
        """Takes the arrays.

        Args:
          data: times [length], values [length] or [length, features], and perhaps
            other features [length, ...].
          read_num_records_hint: how many records are read at a time.

        Raises:
          ValueError: the shapes do not fit, or times or values are missing.
        """
        self._features = canonical_series(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError if there are fewer records."""
        size = self._features[_TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                "A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in "
                "the dataset. Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, Any]:
        """Records one after the other, round and round."""
        features: dict[str, Any] = numpy_input_fn(
            x={key: np.squeeze(value, axis=0) for key, value in self._features.items()},
            batch_size=self._read_num_records_hint,
            num_epochs=None,
            shuffle=False,
        )()
        return features

    def read_full(self) -> dict[str, Any]:
        """All records."""
        features = numpy_input_fn(
            x=self._features,
            batch_size=1,
            num_epochs=None,
            # Each element is the whole series.
            queue_capacity=2,
            shuffle=False,
        )()
        return {key: reshape.squeeze(value, axis=0) for key, value in features.items()}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """Records of files, which a `tf.ReaderBase` reads."""

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        """Takes one or several file names, and how many records to read at a time."""
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abc.abstractmethod
    def _get_reader(self) -> Any:
        """The reader."""

    @abc.abstractmethod
    def _process_records(self, lines: Any) -> dict[str, Any]:
        """The features of records, strings [records]."""

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Any, Any]:
        """A queue of the file names, and the variable that counts its rounds.

        A reader of files without records would go round for ever: the limit ends it.
        Before local variables are initialized nothing is counted, since the queue's
        threads begin earlier.
        """
        limiter = Variable(
            initial_value=constant(0, dtype=dtypes.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        names = reshape.reshape(convert_to_tensor(self._filenames), [-1])
        counted = cond(
            is_variable_initialized(limiter),
            lambda: limiter.count_up_to(epoch_limit),
            lambda: constant(0, dtype=dtypes.int64),
        )
        with control_dependencies([counted]):
            names = identity.identity(names)
        return string_input_producer(names, shuffle=False, capacity=1), limiter

    def read(self) -> dict[str, Any]:
        """Records one after the other, round and round."""
        queue, limiter = self._get_filename_queue(
            epoch_limit=self._read_num_records_hint
        )
        reader = self._get_reader()
        with control_dependencies([assign(limiter, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict[str, Any]:
        """All records: until the first one comes again."""
        reader = self._get_reader()
        queue, limiter = self._get_filename_queue(epoch_limit=2)
        with control_dependencies([assign(limiter, 0)]):
            first_key, first_value = reader.read_up_to(queue, 1)

        def goes_on(key: Any, *_: Any) -> Any:
            return comparison.not_equal(
                reshape.squeeze(key, axis=0), reshape.squeeze(first_key, axis=0)
            )

        def body(key: Any, value: Any, index: Any, records: Any) -> tuple[Any, ...]:
            new_key, new_value = reader.read_up_to(queue, 1)
            new_key.set_shape([1])
            new_value.set_shape([1])
            return new_key, new_value, index + 1, records.write(index, value)

        collected = TensorArray(dtype=dtypes.string, size=0, dynamic_size=True)
        loop = [constant([""]), first_value, 0, collected]
        records = while_loop(goes_on, body, loop)[3].concat()
        # So that the next step begins with the first record.
        with control_dependencies([records]):
            reset = reader.reset()
        with control_dependencies([reset]):
            records = identity.identity(records)
        return self._process_records(records)


@export("contrib.timeseries.CSVReader")
class CSVReader(ReaderBaseTimeSeriesParser):
    """A series in CSV files."""

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        """Describes the files.

        Args:
          filenames: one or several.
          column_names: the feature of each column. There is one column of times; there
            may be several of values, and of others.
          column_dtypes: int64 for times and float32 for all others by default.
          skip_header_lines: how many lines of each file are no records.
          read_num_records_hint: how many records are read at a time.

        Raises:
          ValueError: a column is missing, there are two of times, or the lengths
            differ.
        """
        _check_required(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of "
                f"column_names (got column_dtypes={column_dtypes} and "
                f"column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{_TIMES}'), but exactly one is "
                "required."
            )
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _get_reader(self) -> Any:
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: Any) -> dict[str, Any]:
        defaults: list[Any]
        if self._column_dtypes is None:
            defaults = [
                (fill.zeros([], dtypes.int64),) if name == _TIMES else ()
                for name in self._column_names
            ]
        else:
            defaults = [(fill.zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list[Any]] = {}
        decoded = decode_csv(lines, defaults)
        for name, value in zip(self._column_names, decoded, strict=True):
            columns.setdefault(name, []).append(value)
        return {
            name: values[0] if name == _TIMES else stack(values, axis=1)
            for name, values in columns.items()
        }


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series of Examples in TFRecord files."""

    def __init__(self, filenames: Any, features: dict[str, Any]) -> None:
        """Describes the files.

        Args:
          filenames: one or several.
          features: a FixedLenFeature of each, times and values among them.

        Raises:
          ValueError: times or values are missing.
        """
        _check_required(features)
        self._features = features
        super().__init__(filenames)

    def _get_reader(self) -> Any:
        return TFRecordReader()

    def _process_records(self, lines: Any) -> dict[str, Any]:
        parsed: dict[str, Any] = parse_example(
            serialized=lines, features=self._features
        )
        return parsed


def _check_required(names: Any) -> None:
    for required in (_TIMES, _VALUES):
        if required not in names:
            raise ValueError(f"'{required}' is a required column.")
