"""Which values are alive when, in which memory, and where the peak is.

The generated program says when a value is dropped, a trace of the step which buffer it
was in. Both together are played again: values that share a buffer count once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import NodeStats
    from tensorloom.inspect.explain.generated import GeneratedFunction

#: What hands on memory that is there without the step: variables, feeds, constants.
_HELD: Final = frozenset(
    {
        *("_Arg", "Const", "HostConst", "ReadVariableOp", "VarHandleOp"),
        *("VariableV2", "Variable"),
    }
)
_MOST: Final = 10  # values at a peak that are told


@dataclass(frozen=True, slots=True)
class ValueLife:
    """One output of a node, as it was when it was made last."""

    node: str
    output: int
    device: str
    memory: str  # "host", "device", "variable", "" for what is no array, "?": not told
    dtype: str
    shape: tuple[int, ...]
    size: int  # bytes
    name: str  # the local variable in the generated program; "" if it has none
    made: int  # the line that makes it; 0 if it has none
    dropped: int  # the line that drops it; 0: it lives to the end of the step


@dataclass(slots=True)
class DeviceMemory:
    """The memory of one device's values over a step."""

    device: str
    #: (seconds since the first node, node, bytes of the step's own values after it)
    timeline: list[tuple[float, str, int]] = field(default_factory=list)
    peak: int = 0  # bytes
    peak_node: str = ""  # after which it was
    peak_values: list[tuple[str, int]] = field(default_factory=list)  # largest first
    held: int = 0  # bytes of variables, feeds and constants that the step used


@dataclass(frozen=True, slots=True)
class StepMemory:
    """The memory of one step."""

    values: tuple[ValueLife, ...]
    devices: tuple[DeviceMemory, ...]


@dataclass(slots=True)
class _Place:
    """Where the generated program of a device makes the outputs of a node."""

    line: int
    names: tuple[str, ...]
    # What is dropped after it, before the next node.
    drops: list[str] = field(default_factory=list)


def step_memory(
    functions: Iterable[GeneratedFunction], stats: Sequence[NodeStats]
) -> StepMemory:
    """The memory of a traced step.

    Args:
      functions: the generated program.
      stats: what a trace of it recorded.
    """
    places: dict[str, dict[str, _Place]] = {}
    dropped_at: dict[tuple[str, str], int] = {}
    for function in functions:
        _add_places(function, places.setdefault(function.device, {}), dropped_at)
    values: dict[tuple[str, str, int], ValueLife] = {}
    players: dict[str, _Player] = {}
    begin = min((s.start_ns for s in stats), default=0)
    for one in sorted(stats, key=lambda s: s.end_ns):
        place = places.get(one.device, {}).get(one.node_name)
        for life in _lives(one, place, dropped_at):
            values[life.device, life.node, life.output] = life
        if one.device not in places:
            continue  # another process's, which does not tell what is dropped when
        player = players.setdefault(one.device, _Player(one.device))
        player.play(one, place, (one.end_ns - begin) / 1e9)
    return StepMemory(
        tuple(values.values()), tuple(player.ended() for player in players.values())
    )


def _add_places(
    function: GeneratedFunction,
    places: dict[str, _Place],
    dropped_at: dict[tuple[str, str], int],
) -> None:
    last: _Place | None = None
    for line in function.lines:
        if line.node is not None:
            known = places.get(line.node)
            if known is None or line.made:
                last = places[line.node] = _Place(line.number, line.made)
            else:
                last = known
        for name in line.dropped:
            dropped_at[function.device, name] = line.number
            if last is not None:
                last.drops.append(name)


def _lives(
    stats: NodeStats,
    place: _Place | None,
    dropped_at: dict[tuple[str, str], int],
) -> Iterable[ValueLife]:
    for index, (dtype, shape, size) in enumerate(stats.outputs):
        memory = stats.buffers[index][0] if index < len(stats.buffers) else "?"
        names = () if place is None else place.names
        name = names[index] if index < len(names) else ""
        yield ValueLife(
            stats.node_name,
            index,
            stats.device,
            memory,
            dtype,
            shape,
            size,
            name,
            0 if place is None or not name else place.line,
            dropped_at.get((stats.device, name), 0),
        )


class _Player:
    """Plays the steps of one device again: who is alive after each node."""

    def __init__(self, device: str) -> None:
        self.memory = DeviceMemory(device)
        self._live: dict[str, int] = {}  # by local variable: its buffer
        # By buffer: since which note it is there, its bytes, and who made it.
        self._there: dict[int, tuple[int, int, str]] = {}
        # Those that are gone: since when, from which note on, bytes and maker.
        self._gone: list[tuple[int, int, int, str]] = []
        self._peak_at = -1
        self._uses: dict[int, int] = {}
        self._held: dict[int, int] = {}
        self._now = 0

    def play(self, stats: NodeStats, place: _Place | None, seconds: float) -> None:
        """Goes on by one run of a node."""
        names = () if place is None else place.names
        for index, (memory, buffer, size) in enumerate(stats.buffers):
            if not memory or not buffer:
                continue
            if stats.op in _HELD or memory == "variable":
                if buffer not in self._there:
                    self._held[buffer] = size
                continue
            if buffer in self._held:
                continue
            # What has no variable is an argument of another call, and gone by now.
            name = names[index] if index < len(names) else f"{stats.node_name}:{index}"
            self._drop(name)
            self._add(name, buffer, size, f"{stats.node_name}:{index}")
        self._note(stats.node_name, seconds)
        for name in () if place is None else place.drops:
            self._drop(name)
        self.memory.held = sum(self._held.values())

    def _add(self, name: str, buffer: int, size: int, output: str) -> None:
        self._live[name] = buffer
        self._uses[buffer] = self._uses.get(buffer, 0) + 1
        if self._uses[buffer] == 1:
            self._there[buffer] = len(self.memory.timeline), size, output
            self._now += size

    def _drop(self, name: str) -> None:
        buffer = self._live.pop(name, None)
        if buffer is None:
            return
        self._uses[buffer] -= 1
        if not self._uses[buffer]:
            born, size, output = self._there.pop(buffer)
            self._gone.append((born, len(self.memory.timeline), size, output))
            self._now -= size
            del self._uses[buffer]

    def _note(self, node: str, seconds: float) -> None:
        memory = self.memory
        memory.timeline.append((seconds, node, self._now))
        if self._now > memory.peak:
            memory.peak, memory.peak_node = self._now, node
            self._peak_at = len(memory.timeline) - 1

    def ended(self) -> DeviceMemory:
        """The memory over the whole step, with the values at its peak."""
        at = self._peak_at
        alive = [
            (output, size)
            for born, died, size, output in self._gone
            if born <= at < died
        ]
        alive += [
            (node, size) for born, size, node in self._there.values() if born <= at
        ]
        self.memory.peak_values = sorted(alive, key=lambda value: -value[1])[:_MOST]
        return self.memory
