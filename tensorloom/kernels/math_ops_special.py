"""Kernels of special functions that torch does not have as such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.math_ops_errors import (
    broadcasting,
    invalid_argument,
    shape_text,
)
from tensorloom.kernels.math_ops_dtypes import NUMBERS

_TYPES = {"T": {dtypes.float32, dtypes.float64}}


@kernel("Polygamma", types=_TYPES)
def _polygamma(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, polygamma)


def polygamma(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """(-1)**(n + 1) * n! * zeta(n + 1, x), digamma for n = 0, NaN for other n."""
    n, x = torch.broadcast_tensors(n, x)  # type: ignore[no-untyped-call]
    sign = torch.where(torch.remainder(n, 2) == 1, 1.0, -1.0).to(x.dtype)
    size = torch.exp(torch.lgamma(n + 1)) * torch.special.zeta(n + 1, x)
    out = torch.where(n == 0, torch.digamma(x), sign * size)
    return out.masked_fill_((n < 0) | (n != torch.floor(n)), float("nan"))


@kernel("IgammaGradA", types=_TYPES)
def _igamma_grad_a(c: OpKernelConstruction) -> Compute:
    return broadcasting(c, igamma_grad_a)


def igamma_grad_a(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """dP(a, x)/da by a five-point stencil in float64: about 10 digits.

    P changes over a length of min(a, sqrt(a)), so the step is a fraction of that.
    """
    wide_a, wide_x = a.double(), x.double()
    h = 1e-3 * torch.minimum(wide_a, wide_a.sqrt())

    def difference(step: torch.Tensor) -> torch.Tensor:
        upper: torch.Tensor = torch.special.gammainc(wide_a + step, wide_x)
        lower: torch.Tensor = torch.special.gammainc(wide_a - step, wide_x)
        return upper - lower

    slope = (8 * difference(h) - difference(2 * h)) / (12 * h)
    return slope.to(a.dtype)


# --- the incomplete beta function --------------------------------------------

_ITERATIONS = 300
_TINY = 1e-300


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
        wide = torch.broadcast_tensors(*wide)  # type: ignore[no-untyped-call]
        return betainc(*wide).to(a.dtype)

    return compute


def betainc(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
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
    value = torch.exp(log_front) * _beta_fraction(p, q, y) / p
    value = torch.where(swap, 1 - value, value)
    value = torch.where(x == 0, 0.0, torch.where(x == 1, 1.0, value))
    bad = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    return value.masked_fill_(bad, float("nan"))


def _away_from_zero(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < _TINY, _TINY, x)


def _beta_fraction(p: torch.Tensor, q: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The continued fraction, by the modified Lentz algorithm."""
    c = torch.ones_like(y)
    d = 1 / _away_from_zero(1 - (p + q) * y / (p + 1))
    value = d
    for m in range(1, _ITERATIONS):
        even = m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m))
        odd = -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * (c * d)
        if bool(((c * d - 1).abs() < 1e-15).all()):
            break
    return value


# --- a sparse with a dense tensor --------------------------------------------


def _sparse_dense(op: str) -> None:
    functions: dict[str, Callable[..., torch.Tensor]] = {
        "SparseDenseCwiseMul": torch.mul,
        "SparseDenseCwiseDiv": torch.div,
        "SparseDenseCwiseAdd": torch.add,
    }
    function = functions[op]

    @kernel(op, types={"T": NUMBERS}, host_inputs=("sp_shape",))
    def _factory(c: OpKernelConstruction) -> Compute:
        whole = c["T"].is_integer

        def compute(
            indices: torch.Tensor,
            values: torch.Tensor,
            sp_shape: Any,
            dense: torch.Tensor,
        ) -> torch.Tensor:
            shape = [int(size) for size in sp_shape]
            try:
                dense = dense.broadcast_to(shape)
            except RuntimeError:
                raise invalid_argument(
                    "SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
                    f"incompatible shapes: {shape_text(shape)} vs. "
                    f"{shape_text(dense.shape)}"
                ) from None
            met = dense[tuple(indices.t())] if shape else dense.expand(values.shape)
            if whole and function is torch.div:
                return torch.div(values, met, rounding_mode="trunc")
            return function(values, met)

        return compute


for _op in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseDenseCwiseAdd"):
    _sparse_dense(_op)
