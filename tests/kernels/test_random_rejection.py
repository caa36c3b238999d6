"""Gamma and Poisson samples drawn together are those drawn one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tensorloom.kernels.host import random_rejection
from tensorloom.kernels.host.philox import Generator, Stream

SAMPLES = 400
NEVER = 1 << 30


def stream() -> Stream:
    return Generator(11, 22).reserve(1)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.999, 1.0, 1.5, 30.0, 1e4, -0.5, np.nan])
def test_gammas(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    alphas = np.array([2.0, alpha])
    together = random_rejection.gamma(stream(), alphas, SAMPLES)
    monkeypatch.setattr(random_rejection, "_MANY", NEVER)
    one_by_one = random_rejection.gamma(stream(), alphas, SAMPLES)
    np.testing.assert_array_equal(together, one_by_one)


@pytest.mark.parametrize("rate", [0.0, 0.1, 4.0, 9.99, 10.0, 50.0, 1e6, np.inf])
def test_poissons(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rates, highest = np.array([3.0, rate]), 2.0**31
    together = random_rejection.poisson(stream(), rates, SAMPLES, highest)
    monkeypatch.setattr(random_rejection, "_MANY", NEVER)
    one_by_one = random_rejection.poisson(stream(), rates, SAMPLES, highest)
    np.testing.assert_array_equal(together, one_by_one)


def test_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    alphas = np.array([2.0, 0.5, 3.0])
    whole = random_rejection.gamma(stream(), alphas, SAMPLES)
    monkeypatch.setattr(random_rejection, "_TOGETHER", 150)
    np.testing.assert_array_equal(
        random_rejection.gamma(stream(), alphas, SAMPLES), whole
    )


MANY_ALPHAS = np.array([0.0, 0.1, 0.999, 1.0, 1.5, 30.0, 1e4, -0.5, np.nan])
MANY_RATES = np.array([0.0, 0.1, 4.0, 9.99, 10.0, 50.0, 1e6, np.inf, np.nan, -2.0])


@pytest.mark.parametrize("samples", [1, 5, 60])
def test_many_parameters(samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gammas = random_rejection.gamma(stream(), MANY_ALPHAS, samples)
    poissons = random_rejection.poisson(stream(), MANY_RATES, samples, 2.0**31)
    monkeypatch.setattr(random_rejection, "_MANY", NEVER)
    np.testing.assert_array_equal(
        random_rejection.gamma(stream(), MANY_ALPHAS, samples), gammas
    )
    np.testing.assert_array_equal(
        random_rejection.poisson(stream(), MANY_RATES, samples, 2.0**31), poissons
    )
