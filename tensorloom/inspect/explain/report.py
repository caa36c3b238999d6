"""Explanations as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.inspect.explain.differences import described
from tensorloom.inspect.explain.transfers import RECEIVES, transfer_text

if TYPE_CHECKING:
    from tensorloom.inspect.explain.explanation import Explanation
    from tensorloom.inspect.explain.journal import Stage
    from tensorloom.inspect.explain.times import NodeTime

_MOST = 10  # lines of a list in the summary


def summary(explanation: Explanation) -> Iterator[str]:
    """What became of the step, on a screen or two."""
    yield from _signature(explanation)
    yield from explanation.notes
    yield ""
    yield from _stages(explanation)
    yield ""
    yield from _ways(explanation)
    yield ""
    yield from _devices(explanation)
    if explanation.transfers:
        yield ""
        yield from _transfers(explanation)
    if explanation.times is not None:
        yield ""
        yield from _times(explanation)
        yield ""
        yield from _memory(explanation)


def _signature(explanation: Explanation) -> Iterator[str]:
    signature = explanation.signature
    for name, values in (
        ("fetches", signature.fetches),
        ("targets", signature.targets),
        ("feeds", signature.feeds),
    ):
        if values:
            more = len(values) - _MOST
            text = ", ".join(values[:_MOST]) + (f" and {more} more" if more > 0 else "")
            yield f"{name:9}{text}"


def _stages(explanation: Explanation) -> Iterator[str]:
    built = len(explanation.built.nodes)
    yield "stage                         nodes  removed  added  changed        ms"
    yield f"{'build':28}{built:7}"
    inside: Counter[str] = Counter()
    for stage in explanation.stages:
        if stage.function:
            inside[stage.function] += 1
            continue
        if inside:
            yield f"  (the same passes in {len(inside)} functions)"
            inside.clear()
        found = stage.difference
        if found.is_empty and stage.name != "prune":
            continue
        yield (
            f"{stage.name:28}{len(stage.after.nodes):7}{len(found.removed):9}"
            f"{len(found.added):7}{len(found.changed):9}{stage.seconds * 1e3:10.2f}"
        )
    quiet = [
        stage.name
        for stage in explanation.stages
        if not stage.function and stage.difference.is_empty
    ]
    if quiet:
        yield f"without effect here: {', '.join(dict.fromkeys(quiet))}"


def _ways(explanation: Explanation) -> Iterator[str]:
    counts = explanation.counts()
    told = ", ".join(f"{count} {way}" for way, count in counts.items() if count)
    yield f"the {sum(counts.values())} nodes of the graph: {told}"
    for function, body in explanation.fates_in_functions.items():
        counts_inside = Counter(fate.way for fate in body.values())
        told = ", ".join(f"{n} {way}" for way, n in counts_inside.items())
        yield f"  in {function}: {told or 'no nodes'}"


def _devices(explanation: Explanation) -> Iterator[str]:
    yield "device                                             nodes  program lines"
    lines: Counter[str] = Counter()
    for function in explanation.functions:
        lines[function.device] += len(function.lines)
    for device, graph in explanation.parts.items():
        yield f"{device:50}{len(graph.nodes):6}{lines[device]:15}"


def _transfers(explanation: Explanation) -> Iterator[str]:
    known = sum(t.size or 0 for t in explanation.transfers)
    count = len(explanation.transfers)
    yield f"{count} tensors cross devices, {known} bytes that are known"
    ranked = sorted(explanation.transfers, key=lambda t: -(t.size or 0))
    yield from _few([transfer_text(t) for t in ranked])


def _times(explanation: Explanation) -> Iterator[str]:
    times = explanation.times
    assert times is not None
    waits = [node for node in times.nodes if node.op in RECEIVES]
    work = [node for node in times.nodes if node.op not in RECEIVES]
    busy, waited = (sum(n.seconds for n in nodes) for nodes in (work, waits))
    yield (
        f"one traced step took {times.step * 1e3:.3f} ms; "
        f"its nodes {busy * 1e3:.3f} ms in all"
    )
    lines = _lines_of_nodes(explanation)

    def told(node: NodeTime, share: str) -> str:
        return (
            f"{node.seconds * 1e6:10.1f} us {share}  {node.node} ({node.op})"
            + (f", {node.runs} runs" if node.runs > 1 else "")
            + (f"  {lines[node.node]}" if lines.get(node.node) else "")
        )

    yield from _few([told(n, f"{100 * n.seconds / (busy or 1):5.1f} %") for n in work])
    if waits:
        yield f"waits for other devices, {waited * 1e3:.3f} ms in all"
        yield from _few([told(node, "") for node in waits])


def _lines_of_nodes(explanation: Explanation) -> dict[str, str]:
    """The user's line of each node, of the graph and of what passes made."""
    built = {
        node.name: line
        for node in explanation.built.nodes.values()
        if (line := node.source_line()) is not None
    }
    return built | {
        line.node: line.source
        for function in explanation.functions
        for line in function.lines
        if line.node is not None and line.source is not None
    }


def _memory(explanation: Explanation) -> Iterator[str]:
    for device in explanation.memory.devices:
        yield (
            f"{device.device}: peak {device.peak} bytes after "
            f"{device.peak_node or 'no node'}; {device.held} bytes of variables, "
            "feeds and constants beside it"
        )
        yield from _few(
            [f"{size:12} bytes  {name}" for name, size in device.peak_values]
        )


def _few(lines: list[str]) -> Iterator[str]:
    for line in lines[:_MOST]:
        yield f"  {line}"
    if len(lines) > _MOST:
        yield f"  and {len(lines) - _MOST} more"


# --- one stage, one node ---------------------------------------------------------


def stage_lines(explanation: Explanation, name: str) -> Iterator[str]:
    """A stage: the whole graph after it, or the programs (`compile`), or the parts.

    Raises:
      KeyError: there is no such stage.
    """
    if name == "compile":
        yield from _programs(explanation)
        return
    if name == "partition":
        for device, graph in explanation.parts.items():
            yield f"{device}:"
            for node in graph.nodes.values():
                yield f"  {described(node)}"
        return
    if name not in explanation.graphs:
        known = ", ".join([*explanation.graphs, "partition", "compile"])
        raise KeyError(f"No stage '{name}'. The stages of this step: {known}")
    graph = explanation.graphs[name]
    for node in graph.nodes.values():
        placed = explanation.journal.placements.get(node.name)
        where = (
            f"  @ {placed.device}: {placed.reason}"
            if name == "place" and placed
            else ""
        )
        yield described(node) + where
    for function in graph.functions.values():
        yield f"function {function.name}({', '.join(function.arg_names)}):"
        for node in function.nodes.values():
            yield f"  {described(node)}"


def _programs(explanation: Explanation) -> Iterator[str]:
    for function in explanation.functions:
        yield f"{function.device}:"
        width = min(72, max((len(line.text) for line in function.lines), default=0))
        for line in function.lines:
            text = f"{line.number:5} {line.text:{width}}"
            if line.node is not None:
                text += f"  # {line.node} ({line.op})"
            if line.source is not None:
                text += f" {line.source}"
            yield text.rstrip()


def node_lines(explanation: Explanation, name: str) -> Iterator[str]:
    """The whole life of a node.

    Raises:
      KeyError: there is no such node.
    """
    events = explanation.node(name)
    width = max(len(event.stage) for event in events)
    for event in events:
        yield f"{event.stage:{width}}  {event.text}"


def diff_lines(explanation: Explanation, name: str) -> Iterator[str]:
    """What a pass did, in the graph and in each function.

    Raises:
      KeyError: there is no such stage.
    """
    explanation.diff(name) if any(
        not s.function and s.name == name for s in explanation.stages
    ) else _check_known(explanation, name)
    for stage in explanation.stages:
        if stage.name == name:
            yield from _diff(stage)


def _check_known(explanation: Explanation, name: str) -> None:
    if not any(stage.name == name for stage in explanation.stages):
        explanation.diff(name)


def _diff(stage: Stage) -> Iterator[str]:
    from tensorloom.inspect.explain.differences import changes

    found = stage.difference
    if stage.function and found.is_empty:
        return
    if stage.function:
        yield f"in {stage.function}:"
    by_node: dict[str, list[Any]] = {}
    for rewrite in stage.rewrites:
        by_node.setdefault(rewrite.node, []).append(rewrite)
    for name in found.removed:
        why = "; ".join(
            f"{r.kind}{f' ({r.rule})' if r.rule else ''}: {', '.join(r.by)}"
            for r in by_node.get(name, ())
        )
        yield f"- {described(stage.before.nodes[name])}" + (
            f"   [{why}]" if why else ""
        )
    for name in found.added:
        yield f"+ {described(stage.after.nodes[name])}"
    for name in found.changed:
        told = changes(stage.before.nodes[name], stage.after.nodes[name])
        yield f"~ {name}: {'; '.join(told)}"


# --- two explanations ---------------------------------------------------------------


def comparison(one: Explanation, other: Explanation) -> Iterator[str]:
    """What differs between two explanations, of one step under two rules."""
    for stage in dict.fromkeys([*one.graphs, *other.graphs]):
        here, there = one.graphs.get(stage), other.graphs.get(stage)
        counts = [None if g is None else len(g.nodes) for g in (here, there)]
        if counts[0] != counts[1]:
            yield f"{stage}: {counts[0]} nodes, there {counts[1]}"
    moved = [
        (name, place.device, other.journal.placements[name].device)
        for name, place in one.journal.placements.items()
        if name in other.journal.placements
        and place.device != other.journal.placements[name].device
    ]
    yield f"{len(moved)} nodes on another device"
    yield from _few([f"{name}: {here}, there {there}" for name, here, there in moved])
    sums = [sum(t.size or 0 for t in e.transfers) for e in (one, other)]
    yield (
        f"{len(one.transfers)} transfers of {sums[0]} bytes, "
        f"there {len(other.transfers)} of {sums[1]}"
    )
    if one.times is not None and other.times is not None:
        yield (
            f"a traced step: {one.times.step * 1e3:.3f} ms, "
            f"there {other.times.step * 1e3:.3f} ms"
        )
        for device in dict.fromkeys([*one.times.by_device, *other.times.by_device]):
            busy = [e.times.by_device.get(device, 0.0) for e in (one, other)]  # type: ignore[union-attr]
            yield f"  {device}: {busy[0] * 1e3:.3f} ms, there {busy[1] * 1e3:.3f} ms"
    peaks = [{m.device: m.peak for m in e.memory.devices} for e in (one, other)]
    for device in dict.fromkeys([*peaks[0], *peaks[1]]):
        pair = [peak.get(device, 0) for peak in peaks]
        if pair[0] != pair[1]:
            yield f"  {device}: peak {pair[0]} bytes, there {pair[1]}"
