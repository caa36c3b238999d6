"""Checks of the arguments of columns, and of lists of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.dimension import Dimension, dimension_value


def assert_string_or_int(dtype: Any, prefix: str) -> None:
    """Raises ValueError: the dtype is neither string nor an integer."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def assert_key_is_string(key: Any) -> None:
    """Raises ValueError: the name of a feature is not a string."""
    if not isinstance(key, str):
        raise ValueError(
            f"key must be a string. Got: type {type(key)}. Given key: {key}."
        )


def check_numeric_dtype(dtype: Any, key: str) -> None:
    """Raises ValueError: the dtype is neither an integer nor floating."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            f"dtype must be convertible to float. dtype: {dtype}, key: {key}"
        )


def check_normalizer(normalizer_fn: Any) -> None:
    """Raises TypeError: the normalizer cannot be called."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def check_shape(shape: Any, key: str) -> tuple[int, ...]:
    """The shape as a tuple.

    Raises:
      TypeError: a dimension is not an int.
      ValueError: a dimension is below 1.
    """
    dimensions: tuple[Any, ...] = tuple(shape if nest.is_sequence(shape) else [shape])
    for dimension in dimensions:
        if not isinstance(dimension, int):
            raise TypeError(
                f"shape dimensions must be integer. shape: {dimensions}, key: {key}"
            )
        if dimension < 1:
            raise ValueError(
                "shape dimensions must be greater than 0. "
                f"shape: {dimensions}, key: {key}"
            )
    return dimensions


def check_default_value(shape: Any, default_value: Any, dtype: Any, key: str) -> Any:
    """The default as nested tuples of the column's shape; None as it is.

    Raises:
      TypeError: its values do not fit the dtype.
      ValueError: its shape is another one.
    """
    if default_value is None:
        return None
    if isinstance(default_value, int) or (
        isinstance(default_value, float) and dtype.is_floating
    ):
        return _filled(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):
        default_value = default_value.tolist()
    if nest.is_sequence(default_value):
        if not _has_shape(default_value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {default_value}, shape: {shape}, key: {key}"
            )
        values = nest.flatten(default_value)
        if all(isinstance(v, int) for v in values):
            return _as_tuple(default_value)
        if dtype.is_floating and any(isinstance(v, float) for v in values):
            return _as_tuple(default_value)
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {default_value}, dtype: {dtype}, key: {key}"
    )


def _filled(shape: Sequence[int], value: Any) -> Any:
    if not shape:
        return value
    return tuple(_filled(shape[1:], value) for _ in range(shape[0]))


def _as_tuple(value: Any) -> Any:
    if not nest.is_sequence(value):
        return value
    return tuple(_as_tuple(v) for v in value)


def _has_shape(value: Any, shape: Sequence[int]) -> bool:
    if nest.is_sequence(value) != bool(shape):
        return False
    if not shape:
        return True
    return len(value) == shape[0] and all(_has_shape(v, shape[1:]) for v in value)


def normalize_feature_columns(feature_columns: Any, kind: type) -> list[Any]:
    """The columns as a list sorted by name.

    Args:
      feature_columns: one column, an iterator or a sequence of them.
      kind: the class that they must be of.

    Raises:
      ValueError: a dict, nothing, something of another class, or two of one name.
    """
    if isinstance(feature_columns, kind):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError(
                f"Items of feature_columns must be a {kind.__name__}. "
                f"Given (type {type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{by_name[column.name]}. This usually means that these columns refer "
                "to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def check_batch_sizes(tensors: Sequence[Any], columns: Sequence[Any]) -> None:
    """Raises ValueError: the static batch sizes of two columns' tensors differ."""
    first: tuple[Any, Any] | None = None
    for tensor, column in zip(tensors, columns, strict=True):
        size = Dimension(dimension_value(tensor.shape[0]))
        if size.value is None:
            continue
        if first is None:
            first = (column, size)
        elif not first[1].is_compatible_with(size):
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                f"Batch size of columns ({first[0].name}, {column.name}): "
                f"({first[1]}, {size})"
            )
