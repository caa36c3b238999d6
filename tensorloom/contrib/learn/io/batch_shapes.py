"""Shapes and dtypes of the batches that data feeders feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.framework.types import dtypes


def each(value: Any, function: Callable[..., Any], *others: Any) -> Any:
    """`function` of a value, or of each one in a dict.

    Args:
      value: a dict or something else.
      function: of the value, and of what `others` have under the same key.
      *others: dicts if the value is one; None for None.
    """
    if not isinstance(value, dict):
        return function(value, *others)
    return {
        key: function(
            item, *(None if other is None else other.get(key) for other in others)
        )
        for key, item in value.items()
    }


def checked_dtype(dtype: Any) -> Any:
    """The dtype; a warning where few models can use it."""
    if dtypes.as_dtype(dtype) == dtypes.float64:
        program_log.warning(
            "float64 is not supported by many models, consider casting to float32."
        )
    return dtype


def checked_array(array: Any, dtype: Any) -> Any:
    """Arrays and lists as arrays of that dtype; other things as they are."""
    if isinstance(array, np.ndarray | list):
        return np.asarray(array, dtype=dtype)
    return array


def in_out_shape(
    x_shape: Any,
    y_shape: Any,
    n_classes: int | Mapping[str, int] | None,
    batch_size: int | None = None,
) -> tuple[Any, Any, int]:
    """The shapes of a batch of features and of labels, and its size.

    Args:
      x_shape: of all features, or a dict of such.
      y_shape: of all labels, or a dict of such, or None.
      n_classes: labels become one-hot rows of so many; a dict for labels in a dict.
      batch_size: examples in a batch; all of them when None.

    Raises:
      ValueError: the batch size is not positive.
    """
    if isinstance(y_shape, dict) and n_classes is not None:
        assert isinstance(n_classes, dict)
    if batch_size is None:
        first = next(iter(x_shape.values())) if isinstance(x_shape, dict) else x_shape
        batch_size = int(first[0])
    elif batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    size = batch_size

    def input_shape(shape: Any) -> list[Any]:
        return [size, *(list(shape[1:]) or [1])]

    def output_shape(shape: Any, classes: int | None) -> list[Any]:
        rest = list(shape[1:])
        if rest and rest[0] == 1:
            rest = rest[1:]
        one_hot = [classes] if classes is not None and classes > 1 else []
        return [size, *rest, *one_hot]

    if y_shape is None:
        return each(x_shape, input_shape), None, size
    return each(x_shape, input_shape), each(y_shape, output_shape, n_classes), size
