"""Random parameters, which parameter strings call by short names."""

from __future__ import annotations

import math
import random

from tensorloom.framework.export import export


@export("contrib.specs.Uf")
def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A number, uniform in [lo, hi]."""
    return random.uniform(lo, hi)


@export("contrib.specs.Ui")
def Ui(lo: int, hi: int) -> int:
    """An integer, uniform from lo to hi, both included."""
    return random.randint(lo, hi)


@export("contrib.specs.Lf")
def Lf(lo: float, hi: float) -> float:
    """A number whose logarithm is uniform."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


@export("contrib.specs.Li")
def Li(lo: int, hi: int) -> int:
    """An integer from lo to hi, both included, whose logarithm is about uniform."""
    # Just below hi + 1, so that it is hi at most.
    return math.floor(Lf(lo, hi + 1 - 1e-5))


@export("contrib.specs.Nt")
def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A normal number, cut off at `limit` standard deviations."""
    number = random.gauss(mu, sigma)
    return min(max(number, mu - limit * sigma), mu + limit * sigma)
