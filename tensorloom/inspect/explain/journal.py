"""The journal of one step: all that master and passes told of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.inspect.explain.differences import Difference, difference

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.runtime.stage_journal import Rewrite


@dataclass(slots=True)
class Stage:
    """One stage: the graphs before and after it, which nobody changes any more."""

    name: str
    function: str  # whose body was rewritten; "" for the step's graph
    before: GraphIR
    after: GraphIR
    rewrites: list[Rewrite]
    seconds: float  # since the stage before ended
    _difference: Difference | None = None

    @property
    def difference(self) -> Difference:
        """What the stage changed; found when it is first asked for."""
        if self._difference is None:
            self._difference = difference(self.before.nodes, self.after.nodes)
        return self._difference


@dataclass(slots=True)
class Part:
    """What one task was given of the placed graph, and made of it."""

    task: str
    graph: GraphIR
    registered: Any


@dataclass(slots=True)
class Placement:
    """Where a node is, and why."""

    device: str
    reason: str


@dataclass(slots=True)
class Journal:
    """Implements `StageJournal`: it keeps what it is told."""

    stages: list[Stage] = field(default_factory=list)
    placements: dict[str, Placement] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    function: str = ""
    #: What is not told of the step, and why, in sentences.
    notes: list[str] = field(default_factory=list)
    #: Whether the step failed before its parts were told: nobody knows its nodes' ends.
    is_broken_off: bool = False
    _rewrites: list[Rewrite] = field(default_factory=list)
    _ended: list[float] = field(default_factory=lambda: [time.perf_counter()])

    def stage(self, name: str, before: GraphIR, after: GraphIR) -> None:
        """See `StageJournal.stage`."""
        now = time.perf_counter()
        stage = Stage(
            name, self.function, before, after, self._rewrites, now - self._ended[0]
        )
        self._ended[0] = now
        self._rewrites = []
        self.stages.append(stage)

    def rewrite(self, rewrite: Rewrite) -> None:
        """See `StageJournal.rewrite`."""
        self._rewrites.append(rewrite)

    def in_function(self, name: str) -> Journal:
        """A journal that writes into the same list of stages."""
        return Journal(
            self.stages,
            self.placements,
            self.parts,
            name,
            self.notes,
            _ended=self._ended,
        )

    def placement(self, node: Node, device: str, reason: str) -> None:
        """See `StageJournal.placement`."""
        self.placements[node.name] = Placement(device, reason)

    def part(self, task: str, graph: GraphIR, registered: Any) -> None:
        """See `StageJournal.part`."""
        self.parts.append(Part(task, graph, registered))
