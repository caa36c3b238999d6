"""Specs of CTCGreedyDecoder, CTCLoss, DataFormatDimMap, DataFormatVecPermute, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- volumes -----------------------------------------------------------------


# --- images ------------------------------------------------------------------


# --- elements and layouts ----------------------------------------------------


def _nth(d: Draw) -> Any:
    shape = (*d.shape(0, 2), d.integer(2, 6))
    values = d.array(shape, distinct=True)
    return call(values, K(d.integer(0, shape[-1] - 1), "int32"), reverse=d.maybe(0.5))


def _format_sizes(d: Draw) -> Any:
    source, target = d.choice((("NHWC", "NCHW"), ("NCHW", "NHWC")))
    sizes = d.array((4,) if d.maybe(0.5) else (4, 2))
    return call(sizes, src_format=source, dst_format=target)


def _format_axes(d: Draw) -> Any:
    axes = np.arange(-4, 4).astype(d.dtype.as_numpy_dtype)
    return call(axes, src_format="NHWC", dst_format="NCHW")


spec("NthElement", _nth, mutate=("rank", "dtype"))


spec("DataFormatVecPermute", _format_sizes)


# TensorFlow reads beyond its table for axes out of range.
spec("DataFormatDimMap", _format_axes, mutate=("rank", "size", "empty", "dtype"))


# --- sequences ---------------------------------------------------------------


def _logits(d: Draw) -> tuple[Any, Any]:
    steps, batch = d.integer(5, 8), d.integer(1, 4)
    lengths = np.array([d.integer(4, steps) for _ in range(batch)], np.int32)
    return d.array((steps, batch, 5)), lengths


def _ctc_loss(d: Draw) -> Any:
    logits, lengths = _logits(d)
    batch = len(lengths)
    indices = np.array([[b, i] for b in range(batch) for i in (0, 1)], np.int64)
    values = np.array([d.integer(0, 3) for _ in range(2 * batch)], np.int32)
    return call(
        logits,
        indices,
        values,
        lengths,
        ctc_merge_repeated=d.maybe(0.7),
        preprocess_collapse_repeated=d.maybe(0.3),
    )


def _greedy(d: Draw) -> Any:
    return call(*_logits(d), merge_repeated=d.maybe(0.5))


_RECURSION = Tolerance(1e-4, 1e-5, reason="TensorFlow sums logarithms in float32")


def _short(d: Draw, labels: list[int], steps: int) -> Any:
    """One sequence, of as many labels as steps or more; 4 is the blank."""
    indices = np.array([[0, i] for i in range(len(labels))], np.int64)
    values, lengths = np.array(labels, np.int32), np.array([steps], np.int32)
    return d.array((5, 1, 5)), indices, values, lengths


spec(
    "CTCLoss",
    _ctc_loss,
    tolerance=_RECURSION,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: _short(d, [1, 4], 1),
        lambda d: _short(d, [1, 4], 2),
        lambda d: _short(d, [4, 1], 3),
        lambda d: _short(d, [4], 0),
    ),
)


spec("CTCGreedyDecoder", _greedy, mutate=("rank", "dtype"))
