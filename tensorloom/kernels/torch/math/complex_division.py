"""Division of complex numbers on a CPU in vectors.

torch and NumPy divide one element at a time, scaled so that nothing overflows on the
way: 9 to 50 ns. The textbook's quotient takes 2, and is the same where no square of a
denominator overflows or underflows; whether that is so is seen from those squares, and
from the quotients.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from tensorloom.framework.runtime.intra_op import in_ranges

# Below, the calls are what counts, and a thread is not worth its while.
_FEWEST_ELEMENTS: Final = 16384
# Between these, squares of a denominator's absolute value keep all of their digits.
_LIMITS: Final = {
    torch.complex64: (1e-30, 1e30),
    torch.complex128: (1e-290, 1e290),
}


def divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y of complex tensors whose shapes broadcast."""
    limits = _LIMITS.get(y.dtype)
    if (
        limits is not None
        and x.dtype is y.dtype
        and y.is_cpu
        and max(x.numel(), y.numel()) >= _FEWEST_ELEMENTS
    ):
        quotients = _plain_quotients(x, y, limits)
        if quotients is not None:
            return quotients
    return torch.div(x, y)


def _plain_quotients(
    x: torch.Tensor, y: torch.Tensor, limits: tuple[float, float]
) -> torch.Tensor | None:
    """None where one of them is not plain."""
    from tensorloom.kernels.loops.math.complex_numbers import divide_plain

    x, y = torch.broadcast_tensors(x, y)  # type: ignore[no-untyped-call]
    quotients = torch.empty(y.shape, dtype=y.dtype)
    first, second, out = (_parts(v) for v in (x, y, quotients))
    least, most = (out.dtype.type(bound) for bound in limits)
    special: list[int] = []

    def fill(begin: int, end: int) -> None:
        part = slice(2 * begin, 2 * end)
        # Once one is special the rest is in vain.
        if special or not divide_plain(
            first[part], second[part], least, most, out[part]
        ):
            special.append(begin)

    in_ranges(fill, y.numel(), _FEWEST_ELEMENTS)
    return None if special else quotients


def _parts(value: torch.Tensor) -> Any:
    """Real and imaginary parts in turn, [2 * n]."""
    return torch.view_as_real(value.resolve_conj().contiguous()).view(-1).numpy()
