"""Kernels of ensembles: made, saved, counted, centered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.gradient_trees.ensemble_resource import (
    Ensemble,
    parse_learner,
)
from tensorloom.kernels.host.tensor_forest.tree_kernels import scalar

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_F = np.float32


@host_kernel("DecisionTreeEnsembleResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The ensemble of a shared name; not created yet."""
    return named_resource(c, Ensemble)


@host_kernel("TreeEnsembleIsInitializedOp", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether it was created."""
    return lambda ensemble: np.bool_(ensemble.is_created)


@host_kernel("CreateTreeEnsembleVariable", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Creates the ensemble, unless it is there."""

    def compute(ensemble: Ensemble, stamp: Any, config: Any) -> None:
        with ensemble.lock:
            if not ensemble.is_created:
                ensemble.load(scalar(config, "Tree ensemble"), int(stamp))

    return compute


@host_kernel("TreeEnsembleStampToken", large=True)
def stamp_token(c: OpKernelConstruction) -> Compute:
    """The stamp."""

    def compute(ensemble: Ensemble) -> Any:
        with ensemble.lock:
            ensemble.check_created()
            return np.int64(ensemble.stamp)

    return compute


@host_kernel("TreeEnsembleSerialize", large=True)
def serialize(c: OpKernelConstruction) -> Compute:
    """Stamp and serialized trees."""

    def compute(ensemble: Ensemble) -> Any:
        with ensemble.lock:
            config = ensemble.proto.SerializeToString(deterministic=True)
            return np.int64(ensemble.stamp), np.array(config, object)

    return compute


@host_kernel("TreeEnsembleDeserialize", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces the trees."""

    def compute(ensemble: Ensemble, stamp: Any, config: Any) -> None:
        with ensemble.lock:
            ensemble.check_created()
            ensemble.load(scalar(config, "Tree ensemble"), int(stamp))

    return compute


@host_kernel("TreeEnsembleUsedHandlers", large=True)
def used_handlers(c: OpKernelConstruction) -> Compute:
    """How many handlers have split a node, and which."""
    count = c["num_all_handlers"]

    def compute(ensemble: Ensemble, stamp: Any) -> Any:
        with ensemble.lock:
            ensemble.check_stamp(int(stamp))
            used = list(ensemble.proto.growing_metadata.used_handler_ids)
        if used != sorted(set(used)):
            raise errors.InvalidArgumentError(
                None, None, "Handler IDs should be sorted."
            )
        return np.int64(len(used)), np.isin(np.arange(count), used)

    return compute


@host_kernel("TreeEnsembleStats", large=True)
def stats(c: OpKernelConstruction) -> Compute:
    """Numbers of trees and layers: finished, growing, tried."""

    def compute(ensemble: Ensemble, stamp: Any) -> Any:
        with ensemble.lock:
            ensemble.check_stamp(int(stamp))
            proto = ensemble.proto
            trees, metadata = len(proto.trees), proto.tree_metadata
            growing = proto.growing_metadata
            numbers = (
                trees if ensemble.last_is_finished else trees - 1,
                sum(tree.num_layers_grown for tree in metadata),
                trees,
                metadata[-1].num_layers_grown if metadata else 0,
                growing.num_trees_attempted,
                growing.num_layers_attempted,
            )
        return tuple(np.int64(number) for number in numbers)

    return compute


@host_kernel("CenterTreeEnsembleBias", large=True)
def center_bias(c: OpKernelConstruction) -> Compute:
    """Moves the leaf of the first tree, which is the bias."""
    parse_learner(c["learner_config"])
    epsilon = _F(c["centering_epsilon"])

    def compute(ensemble: Ensemble, stamp: Any, after: Any, deltas: Any) -> Any:
        with ensemble.lock:
            ensemble.move_on(int(stamp), int(after))
            values = _bias(ensemble, len(deltas)).vector.value
            moved = _F(0)
            for index, delta in enumerate(np.asarray(deltas, _F)[: len(values)]):
                values[index] = float(_F(values[index]) + delta)
                moved = _F(moved + abs(delta))
            goes_on = bool(moved > epsilon)
            if not goes_on:
                ensemble.last_metadata.is_finalized = True
        return np.bool_(goes_on)

    return compute


def _bias(ensemble: Ensemble, dimensions: int) -> Any:
    """The leaf of the bias; made of zeros if there is no tree yet."""
    trees = ensemble.proto.trees
    if not trees:
        ensemble.count_attempt()
        leaf = ensemble.add_tree(1.0).nodes.add().leaf
        leaf.vector.value.extend([0.0] * dimensions)
        return leaf
    if len(trees) > 1:
        raise errors.FailedPreconditionError(
            None, None, "Unable to center bias on an already grown ensemble"
        )
    nodes = trees[0].nodes
    if len(nodes) != 1 or not nodes[0].leaf.HasField("vector"):
        raise errors.FailedPreconditionError(
            None, None, "The first tree is no bias: it must be one leaf with a vector."
        )
    return nodes[0].leaf
