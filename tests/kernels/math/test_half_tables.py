"""Functions of halves are the same from a table as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tensorloom.kernels.torch.math.half_tables import halves_by_table

FUNCTIONS: dict[str, Any] = {
    "Acosh": torch.acosh,
    "Asinh": torch.asinh,
    "Atanh": torch.atanh,
    "Lgamma": torch.lgamma,
    "Erfc": torch.erfc,
    "BesselI1e": torch.special.i1e,
}


def _all_halves(dtype: torch.dtype) -> torch.Tensor:
    bits = np.arange(1 << 16).astype(np.uint16).view(np.int16)
    return torch.from_numpy(bits).view(dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_every_argument(op: str, dtype: torch.dtype) -> None:
    x = _all_halves(dtype)
    expected = FUNCTIONS[op](x)
    result = halves_by_table(FUNCTIONS[op])(x.flip(0)).flip(0)
    torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("size", [5, 9000])
def test_shapes_and_layouts(size: int) -> None:
    x = torch.linspace(-3, 3, 4 * size).half().reshape(size, 4)
    asinh = halves_by_table(torch.asinh)
    for value in (x, x.t(), x[::2, 1:]):
        torch.testing.assert_close(asinh(value), torch.asinh(value), rtol=0, atol=0)


def test_other_dtypes_are_computed() -> None:
    calls: list[torch.dtype] = []

    def double(x: torch.Tensor) -> torch.Tensor:
        calls.append(x.dtype)
        return x + x

    by_table = halves_by_table(double)
    for dtype in (torch.float32, torch.float16, torch.float16):
        x = torch.ones(10000, dtype=dtype)
        torch.testing.assert_close(by_table(x), x + x)
    assert calls == [torch.float32, torch.float16]
