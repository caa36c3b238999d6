"""The statistics of all leaves of a tree as a resource."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.tensor_forest.statistics import (
    ClassificationSlot,
    RegressionSlot,
    Slot,
    Targets,
)

if TYPE_CHECKING:
    from tensorloom.kernels.host.tensor_forest.inputs import Draws, Inputs
    from tensorloom.kernels.host.tensor_forest.parameters import Parameters
    from tensorloom.kernels.host.tensor_forest.tree import Tree


class Stats(Resource):
    """A slot for each leaf that still grows, and a lock around them."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.lock = threading.RLock()
        self._parameters: Parameters | None = None
        self._slots: dict[int, Slot] = {}

    @property
    def is_created(self) -> bool:
        """Whether the statistics were created."""
        return self._parameters is not None

    def check_created(self) -> Parameters:
        """How the tree grows.

        Raises:
          errors.NotFoundError: the statistics were not created yet.
        """
        if self._parameters is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/FertileStatsResource does not "
                "exist.",
            )
        return self._parameters

    def load(self, serialized: bytes, parameters: Parameters) -> None:
        """Replaces the statistics; an empty message makes those of a single leaf.

        Raises:
          errors.InvalidArgumentError: they are no serialized statistics.
        """
        from google.protobuf.message import DecodeError

        from tensorloom.protos.fertile_stats_pb2 import FertileStats

        try:
            slots = FertileStats.FromString(serialized).node_to_slot
        except DecodeError:
            raise invalid_argument("Unable to parse stats config.") from None
        self._parameters = parameters
        self._slots = {}
        for slot in slots:
            self._slots[slot.node_id] = made = self._new_slot(slot.depth)
            made.read(slot)
        if not self._slots:
            self._slots[0] = self._new_slot(0)

    def serialize(self) -> bytes:
        """A serialized FertileStats message; counts only if the parameters say so."""
        from tensorloom.protos.fertile_stats_pb2 import FertileStats

        parameters, message = self.check_created(), FertileStats()
        for node, slot in self._slots.items():
            written = message.node_to_slot.add()
            written.node_id, written.depth = node, slot.depth
            if parameters.proto.checkpoint_stats:
                slot.write(written)
        return message.SerializeToString(deterministic=True)

    def _new_slot(self, depth: int) -> Slot:
        parameters = self.check_created()
        kind = RegressionSlot if parameters.is_regression else ClassificationSlot
        return kind(parameters, depth)

    def add(
        self, inputs: Inputs, targets: Targets, leaf_ids: list[int], draws: Draws
    ) -> list[int]:
        """Adds each example to its leaf; gives the leaves that have seen enough, first
        the one that had it first.

        Examples of a leaf that misses candidates make those, and are not counted.
        """
        collates = self.check_created().proto.collate_examples
        counted: dict[int, list[int]] = {}
        completed: set[int] = set()  # by this batch: collated examples then count not
        for row in _collated(leaf_ids) if collates else range(len(leaf_ids)):
            leaf = leaf_ids[row]
            slot = self._slots.get(leaf)
            if slot is None or leaf in completed:
                continue
            if slot.is_initialized:
                counted.setdefault(leaf, []).append(row)
                continue
            if slot.add_candidate(inputs, targets, row, draws) and collates:
                completed.add(leaf)
        ready = []
        for leaf, rows in counted.items():
            place = self._slots[leaf].add(inputs, targets, np.array(rows))
            if place is not None:
                ready.append((rows[place], leaf))
        if not collates:
            ready.sort()
        return [leaf for _, leaf in ready]

    def split(self, tree: Tree, node: int) -> None:
        """Splits a leaf by its best candidate; without one its slot begins anew."""
        slot = self._slots.get(node)
        if slot is None:
            raise invalid_argument(f"Node {node} is no leaf that grows.")
        best = slot.best()
        if best is None:
            self._slots[node] = self._new_slot(slot.depth)
            return
        for child in tree.split(node, best):
            self._slots[child] = self._new_slot(slot.depth + 1)
        del self._slots[node]


def _collated(leaf_ids: list[int]) -> list[int]:
    """The examples leaf by leaf."""
    of_leaf: dict[int, list[int]] = {}
    for row, leaf in enumerate(leaf_ids):
        of_leaf.setdefault(leaf, []).append(row)
    return [row for rows in of_leaf.values() for row in rows]
