"""One Example read by protobuf, feature by feature.

The columns of a batch (`example_columns.py`) take longer to make than one small message
takes to read. What is not simply there (values of another dtype or number, no default)
is left to them: they know the errors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.host.parsing.example_columns import LISTS, read_message
from tensorloom.kernels.host.strings.arrays import to_strings

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# Loops over the bytes read longer lists of numbers in less time.
_MOST_NUMBERS: Final = 2000


class Unusual(Exception):
    """A feature is not simply there."""


class SingleExample:
    """Reads the features of one message.

    Args:
      sparse, dense: keys and dtypes of features; dense ones with the dimensions of
        their values.
    """

    def __init__(
        self,
        sparse: Sequence[tuple[bytes, DType]],
        dense: Sequence[tuple[bytes, DType, tuple[int | None, ...]]],
    ) -> None:
        keys = [*(key for key, _ in sparse), *(key for key, *_ in dense)]
        self._is_usual = len(set(keys)) == len(keys) and all(map(_is_utf_8, keys))
        if self._is_usual:
            self._sparse = [_sparse_reader(*feature) for feature in sparse]
            self._dense = [_dense_reader(*feature) for feature in dense]

    def read(self, text: bytes, defaults: Sequence[Any]) -> tuple[Any, ...]:
        """Indices, values and shapes of sparse features; values of dense ones.

        Raises:
          Unusual: it needs a closer look.
        """
        message = read_message("Example", text) if self._is_usual else None
        if message is None:
            raise Unusual
        features = message.features.feature
        triples = [read(features) for read in self._sparse]
        return (
            *(part for group in zip(*triples, strict=True) for part in group),
            *[
                read(features, default)
                for read, default in zip(self._dense, defaults, strict=True)
            ],
        )


def _is_utf_8(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True


def _values_reader(key: bytes, dtype: DType) -> Callable[[Any], Sequence[Any] | None]:
    """The function that gets the values of a feature; None where it is missing."""
    name, kind = key.decode(), LISTS.get(dtype, "bytes_list")
    most = sys.maxsize if dtype == dtypes.string else _MOST_NUMBERS

    def values_of(features: Any) -> Sequence[Any] | None:
        # Looking up a missing key with [] would create it.
        feature = features.get(name)
        if feature is None:
            return None
        values: Sequence[Any] = getattr(feature, kind).value
        count = len(values)
        if count > most:
            raise Unusual
        if not count:
            found = feature.WhichOneof("kind")
            if found is None:
                return None
            if found != kind:
                raise Unusual
        return values

    return values_of


def _sparse_reader(key: bytes, dtype: DType) -> Callable[[Any], tuple[Any, ...]]:
    values_of, array_of = _values_reader(key, dtype), _array_maker(dtype)

    def read(features: Any) -> tuple[Any, ...]:
        values = values_of(features) or ()
        count = len(values)
        return np.arange(count).reshape(count, 1), array_of(values), np.array([count])

    return read


def _dense_reader(
    key: bytes, dtype: DType, shape: tuple[int | None, ...]
) -> Callable[[Any, Any], Any]:
    values_of, array_of = _values_reader(key, dtype), _array_maker(dtype)
    if shape and shape[0] is None:
        return _steps_reader(values_of, array_of, shape[1:])
    width = math.prod(d or 0 for d in shape)
    scalar = object_scalar if dtype == dtypes.string else dtype.as_numpy_dtype

    def read(features: Any, default: Any) -> Any:
        # A default of another shape is an error, even if it is not needed.
        if not width or (default.size and default.shape != shape):
            raise Unusual
        values = values_of(features)
        if values is None:
            values = default.reshape(-1)
        if len(values) != width:
            raise Unusual
        if not shape:
            return scalar(values[0])
        array = array_of(values)
        return array if len(shape) == 1 else array.reshape(shape)

    return read


def _steps_reader(
    values_of: Callable[[Any], Sequence[Any] | None],
    array_of: Callable[[Sequence[Any]], Any],
    inner: tuple[int | None, ...],
) -> Callable[[Any, Any], Any]:
    """Reads any number of steps of a shape; a single message has no padding."""
    width = math.prod(d or 0 for d in inner)

    def read(features: Any, default: Any) -> Any:
        values = values_of(features) or ()
        if not width or len(values) % width:
            raise Unusual
        return array_of(values).reshape(len(values) // width, *inner)

    return read


def _array_maker(dtype: DType) -> Callable[[Sequence[Any]], Any]:
    if dtype == dtypes.string:
        return lambda values: to_strings(values, (len(values),))
    kind = dtype.as_numpy_dtype
    return lambda values: np.fromiter(values, kind, len(values))
