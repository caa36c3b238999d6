"""Reductions over an axis in the middle, turned so that it comes first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host.reductions.middle_axis import middle_axis_first

UFUNCS = (np.add, np.multiply, np.fmax, np.fmin)
SHAPES = [
    ((32, 10, 10), 1),
    ((4, 5, 6, 7), 2),  # two axes before it
    ((7, 30, 4, 3), 1),  # two axes behind it
    ((600, 4), 1),  # the last axis: not turned
    ((4, 600), 0),
    ((2, 3, 300), 1),  # long rows: not turned
    ((2, 3, 4), 1),  # few numbers: not turned
    ((1, 0, 700), 1),
]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_as_without_turning(
    ufunc: Any, shape: tuple[int, ...], axis: int, keepdims: bool
) -> None:
    x = np.random.RandomState(0).randn(*shape).astype(np.float32)
    x.flat[::97] = np.nan
    start = {"initial": np.float32(-1)} if ufunc in (np.fmax, np.fmin) else {}
    expected = ufunc.reduce(x, (axis,), np.float32, keepdims=keepdims, **start)
    found = middle_axis_first(ufunc.reduce)(
        x, (axis,), np.float32, keepdims=keepdims, **start
    )
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
