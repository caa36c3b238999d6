"""Special functions over torch tensors; what torch lacks is computed in float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.math_ops_errors import broadcasting

_Function = Callable[[torch.Tensor], torch.Tensor]
_EULER = 0.5772156649015329


def dawson(x: torch.Tensor) -> torch.Tensor:
    """Dawson's integral: a series near 0, Rybicki's sum, and 1 / 2x far out."""
    a = x.abs()
    square = a * a
    term = series = a.clone()
    for n in range(14):
        term = term * (-2 * square / (2 * n + 3))
        series = series + term
    # Numerical Recipes 6.9 with steps of 0.2: the error is exp(-(pi / 0.4) ** 2).
    h = 0.2
    center = 2 * torch.round(a / (2 * h))
    rest = a - center * h
    total = torch.zeros_like(a)
    for n in range(-33, 34, 2):
        total = total + torch.exp(-((rest - n * h) ** 2)) / (n + center)
    inverse = 1 / square
    far = (1 + inverse * (0.5 + inverse * (0.75 + inverse * 1.875))) / (2 * a)
    middle = total / math.sqrt(math.pi)
    result = torch.where(a < 0.25, series, torch.where(a > 60, far, middle))
    return torch.copysign(result, x)


def exponential_integral(x: torch.Tensor) -> torch.Tensor:
    """Ei(x) for x >= 0, NaN below: a power series, and the asymptotic one."""
    near = x.clamp(max=40.0)
    term = torch.ones_like(x)
    series = torch.zeros_like(x)
    for n in range(1, 140):
        term = term * near / n
        series = series + term / n
    series = series + _EULER + near.log()
    far = x.clamp(min=40.0)
    term, total = torch.ones_like(x), torch.ones_like(x)
    for n in range(1, 36):
        term = term * n / far
        total = total + term
    result = torch.where(x < 40, series, far.exp() / far * total)
    result = torch.where(x == float("inf"), x, result)
    return result.masked_fill(x < 0, float("nan"))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def _fresnel(x: torch.Tensor, wave: _Function) -> tuple[torch.Tensor, ...]:
    """(integral up to min(|x|, 6), f, g) for the two Fresnel integrals."""
    near = x.abs().clamp(max=6.0)
    total = torch.zeros_like(x)
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        t = near * (0.5 * (node + 1))
        total = total + weight * wave(math.pi / 2 * t * t)
    far = x.abs().clamp(min=6.0)
    z = 1 / (math.pi * far * far) ** 2
    # The auxiliary functions, DLMF 7.12.2 and 7.12.3.
    f = 1 - z * (3 - z * (105 - z * (10395 - z * 2027025)))
    g = 1 - z * (15 - z * (945 - z * (135135 - z * 34459425)))
    return total * near / 2, f / (math.pi * far), g / (math.pi**2 * far**3)


def fresnel_cosine(x: torch.Tensor) -> torch.Tensor:
    """The integral of cos(pi t^2 / 2) from 0 to x."""
    near, f, g = _fresnel(x, torch.cos)
    angle = math.pi / 2 * x * x
    far = 0.5 + f * angle.sin() - g * angle.cos()
    far = torch.where(x.abs() > 1e8, 0.5, far)
    return torch.copysign(torch.where(x.abs() <= 6, near, far), x)


def fresnel_sine(x: torch.Tensor) -> torch.Tensor:
    """The integral of sin(pi t^2 / 2) from 0 to x."""
    near, f, g = _fresnel(x, torch.sin)
    angle = math.pi / 2 * x * x
    far = 0.5 - f * angle.cos() - g * angle.sin()
    far = torch.where(x.abs() > 1e8, 0.5, far)
    return torch.copysign(torch.where(x.abs() <= 6, near, far), x)


def _dilogarithm_series(z: torch.Tensor) -> torch.Tensor:
    """Li2 for 0 <= z <= 1/2."""
    term, total = z.clone(), z.clone()
    for n in range(2, 60):
        term = term * z
        total = total + term / (n * n)
    return total


def spence(x: torch.Tensor) -> torch.Tensor:
    """Li2(1 - x) for x >= 0, NaN below (DLMF 25.12)."""
    limit = math.pi**2 / 6
    inverse = 1 / x
    # Every argument is brought into [0, 1/2] of the series.
    folded = torch.where(x > 1, 1 - inverse, 1 - x)
    folded = torch.where(folded > 0.5, 1 - folded, folded).clamp(0, 0.5)
    series = _dilogarithm_series(folded)
    log = x.log()
    small = limit - log * torch.log1p(-x) - series  # x < 1/2
    small = torch.where(x == 0, limit, small)
    below_two = -series - 0.5 * log * log  # 1 < x <= 2
    large = -0.5 * log * log - limit + (-log) * torch.log1p(-inverse) + series
    result = torch.where(x < 0.5, small, torch.where(x <= 1, series, below_two))
    result = torch.where(x > 2, large, result)
    result = torch.where(x == float("inf"), -x, result)
    return result.masked_fill(x < 0, float("nan"))


def _below_zero(function: _Function, value: float) -> _Function:
    """The function, with a value for negative arguments."""

    def compute(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x < 0, value, function(x))

    return compute


_special = torch.special
_INFINITE = float("inf")
_FUNCTIONS: dict[str, _Function] = {
    "BesselI0": _special.i0,
    "BesselI1": _special.i1,
    "BesselJ0": _special.bessel_j0,
    "BesselJ1": _special.bessel_j1,
    "BesselY0": _below_zero(_special.bessel_y0, -_INFINITE),
    "BesselY1": _below_zero(_special.bessel_y1, -_INFINITE),
    "BesselK0": _below_zero(_special.modified_bessel_k0, _INFINITE),
    "BesselK0e": _below_zero(_special.scaled_modified_bessel_k0, _INFINITE),
    "BesselK1": _below_zero(_special.modified_bessel_k1, _INFINITE),
    "BesselK1e": _below_zero(_special.scaled_modified_bessel_k1, _INFINITE),
    "Dawsn": dawson,
    "Expint": exponential_integral,
    "FresnelCos": fresnel_cosine,
    "FresnelSin": fresnel_sine,
    "Spence": spence,
    "Ndtri": _special.ndtri,
    "Erfinv": _special.erfinv,
}


@kernel(list(_FUNCTIONS))
def _function(c: OpKernelConstruction) -> Compute:
    function = _FUNCTIONS[c.op]
    return lambda x: function(x.double()).to(x.dtype)


@kernel("Xlog1py")
def _xlog1py(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, xlog1py)


def xlog1py(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x * log(1 + y), 0 where x is 0."""
    if not x.is_complex():
        return _special.xlog1py(x, y)  # type: ignore[no-any-return]
    return torch.where(x == 0, torch.zeros_like(x), x * torch.log1p(y))
