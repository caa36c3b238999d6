"""The beam search of the CTC decoder, in a tree of label sequences as TensorFlow's.

A node of the tree is a sequence by its last label and the node before it. The tree is
in two arrays of one row for each node. `links`: int64, the parent, the label, the first
child and the next sibling, -1 where there is none. `scores`: log probabilities of the
sequence: of all its paths, of those that end in a blank, of those that end in the
label, and the first two of the step before.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

PARENT, LABEL, CHILD, SIBLING = range(4)
TOTAL, BLANK, MIXED, OLD_TOTAL, OLD_BLANK = range(5)
_ZERO = -math.inf


@loop
def _log_sum(a: float, b: float) -> float:
    if a == _ZERO:
        return b
    if b == _ZERO:
        return a
    high, low = (a, b) if a > b else (b, a)
    return high + math.log1p(math.exp(low - high))


@loop
def sort_leaves(leaves: Any, scores: Any) -> None:
    """The likeliest first; those that are alike keep their order."""
    for i in range(1, len(leaves)):
        leaf, j = leaves[i], i
        while j > 0 and scores[leaves[j - 1], TOTAL] < scores[leaf, TOTAL]:
            leaves[j] = leaves[j - 1]
            j -= 1
        leaves[j] = leaf


@loop
def _stay(node: int, log_probs: Any, links: Any, scores: Any) -> None:
    """The sequence stays: another of its last label, or a blank."""
    parent, label = links[node, PARENT], links[node, LABEL]
    if parent >= 0:
        if scores[parent, TOTAL] != _ZERO:
            is_repeated = label == links[parent, LABEL]
            before = scores[parent, OLD_BLANK if is_repeated else OLD_TOTAL]
            scores[node, MIXED] = _log_sum(scores[node, MIXED], before)
        scores[node, MIXED] += log_probs[label]
    scores[node, BLANK] = scores[node, OLD_TOTAL] + log_probs[len(log_probs) - 1]
    scores[node, TOTAL] = _log_sum(scores[node, BLANK], scores[node, MIXED])


# --- a heap of what may be a leaf: the least likely first, of these the latest -------


@loop
def _sink(heap: Any, chances: Any, at: int, end: int) -> None:
    """Moves what is at a place down to where it belongs."""
    start, item, child = at, heap[at], 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not _is_less(chances, heap[child], heap[right]):
            child = right
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = item
    _rise(heap, chances, start, at)


@loop
def _rise(heap: Any, chances: Any, start: int, at: int) -> None:
    item = heap[at]
    while at > start and _is_less(chances, item, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item


@loop
def _is_less(chances: Any, a: int, b: int) -> bool:
    if chances[a, 0] == chances[b, 0]:
        return bool(chances[a, 1] < chances[b, 1])
    return bool(chances[a, 0] < chances[b, 0])


# --- a step ------------------------------------------------------------------


@loop
def step(
    log_probs: Any, width: int, leaves: Any, count: int, links: Any, scores: Any
) -> tuple[Any, int]:
    """(the leaves after one more time step, the number of nodes then).

    Args:
      log_probs: float64 [classes], of the step; the last class is blank.
      width: how many leaves there may be.
      leaves: int64, the nodes that are leaves, at most `width`; their order changes.
      count: how many nodes there are.
      links, scores: with room for as many nodes as there may be leaves then: `width` or
        for each leaf as many as there are classes, whichever is less.
    """
    labels = len(log_probs) - 1
    sort_leaves(leaves, scores)
    for node in leaves:
        scores[node, OLD_TOTAL] = scores[node, TOTAL]
        scores[node, OLD_BLANK] = scores[node, BLANK]
    most = min(width, len(leaves) * (labels + 1))
    heap = np.empty(most, np.int64)
    # Of each entry: its node, or -1 where it is not made yet, its parent, its label.
    entries = np.empty((most, 3), np.int64)
    # Its log probability, and what is less the later it came.
    chances = np.empty((most, 2), np.float64)
    for i in range(len(leaves)):
        _stay(leaves[i], log_probs, links, scores)
        heap[i], entries[i, 0] = i, leaves[i]
    for i in range(len(leaves)):
        chances[i, 0], chances[i, 1] = scores[leaves[i], TOTAL], -i
    size = len(leaves)
    for i in range(size // 2 - 1, -1, -1):
        _sink(heap, chances, i, size)
    children = np.full(labels, -1, np.int64)
    tried = len(leaves)
    for i in range(len(leaves)):
        total = scores[leaves[i], OLD_TOTAL]
        if total != _ZERO and (size < width or total > chances[heap[0], 0]):
            size = _grow(
                leaves[i],
                log_probs,
                width,
                tried,
                size,
                children,
                heap,
                entries,
                chances,
                links,
                scores,
            )
        tried += labels
    found = np.empty(size, np.int64)
    for i in range(size):
        entry = heap[i]
        node = entries[entry, 0]
        if node < 0:
            node = count
            count += 1
            _make(node, entries[entry], chances[entry, 0], links, scores)
        found[i] = node
    return found, count


@loop
def _grow(
    node: int,
    log_probs: Any,
    width: int,
    tried: int,
    size: int,
    children: Any,
    heap: Any,
    entries: Any,
    chances: Any,
    links: Any,
    scores: Any,
) -> int:
    """Offers the heap what ends in one more label; how many entries it has then."""
    child = links[node, CHILD]
    while child >= 0:
        children[links[child, LABEL]] = child
        child = links[child, SIBLING]
    least = chances[heap[0], 0] if size >= width else _ZERO
    for label in range(len(children)):
        chance, child = scores[node, OLD_TOTAL] + log_probs[label], children[label]
        if label == links[node, LABEL]:  # a label twice, after a blank
            chance = log_probs[label] + scores[node, OLD_BLANK]
        children[label] = -1
        if child >= 0 and scores[child, TOTAL] != _ZERO:
            continue
        if not chance > least:
            if child >= 0:
                # If it was a branch of this step, it has no children any more.
                scores[child, OLD_TOTAL] = scores[child, OLD_BLANK] = _ZERO
            continue
        if child >= 0:
            scores[child, TOTAL] = scores[child, MIXED] = chance
            scores[child, BLANK] = _ZERO
        entry = size if size < width else heap[0]
        if size >= width and entries[entry, 0] >= 0:
            dropped = entries[entry, 0]
            scores[dropped, TOTAL] = _ZERO
            scores[dropped, BLANK] = scores[dropped, MIXED] = _ZERO
        entries[entry, 0], entries[entry, 1] = child, node
        entries[entry, 2] = label
        chances[entry, 0], chances[entry, 1] = chance, -(tried + label)
        if size < width:
            heap[size] = entry
            _rise(heap, chances, 0, size)
            size += 1
        else:
            _sink(heap, chances, 0, size)
        least = chances[heap[0], 0] if size >= width else _ZERO
    return size


@loop
def _make(node: int, entry: Any, chance: float, links: Any, scores: Any) -> None:
    """A new node, which ends in its label."""
    parent = entry[1]
    links[node, PARENT], links[node, LABEL] = parent, entry[2]
    links[node, CHILD], links[node, SIBLING] = -1, links[parent, CHILD]
    links[parent, CHILD] = node
    scores[node] = _ZERO
    scores[node, TOTAL] = scores[node, MIXED] = chance
