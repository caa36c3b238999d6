"""What became of each node of the user's graph, and which stage and rule did it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.runtime.stage_journal import Rewrite
    from tensorloom.inspect.explain.journal import Journal, Stage

#: Every node of the graph ends in one of these ways.
KEPT: Final = "kept"  # it runs, as the program said
CHANGED: Final = "changed"  # it runs under its name, as another op
FOLDED: Final = "folded"  # its value was computed beforehand
FUSED: Final = "fused"  # another node does its work along with its own
MERGED: Final = "merged"  # another node computed the same of the same
REPLACED: Final = "replaced"  # another output is equal to its own
MOVED: Final = "moved"  # it runs in a function, such as a branch or the body of a loop
UNREAD: Final = "unread"  # after other rewrites nobody needed it
FED: Final = "fed"  # its value came with the step
PRUNED: Final = "pruned"  # no fetch or target needs it
TAKEN_OUT: Final = "taken out"  # by a master that does not tell its passes
NOT_KNOWN: Final = "not known"  # the step failed before that was decided, or told

WAYS: Final = (
    *(KEPT, CHANGED, FOLDED, FUSED, MERGED, REPLACED, MOVED, UNREAD, FED, PRUNED),
    *(TAKEN_OUT, NOT_KNOWN),
)

#: The stage in which a master elsewhere does all that it does.
MASTER: Final = "master"

_OF_REWRITE = {
    "replaced": REPLACED,
    "bypassed": REPLACED,
    "merged": MERGED,
    "redirected": REPLACED,
    "fused": FUSED,
}


@dataclass(frozen=True, slots=True)
class Fate:
    """How one node ended."""

    way: str  # one of `WAYS`
    stage: str = ""  # the stage that did it; "" where none did anything
    rule: str = ""  # of a pass with several rules
    by: tuple[str, ...] = ()  # the nodes that stand in for it
    detail: str = ""

    def __str__(self) -> str:
        text = self.way
        if self.by:
            text += f" into {', '.join(self.by[:3])}"
        if self.stage:
            text += f" by {self.stage}" + (f" ({self.rule})" if self.rule else "")
        return text + (f": {self.detail}" if self.detail else "")


def fates(journal: Journal, fed: Iterable[str]) -> dict[str, Fate]:
    """The fate of each node of the graph that the session held.

    Args:
      journal: of the step.
      fed: the names of the tensors that were fed.
    """
    own = [stage for stage in journal.stages if not stage.function]
    if not own:
        return {}
    built = own[0].before
    fed_nodes = {name.rpartition(":")[0] for name in fed}
    ends = _ends(own)
    found = _Fates(built.nodes, own, ends, fed_nodes).all()
    if journal.is_broken_off:
        after = f"the step failed after {own[-1].name}"
        for name, fate in found.items():
            if fate.way in (KEPT, CHANGED):
                found[name] = Fate(NOT_KNOWN, detail=after)
    return found


def fates_in_functions(journal: Journal) -> dict[str, dict[str, Fate]]:
    """By function, as it came to the passes: the fate of each node of its body."""
    found: dict[str, dict[str, Fate]] = {}
    own = [stage for stage in journal.stages if not stage.function]
    last = own[-1].after if own else None
    for name in dict.fromkeys(s.function for s in journal.stages if s.function):
        stages = [stage for stage in journal.stages if stage.function == name]
        before = {
            n: node
            for n, node in stages[0].before.nodes.items()
            if node.op not in ("_Arg", "_Retval")
        }
        final = None if last is None else last.functions.get(name)
        ends = _ends(stages) if final is None else final.nodes
        found[name] = _Fates(before, stages, ends, set()).all()
    return found


def _ends(stages: list[Stage]) -> Mapping[str, Node]:
    return stages[-1].after.nodes


class _Fates:
    """The fates of the nodes of one graph, through its stages."""

    def __init__(
        self,
        built: Mapping[str, Node],
        stages: list[Stage],
        ends: Mapping[str, Node],
        fed: set[str],
    ) -> None:
        self._built = built
        self._stages = stages
        self._ends = ends
        self._fed = fed
        self._rewrites: dict[str, list[tuple[int, Rewrite]]] = {}
        for number, stage in enumerate(stages):
            for rewrite in stage.rewrites:
                self._rewrites.setdefault(rewrite.node, []).append((number, rewrite))
        self._readers: dict[int, dict[str, list[str]]] = {}
        # By node: the first stage after which it is not there.
        self._gone: dict[str, int] = {}
        for number, stage in enumerate(stages):
            for name in stage.before.nodes:
                if name not in stage.after.nodes:
                    self._gone.setdefault(name, number)

    def all(self) -> dict[str, Fate]:
        return {name: self._fate(node) for name, node in self._built.items()}

    def _fate(self, node: Node) -> Fate:
        end = self._ends.get(node.name)
        if end is not None:
            return self._fate_of_kept(node, end)
        number = self._gone.get(node.name)
        if number is None:
            return Fate(PRUNED, detail="it is not part of the step")
        stage = self._stages[number]
        if stage.name == "prune":
            if node.name in self._fed:
                return Fate(FED, "prune", detail="its value is fed")
            return Fate(PRUNED, "prune", detail="no fetch or target needs it")
        if stage.name == MASTER:
            return Fate(TAKEN_OUT, MASTER, detail="it did not tell by which pass")
        rewrites = [r for r in self._rewrites.get(node.name, ()) if r[0] <= number]
        if rewrites:
            when, rewrite = rewrites[-1]
            folded = self._stages[when].name == "constant_folding"
            way = FOLDED if folded else _OF_REWRITE[rewrite.kind]
            standing = self._standing(rewrite.by)
            details = [] if standing == rewrite.by else [f"by way of {rewrite.by[0]}"]
            if standing and not any(name in self._ends for name in standing):
                details.append("which nobody needed in the end")
            detail = ", ".join(details)
            return Fate(way, self._stages[when].name, rewrite.rule, standing, detail)
        place = _function_with(node.name, stage.after)
        if place is not None and stage.name == "functionalize":
            return Fate(MOVED, stage.name, by=(place,), detail="a function's body")
        return Fate(UNREAD, stage.name, detail=self._why_unread(node.name, number))

    def _fate_of_kept(self, node: Node, end: Node) -> Fate:
        if end.op == node.op:
            return Fate(KEPT)
        for stage in self._stages:
            before, after = (
                g.nodes.get(node.name) for g in (stage.before, stage.after)
            )
            if before is None or after is None or before.op == after.op:
                continue
            if after.op == end.op:
                if end.op == "Const":
                    return Fate(FOLDED, stage.name, detail="its value is known")
                if end.op == "NoOp":
                    detail = "others only wait for it, nobody reads its value"
                    return Fate(CHANGED, stage.name, detail=detail)
                return Fate(CHANGED, stage.name, detail=f"it is a {end.op} now")
        return Fate(CHANGED, detail=f"it is a {end.op} now")

    def _standing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """What stands in at the end for nodes that were rewritten themselves."""
        found: dict[str, None] = {}
        stack, seen = list(reversed(names)), set(names)
        while stack:
            name = stack.pop()
            rewrites = self._rewrites.get(name)
            if name in self._ends or not rewrites:
                found[name] = None
                continue
            for other in reversed(rewrites[-1][1].by):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return tuple(found)

    def _why_unread(self, name: str, number: int) -> str:
        """Who read it when somebody last did, and what became of those."""
        for earlier in range(number, -1, -1):
            readers = self._readers_in(earlier).get(name)
            if readers:
                told = ", ".join(
                    f"{r} ({self._short(r)})" for r in dict.fromkeys(readers[:3])
                )
                more = len(readers) - 3
                return f"it was for {told}" + (f" and {more} more" if more > 0 else "")
        return "nobody reads it"

    def _short(self, reader: str) -> str:
        if reader in self._ends:
            end, began = self._ends[reader], self._built.get(reader)
            return (
                "a constant now"
                if end.op == "Const"
                else "which does without it"
                if began is None or began.op == end.op
                else f"a {end.op} now"
            )
        rewrites = self._rewrites.get(reader)
        return _OF_REWRITE[rewrites[-1][1].kind] if rewrites else "unread too"

    def _readers_in(self, number: int) -> dict[str, list[str]]:
        known = self._readers.get(number)
        if known is None:
            known = self._readers[number] = {}
            for node in self._stages[number].before.nodes.values():
                for producer in node.producers:
                    known.setdefault(producer, []).append(node.name)
        return known


def _function_with(name: str, graph: GraphIR) -> str | None:
    """The function in whose body there is a node of that name."""
    for function in graph.functions.values():
        if name in function.nodes:
            return function.name
    return None
