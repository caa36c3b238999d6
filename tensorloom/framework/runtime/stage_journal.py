"""What is told, stage by stage, of a step that somebody wants explained.

Master and passes tell a journal what they did, if they were given one: a step that
nobody explains has none, and costs nothing more. `inspect/explain/` keeps journals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A node that a pass removed, or whose work another node does from then on."""

    kind: str  # "replaced", "bypassed", "merged", "redirected" or "fused"
    node: str
    by: tuple[str, ...]  # the nodes that stand in for it
    rule: str = ""  # of the pass, where it has several


class StageJournal(Protocol):
    """Is told of each stage in its order, in the thread that prepares the step."""

    def stage(self, name: str, before: GraphIR, after: GraphIR) -> None:
        """A stage made one graph of another; both stay as they are."""
        ...

    def rewrite(self, rewrite: Rewrite) -> None:
        """The pass whose stage ends next did this to a node."""
        ...

    def in_function(self, name: str) -> StageJournal:
        """The journal of the passes over the body of a function."""
        ...

    def placement(self, node: Node, device: str, reason: str) -> None:
        """A node goes to a device, and why."""
        ...

    def part(self, task: str, graph: GraphIR, registered: Any) -> None:
        """A task was given a part of the placed graph.

        Args:
          task: its name.
          graph: its part.
          registered: what its worker made of it (`interfaces.RegisteredGraph`).
        """
        ...
