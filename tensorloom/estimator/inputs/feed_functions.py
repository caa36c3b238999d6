"""What feeds a queue with batches of arrays, data frames or generated rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensorloom.estimator.inputs.padding import pad_rows
from tensorloom.framework import errors

Feeds = dict[Any, Any]


class RowCursor:
    """Walks over the rows of a table in batches, epoch after epoch.

    Args:
      length: how many rows there are.
      batch_size: how many a batch has; the last one may have fewer.
      random_start: begin anywhere; an epoch is over where it began.
      seed: of the beginning.
      num_epochs: how often each row comes; without end when None.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        self._length = length
        self._batch_size = batch_size
        start = random.Random(seed).randrange(length) if random_start else 0
        self._next = start
        self._last = (start - 1) % length
        self._epochs_left = num_epochs
        self._num_epochs = num_epochs

    def next_batch(self) -> list[int]:
        """The numbers of the next rows.

        Raises:
          OutOfRangeError: all epochs are over.
        """
        if self._epochs_left is not None and self._epochs_left <= 0:
            raise errors.OutOfRangeError(
                None, None, f"Already emitted {self._num_epochs} epochs."
            )
        rows = []
        for _ in range(self._batch_size):
            row = self._next
            rows.append(row)
            self._next = (row + 1) % self._length
            if row == self._last and self._epochs_left is not None:
                self._epochs_left -= 1
                if not self._epochs_left:
                    break
        return rows


class _TableFeed:
    """Feeds the number of each row and its columns."""

    def __init__(
        self, placeholders: Sequence[Any], columns: int, **cursor: Any
    ) -> None:
        if len(placeholders) != columns + 1:
            raise ValueError(
                f"Expected {columns + 1} placeholders; got {len(placeholders)}."
            )
        self._placeholders = placeholders
        self._cursor = RowCursor(**cursor)


class ArrayFeed(_TableFeed):
    """Rows of one array, with their numbers."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        array: Any,
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        super().__init__(
            placeholders,
            1,
            length=len(array),
            batch_size=batch_size,
            random_start=random_start,
            seed=seed,
            num_epochs=num_epochs,
        )
        self._array = array

    def __call__(self) -> Feeds:
        rows = self._cursor.next_batch()
        index, values = self._placeholders
        return {index: rows, values: self._array[rows]}


class ArraysFeed(_TableFeed):
    """Rows of several arrays of one length, with their numbers."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        ordered_dict_of_arrays: Mapping[str, Any],
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        lengths = {len(column) for column in ordered_dict_of_arrays.values()}
        if len(lengths) > 1:
            raise ValueError(f"Array lengths must match; got {sorted(lengths)}.")
        super().__init__(
            placeholders,
            len(ordered_dict_of_arrays),
            length=lengths.pop(),
            batch_size=batch_size,
            random_start=random_start,
            seed=seed,
            num_epochs=num_epochs,
        )
        self._columns = list(ordered_dict_of_arrays.values())

    def __call__(self) -> Feeds:
        rows = self._cursor.next_batch()
        values = [rows, *(column[rows] for column in self._columns)]
        return dict(zip(self._placeholders, values, strict=True))


class DataFrameFeed(_TableFeed):
    """Rows of a pandas data frame, with their index."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        dataframe: Any,
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        super().__init__(
            placeholders,
            len(dataframe.columns),
            length=len(dataframe),
            batch_size=batch_size,
            random_start=random_start,
            seed=seed,
            num_epochs=num_epochs,
        )
        self._dataframe = dataframe

    def __call__(self) -> Feeds:
        rows = self._dataframe.iloc[self._cursor.next_batch()]
        values = [rows.index.values, *(rows[name].values for name in rows.columns)]
        return dict(zip(self._placeholders, values, strict=True))


class GeneratorFeed:
    """Rows of a generator function; it is called anew for each epoch.

    A batch is full when it has `batch_size` values, over all of its columns.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        generator: Callable[[], Iterator[Mapping[str, Any]]],
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
        pad_value: Any = None,
    ) -> None:
        first = next(generator())
        if len(placeholders) != len(first):
            raise ValueError(
                f"Expected {len(first)} placeholders; got {len(placeholders)}."
            )
        self._keys = sorted(first)
        self._placeholders = placeholders
        self._generator = generator
        self._rows = generator()
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        self._pad_value = pad_value

    def __call__(self) -> Feeds:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(
                None, None, f"Already emitted {self._epoch} epochs."
            )
        columns: list[list[Any]] = [[] for _ in self._keys]
        while sum(map(len, columns)) < self._batch_size:
            row = self._next_row()
            missing = [key for key in self._keys if key not in row]
            if missing:
                raise KeyError(
                    "key mismatch between dicts emitted by GenFun: expected "
                    f"{self._keys} keys; got {list(row)}"
                )
            for column, key in zip(columns, self._keys, strict=True):
                column.append(row[key])
        if self._pad_value is not None:
            columns = [pad_rows(column, self._pad_value) for column in columns]
        arrays = [np.asarray(column) for column in columns]
        return dict(zip(self._placeholders, arrays, strict=True))

    def _next_row(self) -> Mapping[str, Any]:
        try:
            return next(self._rows)
        except StopIteration:
            self._epoch += 1
            self._rows = self._generator()
            return next(self._rows)
