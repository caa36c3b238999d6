"""How much memory the tensors of a step take at most, and which they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tensorloom.grappler.node_runs import NodeRun


class LiveTensor(NamedTuple):
    """An output of a node, from when to when its memory is taken."""

    node: str
    output: int
    bytes: int
    start_ns: int
    end_ns: int


def peak_memory(
    runs: Sequence[NodeRun], devices: Iterable[str]
) -> dict[str, tuple[int, list[LiveTensor]]]:
    """For each device how many bytes are taken at most, and by which tensors then.

    A tensor lives from the beginning of its node to the end of its last consumer. A
    device without tensors has -1.
    """
    last_use = _last_uses(runs)
    tensors: dict[str, list[LiveTensor]] = {}
    for run in runs:
        for index, size in enumerate(run.output_bytes):
            end = last_use.get((run.operation.name, index), run.end_ns)
            # Memory is given back a moment after its last use.
            live = LiveTensor(run.operation.name, index, size, run.start_ns, end + 1)
            tensors.setdefault(run.device, []).append(live)
    return {
        device: _peak(tensors[device]) if device in tensors else (-1, [])
        for device in devices
    }


def _last_uses(runs: Sequence[NodeRun]) -> dict[tuple[str, int], int]:
    last: dict[tuple[str, int], int] = {}
    for run in runs:
        for tensor in run.operation.inputs:
            key = tensor.op.name, tensor.value_index
            last[key] = max(last.get(key, 0), run.end_ns)
    return last


def _peak(tensors: Sequence[LiveTensor]) -> tuple[int, list[LiveTensor]]:
    best, best_at = -1, 0
    for at in sorted({tensor.start_ns for tensor in tensors}):
        taken = sum(t.bytes for t in tensors if t.start_ns <= at < t.end_ns)
        if taken > best:
            best, best_at = taken, at
    return best, [t for t in tensors if t.start_ns <= best_at < t.end_ns]
