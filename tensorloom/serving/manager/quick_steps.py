"""`QuickSteps`: which steps are so short that no thread is worth handing them to.

A step that runs in an event loop holds up whatever else waits in it. So its time has to
follow from the shapes that it is fed: the graph has arithmetic alone, no loops, no
strings, no sizes that are fed. And steps of the same shapes have been short before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.master.optimize.clusters.compilable import ARITHMETIC, PLUMBING

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature

# Handing a step over and back costs about as much.
_QUICK_S: Final = 300e-6
# How much the last step counts in the average of those before it: one of many that
# comes when the caches are cold changes nothing, one that is far slower does.
_WEIGHT: Final = 1 / 8
_LITTLE_BYTES: Final = 1 << 16
_UNKNOWN: Final = 0, 0.0
# It is not known before so many steps.
_TIMES: Final = 3
# Of so many shapes it is known how long their steps take.
_MOST_KEYS: Final = 256

_MORE_OPS: Final = frozenset(
    {
        *("Const", "Placeholder", "PlaceholderWithDefault", "NoOp", "IdentityN"),
        *("Variable", "VariableV2", "VarHandleOp", "ReadVariableOp"),
        *("Shape", "ShapeN", "Rank", "Size", "ArgMax", "ArgMin"),
        *("GatherV2", "Gather", "ResourceGather", "OneHot", "TopKV2"),
        *("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "LRN"),
    }
)
_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# These make as much as an input says.
_CONSTANT_INPUTS: Final = {"Tile": 1, "Pad": 1, "OneHot": 1, "TopKV2": 1}


class QuickSteps:
    """How long the steps of a model took. Thread-safe."""

    def __init__(self, tensors: Collection[str]) -> None:
        """`tensors`: what steps may fetch; see `plain_outputs`."""
        self._tensors = tensors
        # (how many steps there were, their average seconds)
        self._times: dict[Hashable, tuple[int, float]] = {}

    def has(self, feeds: Mapping[str, Any], fetches: Sequence[str]) -> bool:
        """Whether a step is expected to be quick."""
        names = tuple(sorted(feeds))
        key = _key(names, fetches, [feeds[name] for name in names])
        times, average_s = self._times.get(key, _UNKNOWN)
        return times >= _TIMES and average_s < _QUICK_S

    def note(
        self,
        feeds: tuple[str, ...],
        fetches: Sequence[str],
        values: Sequence[Any],
        seconds: float,
        results: Sequence[Any],
    ) -> None:
        """A step has run.

        Args:
          feeds, fetches, values: what it was given.
          seconds: that its thread computed.
          results: its values: large ones take long to write down.
        """
        key = _key(feeds, fetches, values)
        known = self._times.get(key)
        if known is None:
            is_plain = all(name in self._tensors for name in fetches)
            if not is_plain or len(self._times) >= _MOST_KEYS:
                return
            known = 0, seconds
        if _size_of(results) > _LITTLE_BYTES:
            seconds = math.inf  # for good: the next ones will be as large
        # Two threads that come here at once count one step.
        times, average_s = known
        self._times[key] = times + 1, average_s + _WEIGHT * (seconds - average_s)


def _size_of(values: Sequence[Any]) -> int:
    return sum(getattr(value, "nbytes", 0) for value in values)


def _key(
    feeds: tuple[str, ...], fetches: Sequence[str], values: Sequence[Any]
) -> Hashable:
    shapes = tuple(getattr(value, "shape", None) for value in values)
    return feeds, tuple(fetches), shapes


def plain_outputs(graph_def: Any, signatures: Iterable[Signature]) -> Collection[str]:
    """The outputs of signatures, by tensor, whose time follows from the fed shapes."""
    nodes = {node.name: node for node in graph_def.node}
    functions = {f.signature.name: f for f in graph_def.library.function}
    found: set[str] = set()
    for signature in signatures:
        feeds = {_node(slot.tensor) for slot in signature.inputs.values()}
        if any(slot.dtype.name == "string" for slot in signature.inputs.values()):
            continue
        for slot in signature.outputs.values():
            behind = _behind(_node(slot.tensor), nodes, feeds)
            if all(_is_plain(node, nodes, functions) for node in behind):
                found.add(slot.tensor)
    return found


def _behind(
    name: str, nodes: Mapping[str, Any], feeds: Collection[str]
) -> Iterator[Any]:
    """What a node waits for, and itself, up to what is fed; None: it is not there."""
    waiting, seen = [name], {name, *feeds}
    if name in feeds:
        return
    while waiting:
        node = nodes.get(waiting.pop())
        yield node
        for given in () if node is None else node.input:
            before = _node(given)
            if before not in seen:
                seen.add(before)
                waiting.append(before)


def _node(tensor: str) -> str:
    return tensor.removeprefix("^").partition(":")[0]


def _is_plain(
    node: Any, nodes: Mapping[str, Any], functions: Mapping[str, Any]
) -> bool:
    if node is None:
        return False
    if node.op in _CALLS:
        # A function that calls itself would have conditions, which are not plain.
        function = functions.get(node.attr["f"].func.name)
        if function is None:
            return False
        own = {inner.name: inner for inner in function.node_def}
        return all(_is_plain(inner, own, functions) for inner in own.values())
    if node.op not in _PLAIN:
        return False
    place = _CONSTANT_INPUTS.get(node.op)
    if place is None:
        return True
    size = nodes.get(_node(node.input[place]))
    return size is not None and size.op == "Const"


_PLAIN: Final = ARITHMETIC | PLUMBING | _MORE_OPS
