"""Kernels that let trees grow: what their leaves see, and when they are split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.tensor_forest import parameters
from tensorloom.kernels.host.tensor_forest.inputs import Draws, Inputs, Spec
from tensorloom.kernels.host.tensor_forest.statistics import Targets
from tensorloom.kernels.host.tensor_forest.stats_resource import Stats
from tensorloom.kernels.host.tensor_forest.tree_kernels import (
    class_labels,
    example_weights,
    scalar,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.tensor_forest.tree import Tree


@host_kernel("FertileStatsResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The statistics of a shared name; not created yet."""
    return named_resource(c, Stats)


@host_kernel("FertileStatsIsInitializedOp", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether they were created."""
    return lambda stats: np.bool_(stats.is_created)


@host_kernel("CreateFertileStatsVariable", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Creates the statistics, unless they are there."""
    settings = parameters.parse(c["params"])

    def compute(stats: Stats, config: Any) -> None:
        with stats.lock:
            if not stats.is_created:
                stats.load(scalar(config, "Stats"), settings)

    return compute


@host_kernel("FertileStatsDeserialize", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces the statistics."""
    settings = parameters.parse(c["params"])

    def compute(stats: Stats, config: Any) -> None:
        with stats.lock:
            stats.check_created()
            stats.load(scalar(config, "Stats"), settings)

    return compute


@host_kernel("FertileStatsSerialize", large=True)
def serialize(c: OpKernelConstruction) -> Compute:
    """The serialized form."""

    def compute(stats: Stats) -> Any:
        with stats.lock:
            return np.array(stats.serialize(), object)

    return compute


@host_kernel("ProcessInputV4", large=True)
def process(c: OpKernelConstruction) -> Compute:
    """Adds examples to the statistics of their leaves."""
    spec, settings = Spec(c["input_spec"].decode()), parameters.parse(c["params"])
    seed = c["random_seed"]

    def compute(tree: Tree, stats: Stats, *rest: Any) -> Any:
        *data, labels, weights, leaf_ids = rest
        with stats.lock, tree.lock:
            _ = stats.check_created(), tree.parameters
            inputs = Inputs(spec, *data)
            leaves = np.asarray(leaf_ids).reshape(-1)[: inputs.count].tolist()
            targets = Targets(
                _labels(labels, inputs.count, settings),
                example_weights(weights, inputs.count),
            )
            ready = stats.add(inputs, targets, leaves, Draws(seed))
            return np.array(ready, np.int32)

    return compute


def _labels(labels: Any, count: int, settings: parameters.Parameters) -> Any:
    """The labels, float32 [examples, outputs]; classes have one output."""
    given = np.asarray(labels, np.float32)
    columns = settings.outputs if settings.is_regression else 1
    if given.size < count * columns:
        raise invalid_argument(
            f"The forest has {count} examples with {columns} labels each, but the "
            f"labels have shape {list(given.shape)}."
        )
    if not settings.is_regression:
        class_labels(given.reshape(-1)[:count], settings.outputs)
        return given.reshape(-1)[:count, None]
    width = given.shape[1] if given.ndim > 1 else 1
    return given.reshape(-1, width)[:count, :columns]


@host_kernel("GrowTreeV4", large=True)
def grow(c: OpKernelConstruction) -> Compute:
    """Splits the leaves that have seen enough, until the tree is full."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree, stats: Stats, finished: Any) -> None:
        with stats.lock, tree.lock:
            _ = stats.check_created(), tree.parameters
            for node in np.asarray(finished).reshape(-1).tolist():
                if tree.size >= settings.proto.max_nodes:
                    break
                stats.split(tree, node)

    return compute


@host_kernel("FinalizeTree", large=True)
def finalize(c: OpKernelConstruction) -> Compute:
    """Nothing for regression; TensorFlow ends the process for classification."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree, stats: Stats) -> None:
        if not settings.is_regression:
            raise errors.UnimplementedError(
                None, None, "FinalizeTree is disabled for now, as in TensorFlow."
            )

    return compute
