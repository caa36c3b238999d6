"""Kernels that follow the trees: logits of examples, and their leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.kernels.host.gradient_trees.batch_features import BatchFeatures
from tensorloom.kernels.host.gradient_trees.dropout import dropped_trees
from tensorloom.kernels.host.gradient_trees.ensemble_resource import (
    Ensemble,
    parse_learner,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.gradient_trees.tree_arrays import TreeArrays
    from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

_Array = NDArray[Any]
# Examples that one thread takes at a time, at least.
_LEAST_RANGE = 1000


def _follow(
    trees: Sequence[TreeArrays],
    weights: Sequence[float],
    features: BatchFeatures,
    dimensions: int,
) -> tuple[_Array, _Array]:
    """(logits float32 [examples, dimensions], leaves int32 [examples] of the last).

    Raises:
      errors.InvalidArgumentError: a tree goes round in a circle, has no nodes, or asks
        for a feature that is not there.
    """
    from tensorloom.kernels.loops.boosted_trees.tree_traversal import follow

    count = features.batch_size
    pending = np.zeros((count, dimensions), np.float32)
    total, nodes = np.zeros_like(pending), np.zeros(count, np.int32)
    if not trees:
        return total, nodes
    if any(not len(tree.question) for tree in trees):
        raise invalid_argument("Invalid tree: it has no nodes.")
    places: dict[Any, int] = {}
    for tree in trees:
        for question in tree.questions:
            places.setdefault(question, len(places))
    columns = features.answers(list(places))

    def joined(name: str) -> _Array:
        return np.concatenate([getattr(tree, name) for tree in trees])

    asked = np.concatenate([_asked(tree, places) for tree in trees])
    sizes = [len(tree.question) for tree in trees]
    arrays = (
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array(weights, np.float32),
        asked,
        joined("threshold"),
        np.zeros(len(asked), bool),
        joined("left"),
        joined("right"),
        np.concatenate([tree.logits(dimensions) for tree in trees]),
    )
    first = np.zeros(count, np.int32)

    def work(begin: int, end: int) -> None:
        if not follow(begin, end, columns, first, nodes, pending, total, *arrays):
            raise invalid_argument("A tree has a cycle.")

    in_ranges(work, count, _LEAST_RANGE)
    return total, trees[-1].numbers[nodes]


def _asked(tree: TreeArrays, places: dict[Any, int]) -> _Array:
    """The questions of a tree's nodes, by their places among those of all trees."""
    known = np.array([*(places[question] for question in tree.questions), -1], np.int32)
    return known[tree.question]


class _Settings:
    """What the attributes of an op of prediction say."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.learner: LearnerConfig = parse_learner(c["learner_config"])
        classes = self.learner.num_classes
        if classes < 2:
            raise invalid_argument("Number of classes must be >=2")
        self.dimensions = classes - 1 if c["reduce_dim"] else classes
        self.centers = bool(c["center_bias"])
        self.whole_trees = self.learner.growing_mode == self.learner.WHOLE_TREE
        tuner = self.learner.learning_rate_tuner
        self.drops = c["apply_dropout"] and tuner.WhichOneof("tuner") == "dropout"
        averaging = self.learner.averaging_config
        self.averaging = (
            averaging.WhichOneof("config") if c["apply_averaging"] else None
        )
        if self.averaging == "average_last_n_trees":
            if averaging.average_last_n_trees <= 0:
                raise invalid_argument("Average last n trees must be a positive number")
        elif (
            self.averaging == "average_last_percent_trees"
            and not 0 < averaging.average_last_percent_trees <= 1
        ):
            raise invalid_argument("Average last percent must be in (0,1] interval.")

    def dropped(self, ensemble: Ensemble, seed: int) -> list[int]:
        """The trees that are left out."""
        if not self.drops:
            return []
        proto = ensemble.proto
        kept = {0} if self.centers else set()
        if proto.HasField("growing_metadata"):
            kept.add(len(proto.trees) - 1)  # it is still growing
        dropout = self.learner.learning_rate_tuner.dropout
        return dropped_trees(seed, dropout, kept, len(proto.trees))

    def included(self, ensemble: Ensemble, dropped: list[int]) -> list[int]:
        """The trees that count."""
        metadata = ensemble.proto.tree_metadata
        return [
            tree
            for tree in range(len(ensemble.proto.trees))
            if tree not in dropped
            and not (
                self.whole_trees
                and not (self.centers and tree == 0)
                and len(metadata) > 0
                and not metadata[tree].is_finalized
            )
        ]

    def weights(self, ensemble: Ensemble) -> list[float]:
        """The weights of all trees; of the last ones falling, where they average."""
        weights = list(ensemble.proto.tree_weights)
        config, count = self.learner.averaging_config, len(ensemble.proto.trees)
        if self.averaging is None:
            return weights
        if self.averaging == "average_last_n_trees":
            first = int(max(0.0, count - config.average_last_n_trees))
        else:
            first = int(max(0.0, count * (1.0 - config.average_last_percent_trees)))
        averaged = np.float32(count - first)
        for tree in range(first, count):
            left = np.float32(count - tree)
            weights[tree] = float(np.float32(weights[tree]) * left / averaged)
        return weights


def _counts(c: OpKernelConstruction) -> tuple[int, int, int]:
    return (
        c["num_dense_float_features"],
        c["num_sparse_float_features"],
        c["num_sparse_int_features"],
    )


def _predict(c: OpKernelConstruction, verbose: bool) -> Compute:
    settings, counts = _Settings(c), _counts(c)

    def compute(ensemble: Ensemble, seed: Any, *inputs: _Array) -> Any:
        features = BatchFeatures(counts, inputs)
        if np.ndim(seed):
            raise invalid_argument("Seed must be a scalar.")
        with ensemble.lock:
            dropped = settings.dropped(ensemble, int(seed))
            included = settings.included(ensemble, dropped)
            trees = [ensemble.tree_arrays(number) for number in included]
            original = [ensemble.proto.tree_weights[tree] for tree in dropped]
            weights = settings.weights(ensemble)
            chosen = [weights[number] for number in included]
            total, _ = _follow(trees, chosen, features, settings.dimensions)
            out = total, np.array([dropped, original], np.float32).reshape(2, -1)
            if not verbose:
                return out
            leaves = np.zeros((len(total), len(ensemble.proto.trees)), np.int32)
            for number, tree in zip(included, trees, strict=True):
                _, leaves[:, number] = _follow(
                    [tree], [1.0], features, settings.dimensions
                )
            return *out, leaves

    return compute


@host_kernel("GradientTreesPrediction", large=True)
def predict(c: OpKernelConstruction) -> Compute:
    """(logits [examples, dimensions], trees left out and their weights [2, trees])."""
    return _predict(c, verbose=False)


@host_kernel("GradientTreesPredictionVerbose", large=True)
def predict_verbose(c: OpKernelConstruction) -> Compute:
    """And the leaf of each tree, [examples, trees]."""
    return _predict(c, verbose=True)


@host_kernel("GradientTreesPartitionExamples", large=True)
def partition(c: OpKernelConstruction) -> Compute:
    """The leaf of each example in the last tree, if it still grows; else 0."""
    counts = _counts(c)

    def compute(ensemble: Ensemble, *inputs: _Array) -> _Array:
        features = BatchFeatures(counts, inputs)
        with ensemble.lock:
            number = len(ensemble.proto.trees) - 1
            if ensemble.last_is_finished or not ensemble.proto.trees[number].nodes:
                return np.zeros(features.batch_size, np.int32)
            tree = ensemble.tree_arrays(number)
            return _follow([tree], [1.0], features, tree.dimensions)[1]

    return compute
