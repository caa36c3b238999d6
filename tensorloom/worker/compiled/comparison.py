"""Whether machine code gives what the kernels gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

# Of floats: how far sums in another order may be apart, by the size of an element.
_RELATIVE: Final = {2: 2e-2, 4: 1e-4, 8: 1e-10}


def difference(wanted: Sequence[Any], got: Sequence[Any]) -> str | None:
    """What is different between two lists of tensors, beside rounding."""
    if len(wanted) != len(got):
        return f"{len(got)} results in place of {len(wanted)}"
    pairs = zip(wanted, got, strict=True)
    problems = (_different(i, a, b) for i, (a, b) in enumerate(pairs))
    return next((problem for problem in problems if problem is not None), None)


def _different(index: int, wanted: Any, got: Any) -> str | None:
    import torch

    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return (
            f"result {index} is {got.dtype} of shape {tuple(got.shape)}, not "
            f"{wanted.dtype} of {tuple(wanted.shape)}"
        )
    if not wanted.dtype.is_floating_point:
        return None if torch.equal(wanted, got) else f"result {index} differs"
    relative = _RELATIVE[wanted.element_size()]
    a, b = wanted.double(), got.double()
    # Where numbers cancel out, what is left is as exact as what it was made of.
    finite = a[torch.isfinite(a)]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    if torch.allclose(a, b, rtol=relative, atol=relative * scale, equal_nan=True):
        return None
    return f"result {index} differs by {float((a - b).abs().nan_to_num().max()):.3g}"
