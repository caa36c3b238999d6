"""Random inputs for specs: shapes, values, axes, all from one seed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

T = TypeVar("T")
Array = np.ndarray[Any, Any]

WORDS = [b"", b"a", b"beta", b"Gamma ray", b"\xce\xb4elta", b"12", b"-3.5", b"x,y"]


@dataclass(frozen=True)
class Value:
    """An input with more said about it than an array can tell."""

    value: Any
    dtype: DType | None = None
    const: bool = False  # a constant, in the variants whose shapes are known
    always: bool = False  # a constant in every variant


def K(value: Any, dtype: Any = None) -> Value:
    """A constant input: axes, shapes, sizes. One variant feeds it nevertheless."""
    return Value(value, None if dtype is None else dtypes.as_dtype(dtype), const=True)


class Draw:
    """What a spec's function draws one case from.

    Attributes:
      op: the op type.
      dtype: the dtype of this cell; None for an op with a single cell.
      cell: the cell's name.
      example: 0, 1, ...: specs may make the first ones the plain ones.
      rng: NumPy's generator for whatever the methods below do not have.
    """

    def __init__(
        self, op: str, cell: str, dtype: DType | None, example: int, seed: int
    ) -> None:
        self.op, self.cell, self.example = op, cell, example
        self._dtype = dtype
        key = [zlib.crc32(op.encode()), zlib.crc32(cell.encode()), example, seed]
        self.rng = np.random.default_rng(key)

    @property
    def dtype(self) -> DType:
        """The dtype of this cell."""
        assert self._dtype is not None, f"{self.op} has no dtype attr"
        return self._dtype

    # --- choices --------------------------------------------------------------

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        """A number of low..high, both possible."""
        return int(self.rng.integers(low, high + 1))

    def maybe(self, probability: float = 0.5) -> bool:
        """True with that probability."""
        return bool(self.rng.random() < probability)

    # --- shapes ---------------------------------------------------------------

    def shape(
        self, low: int = 0, high: int = 4, size: int = 4, empty: float = 0.1
    ) -> tuple[int, ...]:
        """A shape of rank low..high with sizes up to `size`; with probability `empty`
        one of them is zero."""
        rank = self.integer(low, high)
        sizes = [self.integer(1, size) for _ in range(rank)]
        if rank and self.maybe(empty):
            sizes[self.integer(0, rank - 1)] = 0
        return tuple(sizes)

    def axis(self, rank: int, negative: bool = True) -> int:
        """A valid axis of a tensor of that rank (at least 1)."""
        axis = self.integer(0, rank - 1)
        return axis - rank if negative and self.maybe(0.4) else axis

    def axes(self, rank: int, negative: bool = True) -> list[int]:
        """Any set of different axes, in any order."""
        count = self.integer(0, rank)
        chosen = self.rng.permutation(rank)[:count]
        return [
            int(a) - rank if negative and self.maybe(0.4) else int(a) for a in chosen
        ]

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to `shape`."""
        sizes = [1 if self.maybe(0.3) else size for size in shape]
        return tuple(sizes[self.integer(0, len(sizes)) if self.maybe(0.3) else 0 :])

    # --- values ---------------------------------------------------------------

    def array(
        self,
        shape: Sequence[int] | None = None,
        dtype: Any = None,
        low: float | None = None,
        high: float | None = None,
        distinct: bool = False,
    ) -> Any:
        """Values of the cell's dtype (or `dtype`), in low..high if given.

        distinct: no two alike (where the dtype has so many), in random order.
        """
        chosen = self.dtype if dtype is None else dtypes.as_dtype(dtype)
        shape = self.shape() if shape is None else tuple(shape)
        array = self._values(shape, chosen, low, high, distinct)
        return Value(array, chosen) if chosen.is_quantized else array

    def _values(
        self,
        shape: tuple[int, ...],
        dtype: DType,
        low: float | None,
        high: float | None,
        distinct: bool,
    ) -> Array:
        if dtype == dtypes.string:
            picked = self.rng.integers(len(WORDS), size=shape)
            array = np.empty(shape, object)
            array.reshape(-1)[:] = [WORDS[i] for i in picked.ravel()]
            return array
        if dtype == dtypes.bool:
            return self.rng.random(shape) < 0.5
        if dtype.is_complex:
            part = self._reals(shape, low, high, distinct)
            other = self._reals(shape, low, high, distinct)
            return np.asarray(part + 1j * other).astype(dtype.np_dtype)
        if dtype.is_floating:
            return self._reals(shape, low, high, distinct).astype(dtype.np_dtype)
        return self._integers(shape, dtype, low, high, distinct)

    def _reals(
        self,
        shape: tuple[int, ...],
        low: float | None,
        high: float | None,
        distinct: bool,
    ) -> Array:
        count = int(np.prod(shape, dtype=np.int64))
        a = -4.0 if low is None else low
        b = 4.0 if high is None else high
        if distinct:
            line = a + (b - a) * (np.arange(count) + 0.5) / max(count, 1)
            return self.rng.permutation(line).reshape(shape)
        # Few digits: exact in half precision, and ties happen.
        values = self.rng.uniform(a, b, count)
        if b - a >= 1:
            values = np.clip(np.round(values * 16) / 16, a, b)
        return values.reshape(shape)

    def _integers(
        self,
        shape: tuple[int, ...],
        dtype: DType,
        low: float | None,
        high: float | None,
        distinct: bool,
    ) -> Array:
        base = np.dtype(dtype.as_numpy_dtype)
        base = base[0] if base.names else base
        a = int(max(np.iinfo(base).min, -9 if low is None else low))
        b = int(9 if high is None else high)
        if distinct:
            count = int(np.prod(shape, dtype=np.int64))
            b = max(b, a + count - 1)
            return (self.rng.permutation(b - a + 1)[:count].reshape(shape) + a).astype(
                base
            )
        return self.rng.integers(a, b + 1, size=shape).astype(base)

    def indices(self, shape: Sequence[int], limit: int, dtype: Any = None) -> Array:
        """Indices below `limit`, int32 or int64 unless told."""
        chosen = self.choice([np.int32, np.int64]) if dtype is None else dtype
        wanted = dtypes.as_dtype(chosen).np_dtype
        return self.rng.integers(0, max(limit, 1), size=tuple(shape)).astype(wanted)

    def index_type(self) -> Any:
        """int32 or int64."""
        return self.choice([np.int32, np.int64])
