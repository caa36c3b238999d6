"""Products of matrices by the library that is faster on this processor.

torch's `mm` calls MKL, which gives the AVX-512 units of other vendors' processors its
AVX2 code: on an AMD EPYC 100 GFLOP/s a core, where oneDNN, which comes with torch too,
computes 170 to 240. A call of oneDNN costs ten microseconds more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import torch

from tensorloom.framework.runtime import processor

# Multiplications from which on oneDNN's lead is greater than what its call costs.
_LEAST_WORK: Final = 1_500_000
# It has no lead where a side is so short.
_LEAST_SIDE: Final = 8


def matrix_product(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """a @ b + bias of matrices [m, k] and [k, n] that fit, and a bias [n] or [m, n].

    Transposed and other strided matrices are taken as they are.
    """
    product = _faster_product(a, b)
    if product is not None:
        if bias is not None and bias.dim() == 2:
            return product(a, b.t(), None, "none", [], "").add_(bias)
        return product(a, b.t(), bias, "none", [], "")
    return torch.mm(a, b) if bias is None else torch.addmm(bias, a, b)


def add_matrix_product(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
    """total += a @ b of matrices [m, k] and [k, n] that fit, and a sum [m, n]."""
    product = _faster_product(a, b)
    if product is None:
        total.addmm_(a, b)
    else:
        total.add_(product(a, b.t(), None, "none", [], ""))


def _faster_product(
    a: torch.Tensor, b: torch.Tensor
) -> Callable[..., torch.Tensor] | None:
    """oneDNN's product, where it is faster for matrices of these shapes."""
    rows, inner = a.shape
    columns = b.shape[1]
    if (
        rows * inner * columns >= _LEAST_WORK
        and a.dtype is torch.float32
        and a.is_cpu
        and min(rows, inner, columns) >= _LEAST_SIDE
    ):
        return _onednn()
    return None


@cache
def _onednn() -> Callable[..., torch.Tensor] | None:
    """oneDNN's product, (a, b.T, bias, ...), where it is the faster one."""
    if not (torch._C.has_mkl and torch._C._has_mkldnn):
        return None
    if not processor.is_other_avx512(processor.description()):
        return None
    operator: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    return None if operator is None else operator.default
