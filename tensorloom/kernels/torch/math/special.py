"""Kernels of special functions that torch does not have as such."""

from __future__ import annotations

import math

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.math.errors import broadcasting, shape_text
from tensorloom.kernels.torch.math.dtypes import REAL_FLOATS

_TYPES = {"T": {dtypes.float32, dtypes.float64}}


@kernel("Polygamma", types=_TYPES)
def _polygamma(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, polygamma)


def polygamma(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """(-1)**(n + 1) * n! * zeta(n + 1, x), digamma for n = 0, NaN for other n."""
    n, x = torch.broadcast_tensors(n, x)  # type: ignore[no-untyped-call]
    sign = torch.where(torch.remainder(n, 2) == 1, 1.0, -1.0).to(x.dtype)
    out = torch.exp(torch.lgamma(n + 1)) * zeta(n + 1, x) * sign
    if bool((n == 0).any()):
        out = torch.where(n == 0, torch.digamma(x), out)
    return out.masked_fill_((n < 0) | (n != torch.floor(n)), float("nan"))


@kernel("Zeta", types={"T": REAL_FLOATS})
def _zeta(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, zeta)


# B_2k / (2k)!, the weights of the Euler-Maclaurin formula.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330,
)  # fmt: skip
_WEIGHTS = tuple(b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, 1))
# What the sum is for: outside, powers overflow, or nothing is gained.
_LARGEST_X, _LARGEST_Q = 1e4, 1e18


def zeta(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """The Hurwitz zeta function, by the Euler-Maclaurin formula (DLMF 25.11.28).

    torch's own loop takes three times as long, one element after the other. It is left
    what is not plain: x <= 1, q <= 0, NaN and infinity.
    """
    x, q = torch.broadcast_tensors(x, q)  # type: ignore[no-untyped-call]
    if not x.numel():
        return torch.empty_like(x)
    (least_x, most_x), (least_q, most_q) = x.aminmax(), q.aminmax()
    is_plain = (least_x > 1) & (most_x < _LARGEST_X)
    if not bool(is_plain & (least_q > 0) & (most_q < _LARGEST_Q)):
        by_torch: torch.Tensor = torch.special.zeta(x, q)
        return by_torch
    is_double = x.dtype is torch.float64
    terms, corrections = (10, 10) if is_double else (4, 6)
    return _plain_zeta(x.double(), q.double(), terms, corrections).to(x.dtype)


def _plain_zeta(
    x: torch.Tensor, q: torch.Tensor, terms: int, corrections: int
) -> torch.Tensor:
    """The first terms, the integral over the others, and its corrections."""
    total = torch.pow(q, -x)
    for k in range(1, terms):
        total += torch.pow(q + k, -x)
    end = q + terms
    term = torch.pow(end, -x)
    total += term * (end / (x - 1) + 0.5)
    inverse = 1 / end
    term *= x * inverse
    inverse *= inverse
    for k, weight in enumerate(_WEIGHTS[:corrections], 1):
        total.add_(term, alpha=weight)
        term *= (x + (2 * k - 1)) * (x + 2 * k) * inverse
    return total


@kernel("IgammaGradA", types=_TYPES)
def _igamma_grad_a(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, igamma_grad_a)


def igamma_grad_a(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """dP(a, x)/da by differences in float64: about 10 digits, of float32 all.

    P changes over a length of min(a, sqrt(a)), so the step is a fraction of that.
    """
    wide_a, wide_x = a.double(), x.double()
    length = torch.minimum(wide_a, wide_a.sqrt())

    def difference(step: torch.Tensor) -> torch.Tensor:
        upper: torch.Tensor = torch.special.gammainc(wide_a + step, wide_x)
        lower: torch.Tensor = torch.special.gammainc(wide_a - step, wide_x)
        return upper - lower

    if a.dtype is torch.float32:
        h = 3e-5 * length
        return (difference(h) / (2 * h)).to(a.dtype)
    h = 1e-3 * length
    slope = (8 * difference(h) - difference(2 * h)) / (12 * h)
    return slope.to(a.dtype)


# --- the incomplete beta function --------------------------------------------

_ITERATIONS = 300


@kernel("Betainc", types=_TYPES)
def _betainc(c: OpKernelConstruction) -> Compute:
    def compute(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        shapes = [tuple(t.shape) for t in (a, b, x) if t.dim()]
        for shape in shapes[1:]:
            if shape != shapes[0]:
                raise invalid_argument(
                    "Shapes of a, b and x are inconsistent: "
                    f"{shape_text(shapes[0])} vs. {shape_text(shape)}"
                )
        wide = (a.double(), b.double(), x.double())
        p, q, y = torch.broadcast_tensors(*wide)  # type: ignore[no-untyped-call]
        precision = 1e-15 if a.dtype is torch.float64 else 1e-9
        return betainc(p, q, y, precision).to(a.dtype)

    return compute


def betainc(
    a: torch.Tensor, b: torch.Tensor, x: torch.Tensor, precision: float
) -> torch.Tensor:
    """I_x(a, b) in float64 by its continued fraction (DLMF 8.17.22)."""
    # It converges fast below the mean; beyond, I_x(a, b) = 1 - I_{1-x}(b, a).
    swap = x > (a + 1) / (a + b + 2)
    p, q = torch.where(swap, b, a), torch.where(swap, a, b)
    y = torch.where(swap, 1 - x, x)
    log_front = (
        torch.lgamma(p + q)
        - torch.lgamma(p)
        - torch.lgamma(q)
        + torch.xlogy(p, y)
        + torch.special.xlog1py(q, -y)
    )
    value = torch.exp(log_front) * _beta_fraction(p, q, y, precision) / p
    value = torch.where(swap, 1 - value, value)
    value = torch.where(x == 0, 0.0, torch.where(x == 1, 1.0, value))
    bad = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    return value.masked_fill_(bad, float("nan"))


def _beta_fraction(
    p: torch.Tensor, q: torch.Tensor, y: torch.Tensor, precision: float
) -> torch.Tensor:
    """The continued fraction, until its convergents differ by less than `precision`.

    Both parts of a convergent follow from those of the two before it. They are scaled
    so that the denominator is one.
    """
    total = p + q
    upper = 1 / (1 - total * y / (p + 1))
    upper_before = lower_before = upper
    for m in range(1, _ITERATIONS):
        even = (q - m) * y * m / ((p + (2 * m - 1)) * (p + 2 * m))
        odd = (p + m) * (total + m) * y / ((p + 2 * m) * (p + (2 * m + 1)))
        upper_between = torch.addcmul(upper, even, upper_before)
        lower_between = even.mul_(lower_before).add_(1)
        last = upper
        upper = torch.addcmul(upper_between, odd, upper, value=-1)
        scale = 1 / (lower_between - odd)
        upper *= scale
        upper_before, lower_before = upper_between * scale, lower_between * scale
        # NaN does not differ.
        if not bool(((upper - last).abs_() > precision * upper.abs()).any()):
            break
    return upper
