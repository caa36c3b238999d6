"""Why a node is where the placer put it, in words, for whoever explains a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tensorloom.framework.devices.device_name import parse_full
from tensorloom.master.place.colocation import parse_device

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.runtime.stage_journal import StageJournal
    from tensorloom.master.place.placer import Placer

_NAMED_MEMBERS = 3


def tell_placements(
    placer: Placer,
    before: GraphIR,
    placed: GraphIR,
    journal: StageJournal,
    wishes: Mapping[str, str],
) -> None:
    """Tells the journal of each node where it is, and why.

    Args:
      placer: the one that placed them.
      before: the graph that it was given.
      placed: what it made of it.
      wishes: why a program's own placer, or the one by cost, wants some nodes where
        their device fields are now, by name.
    """
    for node in before.nodes.values():
        device = placed.nodes[node.name].device
        why = wishes.get(node.name)
        asked = parse_device(node.device, node.name)
        if why is None or not asked.covers(parse_full(device)):
            why = reason(placer, node, device)
        journal.placement(node, device, why)


def reason(placer: Placer, node: Node, device: str) -> str:
    """Why the placer put a node on a device."""
    if len(placer.devices) == 1:
        return "it is the only device of the session"
    group = placer.group_of(node.name)
    if group is not None and len(group.members) > 1:
        others = [m.name for m in group.members if m.name != node.name]
        named = ", ".join(dict.fromkeys(others[:_NAMED_MEMBERS]))
        more = len(others) - _NAMED_MEMBERS
        text = f"colocated with {named}" + (f" and {more} more" if more > 0 else "")
        asked = str(group.requested)
        return f"{text}; together they ask for {asked}" if asked else text
    asked = str(parse_device(node.device, node.name))
    if placer.device_of(node) != device:
        side = "its readers are" if node.op == "Const" else "its input is"
        return f"{side} there, and it is not worth a transfer"
    if asked:
        return _of_request(node, asked, device)
    return _of_choice(placer, node, device)


def _of_request(node: Node, asked: str, device: str) -> str:
    if parse_device(node.device, node.name).covers(parse_full(device)):
        return f"its device field asks for {asked}"
    return f"its device field asks for {asked}, and soft placement allows another"


def _of_choice(placer: Placer, node: Node, device: str) -> str:
    """Why this one, of devices among which the node has no wish."""
    kind = parse_full(device).type
    lacking = sorted(
        {
            d.device_type
            for d in placer.devices
            if d.device_type != kind
            and not placer.has_kernel(node, d.kernel_type or d.device_type)
        }
    )
    if lacking:
        return f"it has no kernel on {', '.join(lacking)}"
    kinds = {d.device_type for d in placer.devices}
    if len(kinds) > 1:
        return f"it has no device field, and {kind} comes first"
    return "it has no device field, and this device comes first"
