"""SkipGramGenerateCandidates in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.random.philox import Generator, words_below
from tensorloom.kernels.host.random.random_state import node_generator

_TYPES = {dtypes.string, dtypes.int64, dtypes.int32, dtypes.int16}


def _scalar(value: Any, name: str) -> int:
    if np.size(value) != 1:
        raise invalid_argument(
            f"{name} must have one element, got shape {shape_text(np.shape(value))}"
        )
    return int(np.reshape(value, ()))


def _reaches(generator: Generator, count: int, low: int, high: int) -> Any:
    """How far each of `count` tokens looks, int64 in low..high."""
    if low == high or not count:
        return np.full(count, low, np.int64)
    # As many blocks of four words as TensorFlow takes for itself.
    stream = generator.reserve(count // 4 + 1)
    return low + words_below(stream, count, high - low + 1)


def _pairs(reaches: Any, with_itself: bool) -> tuple[Any, Any]:
    """(places of tokens, places of their labels), token by token."""
    count = len(reaches)
    at = np.arange(count)
    first = np.maximum(at - reaches, 0)
    last = np.minimum(at + reaches, count - 1)
    sizes = last - first + 1
    tokens = np.repeat(at, sizes)
    begins = np.cumsum(sizes) - sizes
    labels = np.arange(len(tokens)) - np.repeat(begins - first, sizes)
    if with_itself:
        return tokens, labels
    others = tokens != labels
    return tokens[others], labels[others]


@host_kernel("SkipGramGenerateCandidates", large=True, types={"T": _TYPES})
def skip_gram_generate_candidates(c: OpKernelConstruction) -> Compute:
    """The pairs of a part of the tokens."""
    generator, dtype, device = node_generator(c), c["T"], c.device

    def compute(
        tokens: Any,
        min_skips: Any,
        max_skips: Any,
        start: Any,
        limit: Any,
        with_itself: Any,
    ) -> tuple[Any, Any]:
        low, high = _scalar(min_skips, "min_skips"), _scalar(max_skips, "max_skips")
        first, last = _scalar(start, "start"), _scalar(limit, "limit")
        if low < 0 or high < 0:
            raise invalid_argument("Both min_skips and max_skips must be >= 0.")
        if low > high:
            raise invalid_argument("min_skips must be <= max_skips.")
        if first < 0:
            raise invalid_argument(f"start must be >= 0, got {first}")
        flat = np.reshape(tokens, -1)
        part = flat[first : len(flat) if last < 0 else first + last]
        reaches = _reaches(generator, len(part), low, high)
        reaches = np.minimum(reaches, len(part))
        check_memory((int(2 * reaches.sum()) + len(part),), dtype, device)
        chosen, labels = _pairs(reaches, bool(_scalar(with_itself, "with_itself")))
        return part[chosen], part[labels]

    return compute
