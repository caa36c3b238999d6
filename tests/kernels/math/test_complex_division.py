"""Complex quotients, of plain numbers and of those that need more care."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tensorloom.framework.runtime import intra_op
from tensorloom.kernels.torch.math.complex_division import divide

SPECIAL = {
    "none": None,
    "zero": 0,
    "infinite": complex("inf"),
    "nan": complex("nan"),
    "large": 1e25 + 1e25j,
    "small": 1e-25j,
}


def _numbers(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("size", [10, 20000, 40000])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("special", SPECIAL)
def test_values(dtype: torch.dtype, size: int, side: int, special: str) -> None:
    operands = [_numbers(dtype, size), _numbers(dtype, size).flip(0)]
    value: Any = SPECIAL[special]
    if value is not None:
        operands[side][size - 3] = value
    expected = torch.div(*operands).numpy()
    np.testing.assert_allclose(
        divide(*operands).numpy(),
        expected,
        rtol=3e-6 if dtype is torch.complex64 else 3e-15,
    )


def test_what_overflows_on_the_way_is_right() -> None:
    x = torch.full((20000,), 1e200 + 1e200j, dtype=torch.complex128)
    y = torch.full((20000,), 2e180 - 1e180j, dtype=torch.complex128)
    torch.testing.assert_close(divide(x, y), torch.div(x, y))
    torch.testing.assert_close(divide(x, 1e-130 * y), torch.div(x, 1e-130 * y))


def test_shapes_and_layouts() -> None:
    x = _numbers(torch.complex64, 300, 200)
    y = x.flip(0)
    for a, b in (
        (x.t(), y.t()),
        (x.t(), y.t().contiguous()),
        (x, y[0]),
        (y[0, 0], x),
        (x, y[:, :1]),
        (x[:, :1], y[0]),
    ):
        torch.testing.assert_close(divide(a, b), torch.div(a, b))


def test_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = _numbers(torch.complex64, 100000)
    y = x.flip(0)
    plain = []
    for count in (1, 3):
        monkeypatch.setattr(intra_op, "_count", lambda count=count: count)
        plain.append(divide(x, y))
        y_with_zero = y.clone()
        y_with_zero[-1] = 0
        found = divide(x, y_with_zero)
        torch.testing.assert_close(found, torch.div(x, y_with_zero), equal_nan=True)
    torch.testing.assert_close(plain[0], plain[1], rtol=0, atol=0)
