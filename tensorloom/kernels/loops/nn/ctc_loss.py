"""Connectionist temporal classification (Graves et al. 2006, section 4).

Probabilities are logarithms: those of some paths are less than any float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_NEVER = -math.inf


@loop
def expect(
    log_probs: Any,
    sequences: Any,
    places: Any,
    lengths: Any,
    blank: int,
    merges: bool,
    totals: Any,
    gradient: Any,
) -> None:
    """How likely sequences are, and what paths that make them expect of each class.

    Args:
      log_probs: float64 [time, batch, classes].
      sequences: int64 [batch, u], labels with blanks before, between and behind them,
        each in [0, classes).
      places: int64 [batch], how many of those there are, at least 1.
      lengths: int64 [batch], how many steps, at most `time`.
      blank: the class of blanks.
      merges: whether a label that is repeated without a blank counts once.
      totals: float64 [batch], written: the log probability of each sequence; it stays
        where there are no steps.
      gradient: [time, batch, classes]: the share of the paths with a class in a step is
        taken from it.
    """
    widest = sequences.shape[1]
    forward = np.empty((len(log_probs), widest))
    backward = np.empty((2, widest + 2))
    for b in range(len(lengths)):
        if lengths[b] > 0:
            sequence = sequences[b, : places[b]]
            steps = log_probs[: lengths[b], b]
            _go_forward(steps, sequence, blank, merges, forward)
            last = forward[lengths[b] - 1]
            end = len(sequence)
            before = last[end - 2] if end > 1 else _NEVER
            totals[b] = _log_sum(last[end - 1], before, _NEVER)
            if totals[b] != _NEVER:
                shares = gradient[: lengths[b], b]
                _go_backward(
                    steps, sequence, blank, merges, forward, backward, totals[b], shares
                )


@loop
def _log_sum(a: float, b: float, c: float) -> float:
    if a < b:
        a, b = b, a
    if a < c:
        a, c = c, a
    # The exponential of the greatest, `a`, need not be computed, nor that of nothing.
    rest = 0.0
    if b != _NEVER:
        rest = math.exp(b - a)
    if c != _NEVER:
        rest += math.exp(c - a)
    return a + math.log1p(rest) if rest > 0.0 else a


@loop
def _stays(sequence: Any, u: int, blank: int, merges: bool) -> bool:
    """Whether the next step may be of the same place."""
    return merges or sequence[u] == blank


@loop
def _skips(sequence: Any, u: int, blank: int, merges: bool) -> bool:
    """Whether a step may come two places further, to `u`."""
    if u < 2 or sequence[u] == blank:
        return False
    return not merges or sequence[u] != sequence[u - 2]


@loop
def _reach(t: int, steps: int, count: int) -> tuple[int, int]:
    """The places from which to which paths are in a step: two a step at most."""
    return max(0, count - 2 * (steps - t)), min(count, 2 * (t + 1))


@loop
def _go_forward(
    steps: Any, sequence: Any, blank: int, merges: bool, forward: Any
) -> None:
    """forward[t, u] = log P(the places up to u in the steps up to t)."""
    forward[: len(steps)] = _NEVER
    for t in range(len(steps)):
        begin, end = _reach(t, len(steps), len(sequence))
        for u in range(begin, end):
            a = b = c = _NEVER
            if t == 0:
                a = 0.0
            elif _stays(sequence, u, blank, merges):
                a = forward[t - 1, u]
            if t > 0 and u > 0:
                b = forward[t - 1, u - 1]
            if t > 0 and _skips(sequence, u, blank, merges):
                c = forward[t - 1, u - 2]
            forward[t, u] = _log_sum(a, b, c) + steps[t, sequence[u]]


@loop
def _go_backward(
    steps: Any,
    sequence: Any,
    blank: int,
    merges: bool,
    forward: Any,
    backward: Any,
    total: float,
    shares: Any,
) -> None:
    """Takes from `shares` that of the paths at each class in each step.

    backward[t % 2, u] is log P(the places behind u in the steps behind t), with the
    step t + 1 that comes there.
    """
    count = len(sequence)
    backward[:] = _NEVER
    for t in range(len(steps) - 1, -1, -1):
        ahead, now = backward[(t + 1) % 2], backward[t % 2]
        now[:] = _NEVER
        begin, end = _reach(t, len(steps), count)
        for u in range(begin, end):
            a = c = _NEVER
            if t == len(steps) - 1:
                a = 0.0
            elif _stays(sequence, u, blank, merges):
                a = ahead[u]
            if u + 2 < count and _skips(sequence, u + 2, blank, merges):
                c = ahead[u + 2]
            behind = _log_sum(a, ahead[u + 1], c)
            now[u] = behind + steps[t, sequence[u]]
            if behind != _NEVER and forward[t, u] != _NEVER:
                shares[t, sequence[u]] -= math.exp(forward[t, u] + behind - total)
