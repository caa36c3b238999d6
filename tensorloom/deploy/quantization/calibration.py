"""The ranges of tensors: from examples, or from FakeQuant nodes that were trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.runner import Runner
from tensorloom.framework import errors
from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.protos.node_def_pb2 import NodeDef

Range = tuple[float, float]
METHODS: Final = ("min_max", "percentile", "entropy")
# The share of values that percentile keeps.
_KEPT: Final = 0.9999
_BINS: Final = 2048
# Steps on each side of zero that entropy compares with.
_STEPS: Final = 128
_FAKE_QUANT: Final = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs")
# What hands on values as they are, or the larger ones of them.
_PASSING: Final = ("Identity", "Reshape", "MaxPool", "Squeeze", "ExpandDims", "Relu")


class _Histogram:
    """How often values occur, over ends that grow."""

    def __init__(self) -> None:
        self.low = self.high = 0.0
        self._counts = np.zeros(_BINS)
        self._limit = 0.0

    def add(self, values: Any) -> None:
        """Counts more values."""
        if not values.size:
            return
        ends = float(values.min()), float(values.max())
        if not np.isfinite(ends).all():
            raise errors.InvalidArgumentError(
                None, None, "the examples for calibration give infinite values or NaN"
            )
        self.low, self.high = min(self.low, ends[0]), max(self.high, ends[1])
        largest = max(-self.low, self.high)
        if largest > self._limit:
            self._grow(largest)
        if self._limit:
            # Zero is exact in any range; that there are many of it tells nothing.
            sizes = np.abs(values[values != 0])
            counts, _ = np.histogram(sizes, _BINS, (0.0, self._limit))
            self._counts += counts

    def _grow(self, largest: float) -> None:
        old = self._counts
        places = (np.arange(_BINS) + 0.5) * (self._limit / _BINS)
        self._counts, _ = np.histogram(places, _BINS, (0.0, largest), weights=old)
        self._limit = largest

    def cut(self, largest: float) -> Range:
        """The ends, but not further than that."""
        return max(self.low, -largest), min(self.high, largest)

    def percentile(self) -> Range:
        """The ends of nearly all values."""
        if not self._limit:
            return 0.0, 0.0
        share = np.cumsum(self._counts) / self._counts.sum()
        at = int(np.searchsorted(share, _KEPT))
        return self.cut((min(at, _BINS - 1) + 1) * self._limit / _BINS)

    def entropy(self) -> Range:
        """The ends that lose the least information: Kullback and Leibler's measure
        between the values and what is left of them in 128 steps."""
        if not self._limit:
            return 0.0, 0.0
        best = (np.inf, _BINS)
        for size in range(_STEPS, _BINS + 1, 16):
            kept = self._counts[:size].copy()
            kept[-1] += self._counts[size:].sum()
            best = min(best, (_divergence(kept, self._counts[:size]), size))
        return self.cut(best[1] * self._limit / _BINS)


def _divergence(kept: Any, inside: Any) -> float:
    """From counts to what 128 steps make of those inside."""
    starts = np.arange(_STEPS) * len(kept) // _STEPS
    sums = np.add.reduceat(inside, starts)
    used = np.add.reduceat((inside > 0).astype(np.float64), starts)
    means = np.divide(sums, used, out=np.zeros(_STEPS), where=used > 0)
    spread = np.repeat(means, np.diff([*starts.tolist(), len(kept)]))
    made = np.where(inside > 0, spread, 0.0)
    first, second = kept / kept.sum(), made / max(made.sum(), 1.0)
    some = first > 0
    floor = np.maximum(second[some], 1e-10)
    return float(np.sum(first[some] * np.log(first[some] / floor)))


def measured(
    model: FrozenModel, tensors: Iterable[str], given: Examples, method: str
) -> dict[str, Range]:
    """The ranges of tensors on examples.

    Args:
      model: whose tensors they are.
      tensors: their names.
      given: the examples.
      method: one of `METHODS`: the least and largest values, those of nearly all, or
        those that keep most of the information.

    Raises:
      errors.InvalidArgumentError: no such method, or values that are not finite.
    """
    if method not in METHODS:
        raise errors.InvalidArgumentError(
            None, None, f"no method {method!r} of calibration; there are {METHODS}"
        )
    wanted = {name: nodes.canonical(name) for name in tensors}
    found = {name: _Histogram() for name in wanted}
    with Runner(model) as runner:
        for batch in given.batches:
            for name, value in runner.fetch(batch, wanted).items():
                found[name].add(np.asarray(value))
    return {name: _ends(one, method) for name, one in found.items()}


def _ends(histogram: _Histogram, method: str) -> Range:
    if method == "percentile":
        return histogram.percentile()
    if method == "entropy":
        return histogram.entropy()
    return histogram.low, histogram.high


def trained(model: FrozenModel, tensors: Iterable[str]) -> dict[str, Range]:
    """The ranges that FakeQuant nodes before tensors say; those that have any."""
    found = nodes.by_name(model.graph_def)
    ranges = {}
    for name in tensors:
        node = found[nodes.node_of(name)]
        while node.op in _PASSING:
            node = found[nodes.node_of(node.input[0])]
        ends = _said(node, found) if node.op in _FAKE_QUANT else None
        if ends is not None:
            ranges[name] = ends
    return ranges


def before_fake_quant(model: FrozenModel, tensor: str) -> str:
    """What a FakeQuant of eight bits reads: who rounds by its range needs no other."""
    found = nodes.by_name(model.graph_def)
    node = found[nodes.node_of(tensor)]
    is_one = node.op in _FAKE_QUANT and node.attr["num_bits"].i in (0, 8)
    if is_one and not node.attr["narrow_range"].b and _said(node, found) is not None:
        return str(node.input[0])
    return tensor


def _said(node: NodeDef, found: Mapping[str, NodeDef]) -> Range | None:
    if node.op == "FakeQuantWithMinMaxArgs":
        return node.attr["min"].f, node.attr["max"].f
    ends = [found[nodes.node_of(name)] for name in node.input[1:3]]
    if any(end.op != "Const" for end in ends):
        return None
    low, high = (float(nodes.value_of(end)) for end in ends)
    return low, high
