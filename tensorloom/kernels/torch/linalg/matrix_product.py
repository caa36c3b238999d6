"""Products of matrices by the library that is faster on this processor.

torch's `mm` calls MKL, which gives the AVX-512 units of other vendors' processors its
AVX2 code: on an AMD EPYC 100 GFLOP/s a core, where oneDNN, which comes with torch too,
computes 170 to 240. A call of oneDNN costs ten microseconds more. Of Zen 4, whose units
have half the width, AVX2 gets all that there is, and oneDNN gains nothing.

That code of MKL's is slow where a matrix has few columns: NumPy's library takes a sixth
of the time for ten, as in the logits of a classifier.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.host.linalg.blas_threads import on_one_thread
from tensorloom.kernels.torch.linalg import processor

# Multiplications from which on oneDNN's lead is greater than what its call costs.
_LEAST_WORK: Final = 1_500_000
# It has no lead where a side is so short.
_LEAST_SIDE: Final = 8
# A transposed matrix on the left is copied first, by one thread. The product of both,
# transposed, is made without, where that saves more than it costs others to read it.
_LEAST_SAVED: Final = 2

# Columns up to which a product is NumPy's, and multiplications for which that pays; its
# library computes them on one thread.
_MOST_NARROW: Final = 16
_LEAST_NARROW_WORK: Final = 1 << 16
_MOST_NARROW_WORK: Final = 1 << 22


def matrix_product(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """a @ b + bias of matrices [m, k] and [k, n] that fit, and a bias [n] or [m, n].

    Transposed and other strided matrices are taken as they are.
    """
    if _suits_numpy(a, b):
        result = torch.from_numpy(_numpy_product(a.numpy(), b.numpy()))
        return result if bias is None else result.add_(bias)
    product = _faster_product(a, b)
    if product is not None:
        if bias is None and _is_better_transposed(a, b):
            return product(b.t(), a, None, "none", [], "").t()
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


_numpy_product = on_one_thread(np.matmul)


def _suits_numpy(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether NumPy's library is the faster one for these shapes."""
    columns = b.shape[1]
    return (
        columns <= _MOST_NARROW
        and _LEAST_NARROW_WORK <= a.numel() * columns <= _MOST_NARROW_WORK
        and a.dtype is torch.float32
        and a.is_cpu
        and _is_other_avx512()
    )


@cache
def _is_other_avx512() -> bool:
    return processor.is_other_avx512(processor.description())


def _is_better_transposed(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether oneDNN should compute (b.T @ a.T).T."""
    rows, inner = a.shape
    columns = b.shape[1]
    others = _LEAST_SAVED * (rows + inner) * columns
    return a.stride(0) == 1 and a.stride(1) != 1 and rows * inner > others


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
    about = processor.description()
    if not processor.is_other_avx512(about) or processor.has_halved_avx512(about):
        return None
    operator: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    return None if operator is None else operator.default
