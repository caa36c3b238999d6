"""Stages that a program swaps for its own: placers, placed passes, schedules.

One never joins by being imported: a session uses it when its config names it, in
`graph_options.rewrite_options.custom_optimizers`, as it does passes
(`master/optimize/custom_passes.py`). The names of all kinds are one space.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


@dataclass(frozen=True, slots=True)
class Wish:
    """Where a placer wants a node, and why."""

    device: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Wishes, and the order in which the nodes are to run."""

    wishes: Mapping[str, str | Wish]
    order: Sequence[str]  # of all nodes, a topological one


#: From an optimized graph and the session's devices, and the costs of nodes where the
#: placer asks for them, to device names of nodes.
CustomPlacer = Callable[..., "Mapping[str, str | Wish] | Plan"]
#: From a placed graph to a placed graph with the same results.
PlacedPass = Callable[["GraphIR"], "GraphIR"]
#: From the nodes of one device's part to an order of their names.
Schedule = Callable[["Sequence[Node]"], "Sequence[str]"]

PLACER: Final = "placer"
PLACED_PASS: Final = "pass over placed graphs"
SCHEDULE: Final = "schedule"

_SENDS: Final = ("_Send", "_HostSend")
_RECEIVES: Final = ("_Recv", "_HostRecv")

_STAGES: dict[str, tuple[str, Any]] = {}
# Placers that ask for the costs of nodes.
_WITH_COSTS: set[str] = set()

Function = TypeVar("Function", bound=Callable[..., Any])


def placer(name: str, costs: bool = False) -> Callable[[Function], Function]:
    """Names a placer, so that a session may ask for it.

    It gets the optimized graph of a step and the session's devices, and returns the
    device of each node for which it has a wish, as a full or partial name, or as a
    `Wish` with the reason; a `Plan` also says in which order the nodes are to run. The
    wishes take the place of the nodes' device fields; the rest, colocation included, is
    the placer's of the system, and so are its errors.

    Args:
      name: of the placer.
      costs: whether it gets the costs of the nodes, too, as a third argument
        (`master/place/cost_model.py`). Then the session measures some of its first
        steps, and has them placed once more by what they took.

    Raises:
      ValueError: another stage has that name.
    """

    def register(function: Function) -> Function:
        _register(PLACER, name)(function)
        if costs:
            _WITH_COSTS.add(name)
        return function

    return register


def placed_pass(name: str) -> Callable[[Function], Function]:
    """Names a pass between placement and partition, so that a session may ask for it.

    It gets the graph with a full device name in every node, and returns another one: it
    may move nodes, or compute some on several devices instead of sending results. It
    never changes its argument.

    Raises:
      ValueError: another stage has that name.
    """
    return _register(PLACED_PASS, name)


def schedule(name: str) -> Callable[[Function], Function]:
    """Names an order of the nodes of a part, so that a session may ask for it.

    It gets the nodes of one device's part, `_Send` and `_Recv` included, in topological
    order, and returns all their names in another such order. A `_Recv` must not come
    before a `_Send` that was before it: parts could wait for each other in a circle.

    Raises:
      ValueError: another stage has that name.
    """
    return _register(SCHEDULE, name)


def _register(kind: str, name: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        if name in _STAGES:
            raise ValueError(f"the {_STAGES[name][0]} '{name}' is registered already")
        _STAGES[name] = kind, function
        return function

    return register


def remove_stage(name: str) -> None:
    """Forgets a stage; steps that were prepared with it stay as they are."""
    _STAGES.pop(name, None)
    _WITH_COSTS.discard(name)


def is_stage(name: str) -> bool:
    """Whether a stage has that name."""
    return name in _STAGES


def asked_for(kind: str, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The stages of a kind among those names, in that order."""
    for name in names:
        found = _STAGES.get(name)
        if found is not None and found[0] == kind:
            yield name, found[1]


def placers_asked_for(names: Sequence[str]) -> list[tuple[str, CustomPlacer]]:
    """The placers among those names, and the process's (TENSORLOOM_PLACEMENT).

    Raises:
      errors.InvalidArgumentError: the process's is no placer.
    """
    found = list(asked_for(PLACER, names))
    own = os.environ.get("TENSORLOOM_PLACEMENT", "")
    if own and own not in names:
        known = [name for name, (kind, _) in _STAGES.items() if kind == PLACER]
        if own not in known:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TENSORLOOM_PLACEMENT is '{own}', but the placers of this process are "
                + ", ".join(known),
            )
        found.append((own, _STAGES[own][1]))
    return found


def takes_costs(name: str) -> bool:
    """Whether the placer of that name gets the costs of nodes."""
    return name in _WITH_COSTS


def by_placer(
    name: str, graph: GraphIR, found: Mapping[str, str | Wish] | Plan
) -> tuple[GraphIR, dict[str, Wish]]:
    """The graph with what a placer wishes in place of device fields, and the wishes.

    Raises:
      errors.InvalidArgumentError: it names a node that is not there, or its order lacks
        a node, or has one before an input.
    """
    nodes = graph.nodes
    plan = found if isinstance(found, Plan) else Plan(found, list(nodes))
    if plan is found:
        _check(name, nodes, plan.order)
    for node in plan.wishes:
        if node not in nodes:
            raise errors.InvalidArgumentError(
                None, None, f"The placer '{name}' places '{node}', which is no node."
            )
    wishes = {
        node: wish if isinstance(wish, Wish) else Wish(wish)
        for node, wish in plan.wishes.items()
    }
    placed = (
        nodes[one].replace(device=wishes[one].device) if one in wishes else nodes[one]
        for one in plan.order
    )
    return graph.with_nodes(placed), wishes


def scheduled(names: Sequence[str], graph: GraphIR) -> GraphIR:
    """A part in the order of the schedules of those names.

    Raises:
      errors.InvalidArgumentError: an order lacks a node, or has it before an input, or
        a `_Recv` before a `_Send` that was before it.
    """
    for name, order in asked_for(SCHEDULE, names):
        nodes = graph.nodes
        chosen = list(order(list(nodes.values())))
        _check(name, nodes, chosen)
        graph = graph.with_nodes(nodes[one] for one in chosen)
    return graph


def _check(name: str, nodes: Mapping[str, Node], order: Sequence[str]) -> None:
    done: set[str] = set()
    for one in order:
        if one not in nodes or one in done:
            text = f"has '{one}', which is no node of the part, or has it twice"
            raise _bad(name, text)
        for producer in nodes[one].producers:
            if producer in nodes and producer not in done:
                raise _bad(name, f"has '{one}' before its input '{producer}'")
        done.add(one)
    _check_receives(name, nodes, order)
    if len(done) != len(nodes):
        missing = next(one for one in nodes if one not in done)
        raise _bad(name, f"lacks '{missing}'")


def _check_receives(name: str, nodes: Mapping[str, Node], order: Sequence[str]) -> None:
    """Whether each `_Recv` still comes after the `_Send`s that it came after."""
    sends = [one for one, node in nodes.items() if node.op in _SENDS]
    before: dict[str, int] = {}  # by `_Recv`: how many of the sends are before it
    count = 0
    for one, node in nodes.items():
        count += node.op in _SENDS
        if node.op in _RECEIVES:
            before[one] = count
    done: set[str] = set()
    first = 0  # the first send that has not come yet
    for one in order:
        if nodes[one].op in _SENDS:
            done.add(one)
            while first < len(sends) and sends[first] in done:
                first += 1
        elif before.get(one, 0) > first:
            raise _bad(
                name,
                f"has '{one}' before '{sends[first]}', and could wait for ever for "
                "what stands on that",
            )


def _bad(name: str, text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None, None, f"The order that '{name}' gives {text}."
    )
