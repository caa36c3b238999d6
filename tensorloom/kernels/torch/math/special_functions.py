"""Special functions over torch tensors, computed in float64."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.errors import broadcasting

_Function = Callable[[torch.Tensor], torch.Tensor]


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
