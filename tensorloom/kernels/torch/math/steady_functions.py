"""sqrt, log and exp on a CPU that take no longer where values are special.

torch's come from MKL, which leaves its vectors for zeros, negative and infinite numbers
and for results that overflow or underflow: where half of a tensor is zero, `sqrt` and
`log` take eight times as long, `exp` of masked logits ten times. NumPy's loops do not,
but for `exp` and `log` they are the slower ones where all is plain, and of float64
there are none that are vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

# Below, the calls are what counts.
_FEWEST_ELEMENTS: Final = 2048
# Beyond, memory is what counts, and torch has all cores.
_MOST_ELEMENTS: Final = 1 << 20
# Between these, exp neither overflows nor underflows.
_LEAST_EXPONENT: Final = -87.0
_MOST_EXPONENT: Final = 88.0
_ROOTS: Final = frozenset([torch.float32, torch.float64])


def _by_numpy(function: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.asarray(function(x.numpy())))


def _is_for_numpy(x: torch.Tensor) -> bool:
    return x.is_cpu and _FEWEST_ELEMENTS <= x.numel() <= _MOST_ELEMENTS


def _leaves(x: torch.Tensor, least: float, most: float) -> bool:
    """Whether float32 elements are outside of what MKL's vectors take; NaN is, too."""
    return (
        x.dtype is torch.float32
        and _is_for_numpy(x)
        and not least < x.amin().item() <= x.amax().item() < most
    )


def sqrt(x: torch.Tensor) -> torch.Tensor:
    """The square root of each element, of any dtype that `torch.sqrt` takes."""
    if x.dtype in _ROOTS and _is_for_numpy(x):
        return _by_numpy(np.sqrt, x)
    return torch.sqrt(x)


def log(x: torch.Tensor) -> torch.Tensor:
    """The natural logarithm of each element."""
    if _leaves(x, 0.0, float("inf")):
        return _by_numpy(np.log, x)
    return torch.log(x)


def exp(x: torch.Tensor) -> torch.Tensor:
    """The exponential of each element."""
    if _leaves(x, _LEAST_EXPONENT, _MOST_EXPONENT):
        return _by_numpy(np.exp, x)
    return torch.exp(x)
