"""`PlaceGraph`: devices for the nodes of a graph such that a step takes little time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.grappler.clusters import Cluster
from tensorloom.grappler.items import Item
from tensorloom.grappler.simulation import Placement, simulate

if TYPE_CHECKING:
    from tensorloom.grappler.item_graph import ItemGraph


def PlaceGraph(
    metagraph: Any,
    cluster: Cluster | None = None,
    allotted_time: float = 3600,
    hparams: Any = None,
    verbose: bool = False,
) -> Any:
    """Changes the devices in a MetaGraphDef where a step should be faster for it.

    Nodes are moved one after the other, writers together with their variable, to the
    device with which a simulated step is shortest, until nothing helps any more.

    Args:
      metagraph: the message; its collection `train_op` names what is run.
      cluster: the devices; None: those of this machine.
      allotted_time: the most seconds to look.
      hparams: not used; TensorFlow's placer is a trained model, this one has none.
      verbose: whether to print the times.

    Returns:
      The message.

    Raises:
      errors.InvalidArgumentError: nothing is named to be run.
    """
    del hparams
    deadline = time.monotonic() + allotted_time
    item = Item(metagraph)
    cluster = cluster or Cluster()
    search = _Search(item.tf_item, cluster.devices, _groups(item, cluster))
    before = search.step_ns
    while search.improve(deadline):
        if verbose:
            print(f"Found better placement, with runtime {search.step_ns / 1e9}")
    if search.step_ns < before:
        for node in metagraph.graph_def.node:
            node.device = search.placement.get(node.name, node.device)
    return metagraph


def _groups(item: Item, cluster: Cluster) -> list[tuple[list[str], list[str]]]:
    """Nodes that move together, and the devices where they can be."""
    needed = {operation.name for operation in item.tf_item.needed()}
    supported = cluster.GetSupportedDevices(item)
    groups = [list(group) for group in item.GetColocationGroups()]
    alone = needed.difference(*groups) if groups else needed
    groups += [[name] for name in sorted(alone)]
    return [
        (
            [name for name in group if name in needed],
            sorted(set.intersection(*(set(supported[name]) for name in group))),
        )
        for group in groups
        if needed.intersection(group)
    ]


class _Search:
    """A placement, and moves that make its step shorter."""

    def __init__(
        self,
        item: ItemGraph,
        devices: Mapping[str, Any],
        groups: Sequence[tuple[list[str], list[str]]],
    ) -> None:
        self._item = item
        self._devices = devices
        self._groups = groups
        given = Placement(devices)
        self.placement = {op.name: given.device_of(op) for op in item.needed()}
        self.step_ns = self._time(self.placement)

    def _time(self, placement: Mapping[str, str]) -> int:
        runs = simulate(self._item, self._devices, placement)
        return max((run.end_ns for run in runs), default=0)

    def improve(self, deadline: float) -> bool:
        """Tries to move each group; whether a step became shorter."""
        before = self.step_ns
        for names, devices in self._groups:
            for device in devices:
                if time.monotonic() > deadline:
                    return False
                if device != self.placement[names[0]]:
                    self._try({**self.placement, **dict.fromkeys(names, device)})
        return self.step_ns < before

    def _try(self, placement: dict[str, str]) -> None:
        step_ns = self._time(placement)
        if step_ns < self.step_ns:
            self.placement, self.step_ns = placement, step_ns
