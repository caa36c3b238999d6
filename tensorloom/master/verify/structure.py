"""Compares graphs across functions: where bodies are made, changed or dissolved.

Pruning, functional control flow made of the classic one, the reverse, and variables of
loops that stay as they were: the nodes are the same before and after, elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.functions.called_functions import names_called
from tensorloom.framework.functions.functional_op_types import LOOPS
from tensorloom.framework.graph.graph_ir import (
    Edge,
    GraphIR,
    Node,
    sort_topologically,
)
from tensorloom.master.lower.task_spans import functions_of, skipped_inputs
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.verify.flat_sources import (
    SourceNames,
    Sources,
    without_back_edges,
)
from tensorloom.master.verify.flat_view import ONE_OF, PASSES_ON, FlatView, flat_view
from tensorloom.master.verify.graph_facts import BitNumbers, GraphFacts, facts_of
from tensorloom.master.verify.verifier import different_inputs

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.interfaces import StepSignature

# What moves between functions may become an Identity, or no node at all.
_PASSING: Final = CONTROL_FLOW | {"Identity", "NoOp", PASSES_ON, ONE_OF}


def check_structure(
    run_pass: str,
    before: GraphIR,
    after: GraphIR,
    preserve: Collection[str] = (),
    *,
    own_names: bool = True,
) -> None:
    """Compares two graphs and the bodies that they call.

    Args:
      preserve: nodes that must stay, under their names.
      own_names: what came from the graph into a body is called there as it was.

    Raises:
      errors.InternalError: the pass broke a rule; the message names it, the rule and
        the nodes.
    """
    if before is after:
        return
    problem = next(_problems(before, after, preserve, own_names), None)
    if problem is not None:
        raise errors.InternalError(
            None, None, f"Graph pass '{run_pass}' broke the rule of {problem}."
        )


def check_pruned(before: GraphIR, after: GraphIR, signature: StepSignature) -> None:
    """Compares a session's graph, cut at feeds and fetches, with what is left of it.

    Raises:
      errors.InternalError: as `check_structure` does.
    """
    ends = _with_ends(before, after, signature)
    check_structure("prune", ends, after, signature.targets)


def _with_ends(before: GraphIR, after: GraphIR, signature: StepSignature) -> GraphIR:
    """The whole graph with the feeds and fetches of a pruned one."""
    given = [n for n in after.nodes.values() if n.op == "_Arg"]
    taken = [n for n in after.nodes.values() if n.op == "_Retval"]
    feeds = dict(zip(map(_edge_of, signature.feeds), given, strict=True))
    names = {name for name, _ in feeds}
    unfed = {n for n in names if not before.nodes[n].op.startswith("Placeholder")}
    nodes = {node.name: node for node in given}
    for name, node in before.nodes.items():
        inputs = tuple((feeds[e].name, 0) if e in feeds else e for e in node.inputs)
        waits = tuple(n for n in node.control_inputs if n not in names or n in unfed)
        nodes[name] = node.replace(inputs=inputs, control_inputs=waits)
    for name, node in zip(dict.fromkeys(signature.fetches), taken, strict=True):
        nodes[node.name] = node.replace(inputs=(_edge_of(name),))
    return before.with_nodes(nodes.values())


def _edge_of(name: str) -> Edge:
    node, colon, index = name.rpartition(":")
    return (node, int(index)) if colon and index.isdecimal() else (name, 0)


# --- the rules ------------------------------------------------------------------------


def _problems(
    before: GraphIR, after: GraphIR, preserve: Collection[str], own_names: bool
) -> Iterator[str]:
    for rule in (_signatures, _inputs):
        known_before = set(rule(before))
        yield from (p for p in rule(after) if p not in known_before)
    names = SourceNames()
    old, new = _Side(before, own_names, names), _Side(after, own_names, names)
    for name in old.roots(preserve):
        if name not in new.view.nodes and old.view.nodes[name].op not in CONTROL_FLOW:
            yield f"fetches: node '{name}' must stay, and is gone"
    needed = old.view.needed(old.roots(preserve))
    still = new.view.needed(new.roots(preserve))
    bits = BitNumbers()
    known, found = facts_of(old.graph, bits), facts_of(new.graph, bits)
    yield from _effects(old, new, known, needed)
    yield from _orders(known, found, bits, needed, still)
    effects = [n for n in known.effects if n in needed and n in new.view.nodes]
    if effects:
        yield from _conditions(old, new, effects, names)
    yield from _values(old, new, needed, names)


class _Side:
    """What is known of one of the graphs."""

    def __init__(self, graph: GraphIR, own_names: bool, names: SourceNames) -> None:
        self.view: FlatView = flat_view(graph, own_names=own_names)
        straight = without_back_edges(GraphIR(self.view.nodes, graph.functions))
        try:
            ordered = sort_topologically(straight.nodes)
        except errors.InvalidArgumentError:
            # What enters a loop waits for what leaves it: interpreted, it may.
            ordered = sort_topologically(self.view.nodes)
        self.graph = straight.with_nodes(ordered)
        self.sources = Sources(self.view, self.graph, names)

    def roots(self, preserve: Collection[str]) -> list[str]:
        """What must stay."""
        nodes = self.view.nodes
        kept = [name for name in preserve if name in nodes]
        return kept + [name for name, node in nodes.items() if node.op == "_Retval"]


def _signatures(graph: GraphIR) -> Iterator[str]:
    """Calls give functions what they take, and take what they give."""
    bodies: list[tuple[str, Mapping[str, Node], Mapping[str, Any]]] = [
        ("", graph.nodes, {})
    ]
    pending, seen = names_called(graph.nodes.values(), graph.functions), set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        function = graph.functions[name]
        pending += names_called(function.nodes.values(), graph.functions)
        if function.problem is None:
            types = dict(zip(function.arg_names, function.arg_types, strict=True))
            bodies.append((name, function.nodes, types))
    for place, nodes, arguments in bodies:
        for node in nodes.values():
            for function in functions_of(node, graph.functions) or ():
                problem = _misfit(node, function, nodes, arguments)
                if problem is not None:
                    inside = f" in '{place}'" if place else ""
                    yield f"types: node '{node.name}' ({node.op}){inside} {problem}"


def _misfit(
    node: Node,
    function: FunctionIR,
    nodes: Mapping[str, Node],
    arguments: Mapping[str, Any],
) -> str | None:
    given = []
    for name, index in node.inputs[skipped_inputs(node) :]:
        if name in arguments:
            given.append(arguments[name].base_dtype)
        elif name in nodes and index < len(nodes[name].output_types):
            given.append(nodes[name].output_types[index].base_dtype)
        else:
            return f"takes '{name}:{index}', which does not exist"
    wanted = [t.base_dtype for t in function.arg_types]
    if given != wanted:
        return (
            f"gives {[t.name for t in given]} to '{function.name}', which takes "
            f"{[t.name for t in wanted]}"
        )
    is_test = node.op in LOOPS and function.name == node.attrs["cond"].name
    gives = [t.base_dtype for t in function.output_types]
    takes = [t.base_dtype for t in node.output_types]
    if not is_test and gives != takes:
        return (
            f"takes {[t.name for t in takes]} of '{function.name}', which gives "
            f"{[t.name for t in gives]}"
        )
    return None


def _inputs(graph: GraphIR) -> Iterator[str]:
    """Inputs exist, in bodies as well."""
    bodies = [("", graph.nodes, frozenset[str]())]
    for name in names_called(graph.nodes.values(), graph.functions):
        function = graph.functions[name]
        if function.problem is None:
            bodies.append((name, function.nodes, frozenset(function.arg_names)))
    for place, nodes, arguments in bodies:
        inside = f" in '{place}'" if place else ""
        for node in nodes.values():
            for producer in node.producers:
                if producer not in nodes and producer not in arguments:
                    yield (
                        f"inputs: node '{node.name}'{inside} needs '{producer}', "
                        "which is gone"
                    )


def _effects(
    old: _Side, new: _Side, facts: GraphFacts, needed: set[str]
) -> Iterator[str]:
    """Every effect that was needed is there, once."""
    for name in facts.effects:
        if name not in needed:
            continue
        node = old.view.nodes[name]
        there = new.view.nodes.get(name)
        if there is None or there.op != node.op:
            yield f"effects: node '{name}' ({node.op}) is gone"
        elif name in new.view.twice:
            yield f"effects: node '{name}' ({node.op}) is there twice"


def _orders(
    before: GraphFacts,
    after: GraphFacts,
    bits: BitNumbers,
    needed: set[str],
    still: set[str],
) -> Iterator[str]:
    """What was ordered is: two effects, or an effect and a read.

    Args:
      needed, still: the nodes that were needed, and are.
    """
    present = 0
    marked = dict.fromkeys((*before.effects, *before.reads))
    for name in marked:
        is_there = name in after.effects or (name in after.reads and name in still)
        if name in needed and is_there:
            present |= bits.bit(name)
    for name in marked:
        if not present & bits.bit(name):
            continue
        wanted = before.before[name] & present & ~bits.bit(name)
        if name not in before.effects:
            wanted &= before.effect_bits
        missing = wanted & ~after.before[name]
        if missing:
            first = bits.names(missing)[0]
            op = before.nodes[name].op
            yield f"order: '{name}' ({op}) came after '{first}', and no longer does"


def _conditions(
    old: _Side, new: _Side, effects: Sequence[str], names: SourceNames
) -> Iterator[str]:
    """An effect is in the branches in which it was."""
    before, after = old.sources.conditions(), new.sources.conditions()
    for name in effects:
        first, second = before[name], after[name]
        if first == second or any(s is None for s, _ in (*first, *second)):
            continue
        yield (
            f"conditions: '{name}' ({old.view.nodes[name].op}) ran under "
            f"{_told(first, names)}, and now does under {_told(second, names)}"
        )


def _told(condition: Collection[tuple[Any, int]], names: SourceNames) -> str:
    """A condition in words."""
    told = sorted(f"{names.told(source)} = {outcome}" for source, outcome in condition)
    return " and ".join(told) if told else "no condition"


def _values(
    old: _Side, new: _Side, needed: set[str], names: SourceNames
) -> Iterator[str]:
    """What is there before and after takes the same values, of the same dtypes."""
    for name, now in new.view.nodes.items():
        was = old.view.nodes.get(name)
        if was is None or was.op != now.op or was.op in _PASSING:
            continue
        if name not in needed or name in new.view.twice:
            continue
        problem = different_inputs(was, now, old.view.nodes, new.view.nodes)
        if problem is not None:
            yield f"types: node '{name}' ({now.op}) {problem}"
            continue
        for then, there in zip(was.inputs, now.inputs, strict=True):
            first, second = old.sources.of(then), new.sources.of(there)
            if first != second and first is not None and second is not None:
                yield (
                    f"values: '{name}' ({now.op}) took {names.told(first)}, and takes "
                    f"{names.told(second)}"
                )
    steps = new.sources.steps(needed | new.view.nodes.keys())
    for variable, following in old.sources.steps(needed).items():
        others = steps.get(variable, set())
        if not following <= others and None not in following | others:
            yield (f"values: {names.told(variable)} has another next value, or none")
