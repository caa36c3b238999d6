"""Rounding of floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

_HALVES = st.integers(-300, 300).map(lambda n: n / 2)
_FLOATS = st.floats(-(2.0**30), 2.0**30, width=32)


def _beside(value: float) -> list[float]:
    x = np.float32(value)
    return [float(np.nextafter(x, np.float32(end))) for end in (-np.inf, np.inf)]


@given(_HALVES | _FLOATS)
def test_halves_are_rounded_away_from_zero(value: float) -> None:
    import torch

    from tensorloom.kernels.torch.quantized.quantize_range import round_away

    numbers = [value, *_beside(value)]
    found = round_away(torch.tensor(numbers)).tolist()
    expected = [float(np.trunc(x + np.copysign(0.5, x))) for x in numbers]
    assert found == expected


@pytest.mark.parametrize("extreme", [np.inf, -np.inf])
def test_infinities_stay(extreme: float) -> None:
    import torch

    from tensorloom.kernels.torch.quantized.quantize_range import round_away

    assert round_away(torch.tensor([extreme])).item() == extreme
