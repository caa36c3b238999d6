"""An ensemble of gradient boosted trees as a resource: a message and its stamp."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.gradient_trees.stamped_resource import StampedResource

if TYPE_CHECKING:
    from tensorloom.kernels.host.gradient_trees.tree_arrays import TreeArrays
    from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig
    from tensorloom.protos.gradient_trees_pb2 import (
        DecisionTreeConfig,
        DecisionTreeEnsembleConfig,
        DecisionTreeMetadata,
    )


class Ensemble(StampedResource):
    """The trees, their weights and metadata."""

    kind = "DecisionTreeEnsembleResource"

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._held: DecisionTreeEnsembleConfig | None = None
        # Of trees that are finished, by number; they no longer change.
        self._arrays: dict[int, TreeArrays] = {}

    @property
    def proto(self) -> DecisionTreeEnsembleConfig:
        """The trees. Raises errors.NotFoundError if they were not created yet."""
        self.check_created()
        assert self._held is not None
        return self._held

    def load(self, serialized: bytes, stamp: int) -> None:
        """Replaces the trees.

        Raises:
          errors.InvalidArgumentError: they are no serialized ensemble.
        """
        from google.protobuf.message import DecodeError

        from tensorloom.protos.gradient_trees_pb2 import DecisionTreeEnsembleConfig

        try:
            parsed = DecisionTreeEnsembleConfig.FromString(serialized)
        except DecodeError:
            raise invalid_argument("Unable to parse tree ensemble config.") from None
        self._held, self._arrays = parsed, {}
        self.is_created, self.stamp = True, stamp

    @property
    def last_is_finished(self) -> bool:
        """Whether there is no tree, or the last one no longer grows."""
        metadata = self.proto.tree_metadata
        return not self.proto.trees or (len(metadata) > 0 and metadata[-1].is_finalized)

    @property
    def last_metadata(self) -> DecisionTreeMetadata:
        """Of the last tree. Raises errors.InvalidArgumentError if there is none."""
        metadata = self.proto.tree_metadata
        if not metadata:
            raise invalid_argument("The ensemble has no metadata of its last tree.")
        return metadata[-1]

    def count_attempt(self) -> None:
        """Counts a layer that is tried, and a tree if it would be the first layer."""
        growing = self.proto.growing_metadata
        growing.num_layers_attempted += 1
        if self.last_is_finished:
            growing.num_trees_attempted += 1

    def add_tree(self, weight: float) -> DecisionTreeConfig:
        """Adds an empty tree of one layer."""
        proto = self.proto
        proto.tree_weights.append(weight)
        proto.tree_metadata.add().num_layers_grown = 1
        return proto.trees.add()

    def remove_last_tree(self) -> None:
        """Takes the last tree away."""
        proto = self.proto
        del proto.trees[-1], proto.tree_weights[-1], proto.tree_metadata[-1]
        self._arrays.pop(len(proto.trees), None)

    def use_handler(self, handler: int) -> None:
        """Adds a handler to the sorted list of those that have split a node."""
        used = list(self.proto.growing_metadata.used_handler_ids)
        place = bisect.bisect_left(used, handler)
        if place == len(used) or used[place] != handler:
            used.insert(place, handler)
            self.proto.growing_metadata.used_handler_ids[:] = used

    def tree_arrays(self, number: int) -> TreeArrays:
        """A tree as arrays; those of a finished one are kept."""
        from tensorloom.kernels.host.gradient_trees.tree_arrays import TreeArrays

        found = self._arrays.get(number)
        if found is None:
            proto = self.proto
            found = TreeArrays(proto.trees[number])
            metadata = proto.tree_metadata
            if number < len(metadata) and metadata[number].is_finalized:
                self._arrays[number] = found
        return found

    def forget_arrays(self) -> None:
        """The last tree has changed after it was finished."""
        self._arrays.pop(len(self.proto.trees) - 1, None)


def parse_learner(serialized: Any) -> LearnerConfig:
    """How trees are learned.

    Raises:
      errors.InvalidArgumentError: it is no serialized LearnerConfig.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

    try:
        return LearnerConfig.FromString(bytes(serialized))
    except DecodeError:
        raise invalid_argument("Unable to parse learner config.") from None
