"""Whole arrays get the C library's own values, with torch and without."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tensorloom.kernels.host.math import libm

assert torch  # which the functions use once it is loaded


@pytest.mark.parametrize("few", [0, 10**6], ids=["torch", "math"])
def test_functions(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libm, "_FEW", few)
    random = np.random.RandomState(2)
    values, angles = random.rand(5000) + 1e-7, random.rand(5000) * 2 * math.pi
    np.testing.assert_array_equal(
        libm.logarithms(values), [math.log(value) for value in values.tolist()]
    )
    sine, cosine = libm.polar(values, angles)
    pairs = list(zip(values.tolist(), angles.tolist(), strict=True))
    np.testing.assert_array_equal(sine, [r * math.sin(a) for r, a in pairs])
    np.testing.assert_array_equal(cosine, [r * math.cos(a) for r, a in pairs])
