"""Comparisons and tests for NaN of many elements on a CPU, in vectors.

torch compares one element at a time where bools come out, 0.9 ns each, and looks for
NaN in as much; NumPy takes a fifth. torch finds the places of what is true in 7 ns for
each element if no processor can guess them; NumPy in 0.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

# Below, the calls are what counts.
_FEWEST_ELEMENTS: Final = 4096
# Beyond, memory is what counts, and torch has all cores.
_MOST_ELEMENTS: Final = 1 << 20
_FLOATS: Final = frozenset([torch.float32, torch.float64])
_BOOLS: Final = frozenset([torch.bool])
_COMPARED: Final = _FLOATS | {
    *(torch.int8, torch.int16, torch.int32, torch.int64),
    torch.uint8,
}

Compare = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Test = Callable[[torch.Tensor], torch.Tensor]


def _is_quick(x: torch.Tensor, types: frozenset[torch.dtype]) -> bool:
    return (
        _FEWEST_ELEMENTS <= x.numel() <= _MOST_ELEMENTS
        and x.is_cpu
        and x.dtype in types
    )


def _comparison(ufunc: np.ufunc, otherwise: Compare) -> Compare:
    def compare(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        first = x if x.numel() >= y.numel() else y
        if not _is_quick(first, _COMPARED) or x.dtype is not y.dtype:
            return otherwise(x, y)
        return torch.from_numpy(ufunc(x.numpy(), y.numpy()))

    return compare


def _test(ufunc: np.ufunc, otherwise: Test) -> Test:
    def test(x: torch.Tensor) -> torch.Tensor:
        if not _is_quick(x, _FLOATS):
            return otherwise(x)
        return torch.from_numpy(ufunc(x.numpy()))

    return test


def _is_finite(x: torch.Tensor) -> torch.Tensor:
    # Half the passes of `torch.isfinite`: what is not finite less itself is NaN.
    return torch.sub(x, x).eq(0)


# Of two tensors whose shapes broadcast.
less: Final = _comparison(np.less, torch.lt)
less_equal: Final = _comparison(np.less_equal, torch.le)
greater: Final = _comparison(np.greater, torch.gt)
greater_equal: Final = _comparison(np.greater_equal, torch.ge)
equal: Final = _comparison(np.equal, torch.eq)
not_equal: Final = _comparison(np.not_equal, torch.ne)

# Of each element of a float tensor.
is_nan: Final = _test(np.isnan, torch.isnan)
is_inf: Final = _test(np.isinf, torch.isinf)
is_finite: Final = _test(np.isfinite, _is_finite)


def places(value: torch.Tensor) -> torch.Tensor:
    """The indices of what is true or not zero, int64 [n, rank], in order."""
    if not 1 <= value.dim() <= 2 or not _is_quick(value, _BOOLS):
        return torch.nonzero(value)
    flat: Any = np.flatnonzero(value.numpy())
    if value.dim() == 1:
        return torch.from_numpy(flat[:, None])
    found = np.empty((len(flat), 2), np.int64)
    rows, columns = found.T
    np.floor_divide(flat, value.shape[1], out=rows)
    np.multiply(rows, value.shape[1], out=columns)
    np.subtract(flat, columns, out=columns)
    return torch.from_numpy(found)
