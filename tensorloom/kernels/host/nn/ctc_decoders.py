"""CTC decoders in host memory: greedy, and the beam search of TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.ragged.ragged_ops import spread

_ZERO = -math.inf


def _check(inputs: Any, lengths: Any) -> None:
    """Raises unless inputs are [time, batch, classes] and lengths fit.

    Raises:
      InvalidArgumentError: they are of other ranks, or without steps.
      FailedPreconditionError: lengths of more steps, or of another batch.
    """
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    lengths = np.asarray(lengths)
    if lengths.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    steps, batch, _ = inputs.shape
    if not steps:
        raise invalid_argument("max_time is 0")
    if len(lengths) != batch:
        raise errors.FailedPreconditionError(
            None,
            None,
            "len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{len(lengths)} batch_size: {batch}",
        )
    if not inputs.shape[2]:
        raise invalid_argument("num_classes must be positive")
    for row in np.flatnonzero((lengths > steps) | (lengths < 0)):
        raise errors.FailedPreconditionError(
            None, None, f"sequence_length({row}) <= {steps}"
        )


def _sparse(rows: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
    """Sequences as (indices, values, shape) of a sparse matrix."""
    longest = max((len(row) for row in rows), default=0)
    places = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    indices = np.array(places, np.int64).reshape(-1, 2)
    values = np.array([label for row in rows for label in row], np.int64)
    return indices, values, np.array([len(rows), longest], np.int64)


@host_kernel("CTCGreedyDecoder", large=True)
def greedy_decoder(c: OpKernelConstruction) -> Compute:
    """The most likely class of each step, without blanks."""
    merge, chosen_blank = c["merge_repeated"], c.get("blank_index", -1)

    def compute(inputs: Any, lengths: Any) -> Any:
        _check(inputs, lengths)
        classes = inputs.shape[2]
        blank = chosen_blank + classes if chosen_blank < 0 else chosen_blank
        if not 0 <= blank < classes:
            raise invalid_argument(f"blank_index expected to be in [0, {classes})")
        best = inputs.argmax(2)
        keep = best != blank
        keep &= np.arange(len(inputs))[:, None] < lengths
        if merge:
            keep[1:] &= best[1:] != best[:-1]
        # What is kept of the rows, one after the other.
        rows = keep.T.nonzero()[0]
        counts = np.bincount(rows, minlength=len(lengths))
        columns = spread(np.zeros(1, np.int64), counts)
        indices = np.stack([rows, columns], 1)
        shape = np.array([len(lengths), counts.max(initial=0)], np.int64)
        return indices, best.T[keep.T], shape, _costs(inputs, best, lengths)

    return compute


def _costs(inputs: Any, best: Any, lengths: Any) -> Any:
    """The negative sums [batch, 1] of the inputs at the best classes."""
    chosen = np.take_along_axis(inputs, best[:, :, None], 2)[:, :, 0].T.copy()
    costs = np.zeros((len(lengths), 1), inputs.dtype)
    if (lengths == len(inputs)).all() and len(inputs):
        np.negative(chosen.sum(1, keepdims=True), out=costs)
        return costs
    for b, length in enumerate(np.asarray(lengths).tolist()):
        costs[b] = -chosen[b, :length].sum() if length else 0
    return costs


# --- beam search -------------------------------------------------------------


class _Search:
    """The leaves of the tree, at most `width`; see `loops.nn.ctc_beam_search`."""

    def __init__(self, width: int) -> None:
        # Loaded here: it takes some tenths of a second.
        from tensorloom.kernels.loops.nn import ctc_beam_search

        self._loops = ctc_beam_search
        self._width = width
        self._links = np.empty((1, 4), np.int64)
        self._scores = np.empty((1, 5))

    def run(self, log_probs: Any) -> None:
        """The steps of log probabilities [time, classes]; the last class is blank."""
        loops, classes = self._loops, log_probs.shape[1]
        # The root is the empty sequence, which has ended in a blank.
        self._links[0] = -1
        self._scores[0] = 0.0, 0.0, _ZERO, _ZERO, _ZERO
        self._leaves, count = np.zeros(1, np.int64), 1
        for row in log_probs:
            self._reserve(count + min(self._width, len(self._leaves) * classes))
            self._leaves, count = loops.step(
                row, self._width, self._leaves, count, self._links, self._scores
            )
        loops.sort_leaves(self._leaves, self._scores)

    def _reserve(self, count: int) -> None:
        if count > len(self._links):
            self._links = np.resize(self._links, (2 * count, 4))
            self._scores = np.resize(self._scores, (2 * count, 5))

    def best(self, count: int) -> list[int]:
        """The likeliest leaves. Raises InvalidArgumentError: there are fewer."""
        if count > self._width:
            raise invalid_argument("requested more paths than the beam width.")
        if count > len(self._leaves):
            raise invalid_argument("Less leaves in the beam search than requested.")
        found: list[int] = self._leaves[:count].tolist()
        return found

    def total(self, leaf: int) -> float:
        """The log probability of all paths of a leaf."""
        return float(self._scores[leaf, self._loops.TOTAL])

    def labels(self, leaf: int, merge_repeated: bool) -> list[int]:
        """The sequence of a leaf, perhaps without repetitions."""
        result: list[int] = []
        before = -1
        while leaf:
            parent, label = self._links[leaf, :2].tolist()
            if not merge_repeated or label != before:
                result.append(label)
            before, leaf = label, parent
        return result[::-1]


def _log_softmax(logits: Any) -> Any:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@host_kernel("CTCBeamSearchDecoder", large=True)
def beam_search_decoder(c: OpKernelConstruction) -> Compute:
    """The most likely sequences, and their log probabilities."""
    width, paths, merge = c["beam_width"], c["top_paths"], c["merge_repeated"]

    def compute(inputs: Any, lengths: Any) -> Any:
        _check(inputs, lengths)
        log_probs = _log_softmax(inputs.astype(np.float64))
        result = np.empty((len(lengths), paths), inputs.dtype)
        rows: list[list[list[int]]] = [[] for _ in range(paths)]
        search = _Search(width)
        for b, length in enumerate(lengths):
            search.run(log_probs[:length, b])
            for path, leaf in enumerate(search.best(paths)):
                rows[path].append(search.labels(leaf, merge))
                result[b, path] = search.total(leaf)
        parts = [_sparse(row) for row in rows]
        return (*(p[i] for i in range(3) for p in parts), result)

    return compute
