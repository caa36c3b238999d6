"""CTC decoders in host memory: greedy, and the beam search of TensorFlow.

The search keeps a tree of label sequences. Each leaf has three log probabilities: that
its sequence ends in a label, in a blank, and their sum.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.ragged_ops import spread

_ZERO = -math.inf


def _check(inputs: Any, lengths: Any) -> None:
    """Raises unless inputs are [time, batch, classes] and lengths fit."""
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    lengths = np.asarray(lengths)
    if lengths.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    steps, batch, _ = inputs.shape
    if len(lengths) != batch:
        raise invalid_argument(
            "len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{len(lengths)} batch_size: {batch}"
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


class _Beam:
    """A sequence of labels, by its last one and the sequence before it."""

    __slots__ = ("blank", "children", "label", "mixed", "old", "parent", "total")

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        # Most have none: a dictionary for each would keep the garbage collector busy.
        self.children: dict[int, _Beam] | None = None
        # Log probabilities: of both, ending in a blank, ending in the label.
        self.total = self.blank = self.mixed = _ZERO
        self.old = (_ZERO, _ZERO)  # (total, blank) of the step before

    def child(self, label: int, chance: float) -> _Beam:
        """A new child, which ends in its label."""
        made = _Beam(self, label)
        made.total = made.mixed = chance
        if self.children is None:
            self.children = {}
        self.children[label] = made
        return made

    def labels(self, merge_repeated: bool) -> list[int]:
        """The sequence, perhaps without repetitions."""
        result: list[int] = []
        beam, before = self, -1
        while beam.parent is not None:
            if not merge_repeated or beam.label != before:
                result.append(beam.label)
            before, beam = beam.label, beam.parent
        return result[::-1]


# What may be a leaf: its log probability, an order of ties, and the beam, or None where
# it is not made yet; then its parent and its label tell which it is.
_Entry = tuple[float, int, _Beam | None, _Beam, int]


def _log_sum(a: float, b: float) -> float:
    if a == _ZERO:
        return b
    if b == _ZERO:
        return a
    high, low = (a, b) if a > b else (b, a)
    return high + math.log1p(math.exp(low - high))


class _Search:
    """The leaves of the tree, at most `width`."""

    def __init__(self, width: int) -> None:
        self.width = width
        root = _Beam(None, -1)
        root.total = root.blank = 0.0
        self.leaves = [root]

    def step(self, log_probs: Any) -> None:
        """One time step of log probabilities; the last class is blank."""
        branches = sorted(self.leaves, key=lambda beam: -beam.total)
        for beam in branches:
            beam.old = (beam.total, beam.blank)
        for beam in branches:
            _stay(beam, log_probs)
        # (total, order) sorts as the beam does; the order keeps ties apart.
        heap: list[_Entry] = [
            (beam.total, -i, beam, beam, -1) for i, beam in enumerate(branches)
        ]
        heapq.heapify(heap)
        rows = self._candidates(branches, log_probs[:-1], heap)
        for beam, (labels, chances) in zip(branches, rows, strict=True):
            if self._accepts(beam.old[0], heap):
                self._grow(beam, labels, chances, heap)
        # Most of what grew was dropped again: beams are made of what is left.
        self.leaves = [
            beam or parent.child(label, chance)
            for chance, _, beam, parent, label in heap
        ]

    def _accepts(self, total: float, heap: list[_Entry]) -> bool:
        if total == _ZERO:
            return False
        return len(heap) < self.width or total > heap[0][0]

    def _candidates(
        self, branches: list[_Beam], log_probs: Any, heap: list[_Entry]
    ) -> Iterator[tuple[list[int], list[float]]]:
        """For each branch the labels that may grow out of it, and their chances.

        All that can be told at once; the children that a branch has are among them.
        """
        totals, blanks = np.array([beam.old for beam in branches]).T
        last = np.array([beam.label for beam in branches])
        chances = np.add.outer(totals, log_probs)
        same = np.flatnonzero(last >= 0)  # those of a label twice, after a blank
        chances[same, last[same]] = log_probs[last[same]] + blanks[same]
        # The threshold only rises, so what is below it now will not come in.
        possible = chances > (heap[0][0] if len(heap) >= self.width else _ZERO)
        counts = [len(beam.children or ()) for beam in branches]
        children = [label for beam in branches for label in beam.children or ()]
        possible[np.repeat(np.arange(len(branches)), counts), children] = True
        rows, labels = possible.nonzero()
        ends = np.searchsorted(rows, np.arange(len(branches) + 1)).tolist()
        flat, values = labels.tolist(), chances[possible].tolist()
        for begin, end in pairwise(ends):
            yield flat[begin:end], values[begin:end]

    def _grow(
        self,
        beam: _Beam,
        labels: list[int],
        chances: list[float],
        heap: list[_Entry],
    ) -> None:
        children, width = beam.children or {}, self.width
        least = heap[0][0] if len(heap) >= width else _ZERO
        for label, chance in zip(labels, chances, strict=True):
            child = children.get(label)
            if child is not None and child.total != _ZERO:
                continue
            if chance <= least:
                if child is not None:
                    # If it was a branch of this step, it has no children any more.
                    child.old = (_ZERO, _ZERO)
                continue
            if child is not None:
                child.total = child.mixed = chance
                child.blank = _ZERO
            entry = (chance, -next(_order), child, beam, label)
            if len(heap) < width:
                heapq.heappush(heap, entry)
            else:
                dropped = heapq.heapreplace(heap, entry)[2]
                if dropped is not None:
                    dropped.total = dropped.blank = dropped.mixed = _ZERO
            least = heap[0][0] if len(heap) >= width else _ZERO

    def best(self, count: int) -> list[_Beam]:
        """The likeliest leaves. Raises InvalidArgumentError: there are fewer."""
        if count > self.width:
            raise invalid_argument("requested more paths than the beam width.")
        if count > len(self.leaves):
            raise invalid_argument("Less leaves in the beam search than requested.")
        return sorted(self.leaves, key=lambda beam: -beam.total)[:count]


def _stay(beam: _Beam, log_probs: Any) -> None:
    """The sequence stays: another of its last label, or a blank."""
    parent = beam.parent
    if parent is not None:
        if parent.total != _ZERO:
            total, blank = parent.old
            before = blank if beam.label == parent.label else total
            beam.mixed = _log_sum(beam.mixed, before)
        beam.mixed += log_probs[beam.label]
    beam.blank = beam.old[0] + log_probs[-1]
    beam.total = _log_sum(beam.blank, beam.mixed)


_order = itertools.count(1 << 20)


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
        for b, length in enumerate(lengths):
            search = _Search(width)
            for t in range(length):
                search.step(log_probs[t, b])
            for path, beam in enumerate(search.best(paths)):
                rows[path].append(beam.labels(merge))
                result[b, path] = beam.total
        parts = [_sparse(row) for row in rows]
        return (*(p[i] for i in range(3) for p in parts), result)

    return compute
