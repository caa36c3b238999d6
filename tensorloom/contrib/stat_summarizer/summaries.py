"""`StatSummarizer`: tables of the nodes of traced steps, as TensorFlow prints them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export

# How many nodes the tables by time and by memory have.
_TOP = 10


@dataclass
class _Stat:
    """A number that was told again and again."""

    values: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.values)

    @property
    def average(self) -> float:
        return self.total / len(self.values)

    def __str__(self) -> str:
        if not self.values:
            return "count=0"
        count, newest = len(self.values), self.values[-1]
        least, largest = min(self.values), max(self.values)
        if least == largest:
            return f"count={count} curr={newest}" + ("(all same)" if count > 1 else "")
        square = sum(value * value for value in self.values) / count
        deviation = int(math.sqrt(square - self.average**2))
        return (
            f"count={count} first={self.values[0]} curr={newest} min={least} "
            f"max={largest} avg={self.average:g} std={deviation}"
        )


@dataclass
class _Node:
    """What was told of one node, in microseconds and bytes."""

    name: str
    type: str
    start: _Stat = field(default_factory=_Stat)
    time: _Stat = field(default_factory=_Stat)
    memory: _Stat = field(default_factory=_Stat)


@export("contrib.stat_summarizer.StatSummarizer")
class StatSummarizer:
    """Collects the StepStats of steps that were run with full traces."""

    def __init__(self, *args: Any) -> None:
        """Begins with no step. An argument, a serialized GraphDef, says nothing."""
        self._nodes: dict[str, _Node] = {}
        self._time = _Stat()
        self._memory = _Stat()

    def ProcessStepStats(self, step_stats: Any) -> None:
        """Adds a step, a `StepStats` message."""
        devices = [
            device
            for device in step_stats.dev_stats
            # Kernels stand there for each stream, and once more for all.
            if "/stream" not in device.device or "/stream:all" in device.device
        ]
        runs = [node for device in devices for node in device.node_stats]
        if not runs:
            return
        first = step_stats.dev_stats[0].node_stats[0].all_start_micros
        for run in runs:
            node = self._nodes.setdefault(
                run.node_name, _Node(run.node_name, _op_type(run.timeline_label))
            )
            node.start.values.append(run.all_start_micros - first)
            node.time.values.append(run.all_end_rel_micros)
            node.memory.values.append(sum(memory.total_bytes for memory in run.memory))
        self._time.values.append(sum(run.all_end_rel_micros for run in runs))
        memory = [memory.total_bytes for run in runs for memory in run.memory]
        self._memory.values.append(sum(memory))

    def ProcessStepStatsStr(self, step_stats_str: bytes) -> None:
        """Adds a step, a serialized `StepStats` message."""
        from tensorloom.protos import step_stats_pb2

        self.ProcessStepStats(step_stats_pb2.StepStats.FromString(step_stats_str))

    def PrintStepStats(self) -> None:
        """Writes the tables to the log."""
        for line in self.GetOutputString().splitlines():
            program_log.info("%s", line)

    def GetOutputString(self) -> str:
        """The tables: in the order of running, by time, by memory, by type of op."""
        nodes = list(self._nodes.values())
        by_time = _largest(nodes, lambda node: node.time.average)
        by_memory = _largest(nodes, lambda node: node.memory.average)
        return "".join(
            [
                self._table("Run Order", nodes),
                self._table("Top by Computation Time", by_time),
                self._table("Top by Memory Use", by_memory),
                self._types_table(),
                f"Timings (microseconds): {self._time}\n",
                f"Memory (bytes): {self._memory}\n",
                f"{len(nodes)} nodes observed\n\n",
            ]
        )

    def _table(self, title: str, nodes: Iterable[_Node]) -> str:
        lines = [_title(title), _row(_NODE_WIDTHS, *_NODE_HEADS)]
        total, so_far = self._time.total, 0
        for node in nodes:
            so_far += node.time.total
            lines.append(
                _row(
                    _NODE_WIDTHS,
                    node.type,
                    f"{node.start.average / 1000.0:.3f}",
                    f"{node.time.values[0] / 1000.0:.3f}",
                    f"{node.time.average / 1000.0:.3f}",
                    _percent(node.time.total, total),
                    _percent(so_far, total),
                    f"{node.memory.values[-1] / 1000.0:.3f}",
                    str(len(node.time.values) // len(self._time.values)),
                )
                + f"\t{node.name}"
            )
        lines[1] += "\t[Name]"
        return "\n".join(lines) + "\n\n"

    def _types_table(self) -> str:
        steps = max(len(self._time.values), 1)
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for node in self._nodes.values():
            told = (
                node.time.total // steps,
                1,
                node.memory.total // steps,
                len(node.time.values) // steps,
            )
            kept = sums[node.type]
            sums[node.type] = [a + b for a, b in zip(kept, told, strict=True)]
        total, so_far = sum(kept[0] for kept in sums.values()), 0
        lines = [
            f"Number of nodes executed: {len(self._nodes)}",
            _title("Summary by node type"),
            _row(_TYPE_WIDTHS, *_TYPE_HEADS),
        ]
        by_time = sorted(sums.items(), key=lambda item: (item[1][0], item[0]))
        for op_type, (time, count, memory, called) in reversed(by_time):
            so_far += time
            lines.append(
                _row(
                    _TYPE_WIDTHS,
                    op_type,
                    str(count),
                    f"{time / 1000.0:.3f}",
                    _percent(time, total),
                    _percent(so_far, total),
                    f"{memory / 1000.0:.3f}",
                    str(called),
                )
            )
        return "\n".join(lines) + "\n\n"


_NODE_HEADS = (
    *("[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[mem KB]"),
    "[times called]",
)
_NODE_WIDTHS = (24, 17, 9, 9, 8, 8, 10, 9)
_TYPE_HEADS = (
    *("[Node type]", "[count]", "[avg ms]", "[avg %]", "[cdf %]", "[mem KB]"),
    "[times called]",
)
_TYPE_WIDTHS = (24, 9, 10, 11, 11, 10, 10)


def _title(text: str) -> str:
    return f"{'=' * 30} {text} {'=' * 30}"


def _row(widths: tuple[int, ...], *cells: str) -> str:
    pairs = zip(cells, widths, strict=True)
    return "".join(f"\t{cell.rjust(width)}" for cell, width in pairs)


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.3f}%" if whole else "nan%"


def _largest(nodes: list[_Node], key: Callable[[_Node], float]) -> list[_Node]:
    return sorted(nodes, key=key, reverse=True)[:_TOP]


def _op_type(label: str) -> str:
    """The op of a label such as `product = MatMul(m1, m2)`."""
    _, found, call = label.partition(" = ")
    return call.partition("(")[0] if found else "<>"


@export("contrib.stat_summarizer.NewStatSummarizer")
def NewStatSummarizer(unused: Any) -> StatSummarizer:
    """A summarizer without steps. The serialized GraphDef says nothing."""
    return StatSummarizer()


@export("contrib.stat_summarizer.DeleteStatSummarizer")
def DeleteStatSummarizer(ss: StatSummarizer) -> None:
    """Does nothing: a summarizer goes when nobody has it."""
