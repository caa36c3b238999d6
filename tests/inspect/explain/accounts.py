"""An explanation held against what can be counted without it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.inspect.explain import fates
from tensorloom.inspect.explain.html_page import page

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.inspect.explain.explanation import Explanation
    from tensorloom.inspect.explain.fates import Fate

_GONE = (fates.FUSED, fates.MERGED, fates.REPLACED)
_OF_TRANSFERS = ("_Send", "_Recv", "_HostSend", "_HostRecv")


def problems(e: Explanation) -> list[str]:
    """What an explanation leaves out, or says and is not so."""
    found = []
    built, ends = e.built.nodes, _ends(e)
    if e.fates.keys() != built.keys():
        found.append(f"not accounted for: {sorted(built.keys() ^ e.fates.keys())}")
    if sum(e.counts().values()) != len(built):
        found.append(f"{e.counts()} are not {len(built)}")
    live = reachable(e.built, e)
    made = {name for stage in e.stages for name in stage.after.nodes}
    known = made.union(ends)
    for name, fate in e.fates.items():
        if not _is_so(name, fate, e, ends, live, known):
            found.append(f"{name} ({built[name].op}) is not {fate}")
    found += [
        f"{name} ({node.op}) comes from nowhere"
        for name, node in ends.items()
        if name not in built and name not in made and not _is_of_a_transfer(node)
    ]
    for function, body in e.fates_in_functions.items():
        found += [f"{function}: {n} {f}" for n, f in body.items() if not f.way]
    return found + _figures(e)


def _is_of_a_transfer(node: Any) -> bool:
    """Whether the partitioner made a node: a transfer, or what a control edge sends."""
    return node.op in _OF_TRANSFERS or bool(re.search(r"_[GS]\d+_control$", node.name))


def _ends(e: Explanation) -> dict[str, Any]:
    """What the tasks were given, as the parts of their devices or whole."""
    return {
        name: node for part in e.parts.values() for name, node in part.nodes.items()
    }


def reachable(graph: GraphIR, e: Explanation) -> set[str]:
    """The nodes that fetches and targets need, given the feeds."""
    fed = set(e.signature.feeds)
    stack = [name.rpartition(":")[0] for name in e.signature.fetches]
    stack = [*stack, *e.signature.targets]
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        is_fed = any(feed.rpartition(":")[0] == name for feed in fed)
        if is_fed and node.op.startswith("Placeholder"):
            continue
        stack += [n for n, output in node.inputs if f"{n}:{output}" not in fed]
        stack += node.control_inputs
    return seen


def _is_so(
    name: str,
    fate: Fate,
    e: Explanation,
    ends: dict[str, Any],
    live: set[str],
    known: set[str],
) -> bool:
    """Whether a node ended as it is told. `known` are nodes that there ever were."""
    op = e.built.nodes[name].op
    end = ends[name].op if name in ends else None
    if fate.way == fates.KEPT:
        return end == op
    if fate.way == fates.CHANGED:
        return end is not None and end != op
    if fate.way == fates.FOLDED:
        return end == "Const" or _are_there(fate.by, known)
    if fate.way in _GONE:
        return end is None and _are_there(fate.by, known)
    if fate.way == fates.MOVED:
        return end is None and len(fate.by) == 1
    if fate.way == fates.FED:
        return any(feed.rpartition(":")[0] == name for feed in e.signature.feeds)
    if fate.way == fates.PRUNED:
        # Of branches only what is read stays, and what that needs.
        return end is None and (name not in live or bool(e.built.functions))
    return fate.way == fates.UNREAD and end is None and name in live


def _are_there(by: tuple[str, ...], known: set[str]) -> bool:
    """Whether there are such nodes at the end, or were until nobody needed them."""
    return bool(by) and known.issuperset(by)


def _figures(e: Explanation) -> list[str]:
    found = []
    receives = [
        node
        for part in e.parts.values()
        for node in part.nodes.values()
        if node.op in ("_Recv", "_HostRecv") and not node.attrs["client_terminated"]
    ]
    if len(e.transfers) != len(receives):
        found.append(f"{len(e.transfers)} transfers of {len(receives)}")
    traced = {(s.node_name, s.device): s for s in e.stats}
    for transfer in e.transfers:
        told = traced.get((transfer.recv, transfer.target))
        if told is None or not told.outputs or transfer.dtype in ("string", "resource"):
            continue
        dtype, shape, _ = told.outputs[0]
        if dtype != "variant" and not dtype.startswith(("q", "bfloat", "string")):
            expected = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            if transfer.size != expected:
                found.append(f"{transfer} has {expected} bytes")
    if e.times is not None:
        busy = sum(s.end_ns - s.start_ns for s in e.stats) / 1e9
        if abs(sum(n.seconds for n in e.times.nodes) - busy) > 1e-6 * len(e.stats):
            found.append("the times of nodes are not those of the trace")
        if sum(node.runs for node in e.times.nodes) != len(e.stats):
            found.append("the runs of nodes are not those of the trace")
    for memory in e.memory.devices:
        if memory.peak != max((size for _, _, size in memory.timeline), default=0):
            found.append(f"the peak of {memory.device} is another one")
        if sum(size for _, size in memory.peak_values) > memory.peak:
            found.append(
                f"the values at the peak of {memory.device} are larger than it"
            )
    return found


def says_all(e: Explanation) -> None:
    """Has every text made of an explanation."""
    json.dumps(e.as_dict())
    assert str(e)
    assert page(e, "title")
    for name in list(e.built.nodes)[:20]:
        assert e.node(name)
