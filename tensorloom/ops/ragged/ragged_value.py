"""RaggedTensorValue: what a session gives for a RaggedTensor, and what feeds one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tensorloom.framework.export import export


@export("ragged.RaggedTensorValue")
class RaggedTensorValue:
    """Rows of different lengths: `values[row_splits[i]:row_splits[i + 1]]`.

    Args:
      values: an array, or the RaggedTensorValue of the rows' own rows.
      row_splits: int32 or int64 [rows + 1].

    Raises:
      TypeError: the arguments are not of these kinds.
      ValueError: the splits are not of the dtype of those of the values.
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not (
            isinstance(row_splits, np.ndarray | np.generic)
            and row_splits.dtype in (np.int64, np.int32)
            and row_splits.ndim == 1
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, np.ndarray | np.generic | RaggedTensorValue):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if (
            isinstance(values, RaggedTensorValue)
            and row_splits.dtype != values.row_splits.dtype
        ):
            raise ValueError(
                "row_splits and values.row_splits must have the same dtype"
            )
        self._values: Any = values
        self._row_splits: Any = row_splits

    @classmethod
    def of_parts(cls, flat_values: Any, nested_row_splits: Any) -> RaggedTensorValue:
        """A value of its innermost values and of all splits, the outermost first."""
        result = flat_values
        for splits in reversed(list(nested_row_splits)):
            result = cls(result, splits)
        return result  # type: ignore[no-any-return]

    @property
    def values(self) -> Any:
        """All rows one after another."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where the rows end, after a first 0."""
        return self._row_splits

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self._values.dtype

    @property
    def flat_values(self) -> Any:
        """The innermost values, an array."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values
        if isinstance(inner, RaggedTensorValue):
            return (self._row_splits, *inner.nested_row_splits)
        return (self._row_splits,)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, None for a ragged dimension."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """Nested lists of Python values."""
        inner = self._values
        if isinstance(inner, RaggedTensorValue):
            rows = inner.to_list()
        else:
            rows = inner.tolist()
        splits = self._row_splits.tolist()
        return [rows[a:b] for a, b in itertools.pairwise(splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return (
            f"tf.RaggedTensorValue(values={self._values!r}, "
            f"row_splits={self._row_splits!r})"
        )
