"""Kernels of `_SegmentsOrZeros` and of its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.torch.reductions.segment import divisor
from tensorloom.kernels.torch.reductions.segment_sums import sum_segments
from tensorloom.kernels.torch.state.variable_value import to_tensor

_DIVIDES: Final = {b"sum": 0, b"mean": 1, b"sqrt_n": 2}
_PARTS: Final = ("indices", "segment_ids", "is_zero")


@kernel("_SegmentsOrZeros", host_inputs=_PARTS)
def segments_or_zeros(c: OpKernelConstruction) -> Compute:
    """On a CPU a loop, else ops of torch."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import safe_segments as loops

    divides = _DIVIDES[c["combiner"]]
    divided = _division(divides)

    def compute(data: torch.Tensor, places: Any, rows: Any, is_zero: Any) -> Any:
        if data.is_cpu:
            values = np.ascontiguousarray(data.numpy())
            out = np.zeros((len(is_zero), values.shape[1]), values.dtype)
            bad = loops.combine(out, values, places, rows, is_zero, divides)
            if bad >= 0:
                raise _outside(places, bad, len(values))
            return torch.from_numpy(out)
        _check_places(places, data.shape[0])
        at = to_tensor(places, data.device)
        sums = divided(sum_segments(data, rows, len(is_zero), indices=at), rows)
        return sums.masked_fill_(to_tensor(is_zero[:, None], data.device), 0)

    return compute


@kernel("_SegmentsOrZerosGrad", host_inputs=(*_PARTS, "size"))
def segments_or_zeros_grad(c: OpKernelConstruction) -> Compute:
    """On a CPU a loop, else ops of torch."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import safe_segments as loops

    divides = _DIVIDES[c["combiner"]]
    divided = _division(divides)

    def compute(
        grad: torch.Tensor, places: Any, rows: Any, is_zero: Any, size: Any
    ) -> Any:
        if grad.shape[0] != len(is_zero):
            raise invalid_argument(
                f"The gradient has {grad.shape[0]} rows, the lookup {len(is_zero)}"
            )
        if grad.is_cpu:
            values = np.ascontiguousarray(grad.numpy())
            out = np.zeros((int(size), values.shape[1]), values.dtype)
            bad = loops.distribute(out, values, places, rows, is_zero, divides)
            if bad >= 0:
                raise _outside(places, bad, len(out))
            return torch.from_numpy(out)
        _check_places(places, int(size))
        kept = grad.masked_fill(to_tensor(is_zero[:, None], grad.device), 0)
        at = to_tensor(rows, grad.device)
        return sum_segments(divided(kept, rows), places, int(size), indices=at)

    return compute


def _division(divides: int) -> Callable[[torch.Tensor, Any], torch.Tensor]:
    """Divides rows by how often `rows` names each, or by the root of that."""

    def divided(values: torch.Tensor, rows: Any) -> torch.Tensor:
        if not divides:
            return values
        at = to_tensor(rows, values.device)
        by = divisor(at, values.shape[0], divides == 2, values.dim())
        return (values / by).to(values.dtype)

    return divided


def _check_places(places: Any, size: int) -> None:
    if not are_inside(places, size):
        bad = int(np.flatnonzero((places < 0) | (places >= size))[0])
        raise _outside(places, bad, size)


def _outside(places: Any, bad: int, size: int) -> Exception:
    return invalid_argument(
        f"Bad: indices[{bad}] == {places[bad]} out of range [0, {size})"
    )
