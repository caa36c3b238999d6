"""Stochastic dual coordinate ascent over the weights of a linear model.

"Stochastic Dual Coordinate Ascent Methods for Regularized Loss Minimization",
Shalev-Shwartz and Zhang, 2012. Tables keep the dual variables of each example under the
hash of its id; the weights before their shrinking by l1 have variables of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.indexing.partition import dynamic_partition, dynamic_stitch
from tensorloom.ops.lookup.mutable_tables import DenseHashTable
from tensorloom.ops.math import math_ops
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.ops.state.scatter import scatter_add
from tensorloom.ops.training.sdca_ops import sdca_fprint
from tensorloom.summary import summary


@dataclass(frozen=True)
class SdcaOptions:
    """What the optimizer is told."""

    loss_type: str
    l1: float
    l2: float
    num_loss_partitions: int
    num_table_shards: int
    adaptive: bool
    # What the names of the weights before their shrinking end in.
    suffix: str = "_unshrunk"


class SparseFeature(NamedTuple):
    """The ids of a column: which example has which, and how often."""

    example_indices: Tensor
    feature_indices: Tensor
    # None: ones.
    feature_values: Tensor | None


class SdcaExamples(NamedTuple):
    """A batch of n examples."""

    sparse: list[SparseFeature]
    dense: list[Tensor]
    labels: Tensor
    weights: Tensor
    ids: Tensor


class SdcaModel:
    """One batch, and the weights that it trains.

    Args:
      examples: the batch.
      sparse_weights: a variable for each sparse feature.
      dense_weights: one for each dense feature.
      options: see `LinearSDCA`.
    """

    def __init__(
        self,
        examples: SdcaExamples,
        sparse_weights: Sequence[Any],
        dense_weights: Sequence[Any],
        options: SdcaOptions,
    ) -> None:
        self._examples = examples
        self._options = options
        self._weights = [parts_of(v) for v in (*sparse_weights, *dense_weights)]
        # The weights before they are shrunk.
        self._raw = [
            [_zeros_beside(part, options.suffix) for part in v] for v in self._weights
        ]
        self._sparse_count = len(sparse_weights)
        self._table = _ExampleTable(options.num_table_shards)
        summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        summary.scalar("examples_seen", self._table.size())

    def minimize(self, global_step: Any, name: str | None = None) -> Any:
        """A step over the batch."""
        with name_scope(name, "sdca/minimize"):
            examples = self._examples
            keys = sdca_fprint(convert_to_tensor(examples.ids))
            raw_sparse = self._raw[: self._sparse_count]
            raw_dense = self._raw[self._sparse_count :]
            ids = [_unique(feature.feature_indices) for feature in examples.sparse]
            found = apply_op(
                "SdcaOptimizerV2",
                sparse_example_indices=[f.example_indices for f in examples.sparse],
                sparse_feature_indices=[f.feature_indices for f in examples.sparse],
                sparse_feature_values=[
                    feature.feature_values
                    for feature in examples.sparse
                    if feature.feature_values is not None
                ],
                dense_features=examples.dense,
                example_weights=examples.weights,
                example_labels=examples.labels,
                sparse_indices=ids,
                sparse_weights=[
                    array_ops.gather(whole(parts), at)
                    for parts, at in zip(raw_sparse, ids, strict=True)
                ],
                dense_weights=[whole(parts) for parts in raw_dense],
                example_state_data=self._table.lookup(keys),
                loss_type=self._options.loss_type,
                l1=self._options.l1,
                l2=self._options.l2,
                num_loss_partitions=self._options.num_loss_partitions,
                num_inner_iterations=1,
                adaptive=self._options.adaptive,
            )
            state, sparse_updates, dense_updates = found
            with control_dependencies([state]):
                updates = [self._table.insert(keys, state)]
                for parts, at, update in zip(
                    raw_sparse, ids, sparse_updates, strict=True
                ):
                    updates += _scatter_add(parts, at, update)
                for parts, update in zip(raw_dense, dense_updates, strict=True):
                    updates += _add(parts, update)
            if global_step is None:
                return group(*updates)
            with control_dependencies(updates):
                return assign_add(global_step, 1).op

    def update_weights(self, train_op: Any) -> Any:
        """After a step: the model's weights, shrunk by l1."""
        shrinkage = self._options.l1 / self._options.l2
        updates = []
        with control_dependencies([train_op]):
            for parts, raw_parts in zip(self._weights, self._raw, strict=True):
                for part, raw in zip(parts, raw_parts, strict=True):
                    value = convert_to_tensor(raw)
                    if shrinkage > 0:
                        size = math_ops.abs(value) - shrinkage
                        value = math_ops.sign(value) * math_ops.maximum(0.0, size)
                    updates.append(part.assign(value))
        return group(*updates)

    def approximate_duality_gap(self) -> Tensor:
        """How far the objective is from its optimum at most, a mean over examples."""
        with name_scope("sdca/approximate_duality_gap"):
            sums = self._table.sums()
            penalty = self.regularization(self._options.l1, 2.0 * self._options.l2)
            return (sums[1] + sums[2] + penalty) / sums[3]

    def regularization(self, l1: float, l2: float) -> Tensor:
        """l1 times the weights' absolute values and l2 / 2 times their squares."""
        absolute = l1 * self._sum_of_weights(math_ops.abs)
        return absolute + l2 * self._sum_of_weights(math_ops.square) / 2.0

    def _sum_of_weights(self, function: Any) -> Tensor:
        sums = [
            math_ops.reduce_sum(
                function(math_ops.cast(convert_to_tensor(part), dtypes.float64))
            )
            for parts in self._weights
            for part in parts
        ]
        return math_ops.add_n(sums)


class _ExampleTable:
    """Dual variables, losses and weights [4] of examples by hash, in some tables."""

    def __init__(self, count: int) -> None:
        self._shards = [
            DenseHashTable(
                key_dtype=dtypes.int64,
                value_dtype=dtypes.float32,
                default_value=[0.0, 0.0, 0.0, 0.0],
                empty_key=[0, 0],
                deleted_key=[1, 1],
                name=f"ShardedMutableHashTable-{index + 1}-of-{count}",
            )
            for index in range(count)
        ]

    def _places(self, keys: Tensor) -> Tensor:
        first = array_ops.reshape(array_ops.slice(keys, [0, 0], [-1, 1]), [-1])
        place = math_ops.mod(math_ops.abs(first), len(self._shards))
        places: Tensor = math_ops.cast(place, dtypes.int32)
        return places

    def lookup(self, keys: Tensor) -> Tensor:
        """The state of examples, [n, 4]."""
        count = len(self._shards)
        if count == 1:
            return self._shards[0].lookup(keys)  # type: ignore[no-any-return]
        places = self._places(keys)
        key_parts = dynamic_partition(keys, places, count)
        found = [
            shard.lookup(part)
            for shard, part in zip(self._shards, key_parts, strict=True)
        ]
        order = dynamic_partition(
            math_ops.range(array_ops.shape(keys)[0]), places, count
        )
        return dynamic_stitch(order, found)

    def insert(self, keys: Tensor, values: Tensor) -> Any:
        """Keeps the state of examples."""
        count = len(self._shards)
        if count == 1:
            return self._shards[0].insert(keys, values)
        places = self._places(keys)
        key_parts = dynamic_partition(keys, places, count)
        value_parts = dynamic_partition(values, places, count)
        return group(
            *[
                shard.insert(part, of_part)
                for shard, part, of_part in zip(
                    self._shards, key_parts, value_parts, strict=True
                )
            ]
        )

    def size(self) -> Tensor:
        """How many examples there are."""
        return math_ops.add_n([shard.size() for shard in self._shards])

    def sums(self) -> Tensor:
        """The state [4], summed over all examples, float64."""
        sums = [
            math_ops.reduce_sum(math_ops.cast(shard.export()[1], dtypes.float64), 0)
            for shard in self._shards
        ]
        return math_ops.add_n(sums)


def parts_of(variable: Any) -> list[Any]:
    """The parts of a variable that is cut, or the variable alone."""
    is_cut = isinstance(variable, PartitionedVariable | list)
    return list(variable) if is_cut else [variable]


def _zeros_beside(part: Any, suffix: str) -> Any:
    with colocate_with(part.op):
        start = array_ops.zeros_like(part.initialized_value(), dtypes.float32)
        return Variable(initial_value=start, name=f"{part.op.name}{suffix}")


def whole(parts: list[Any]) -> Tensor:
    """The value of all parts, one after the other."""
    if len(parts) == 1:
        return convert_to_tensor(parts[0])
    return array_ops.concat(parts, axis=0)


def _unique(ids: Tensor) -> Tensor:
    narrow = math_ops.cast(ids, dtypes.int32)
    distinct: Tensor = math_ops.cast(array_ops.unique(narrow)[0], dtypes.int64)
    return distinct


def _rows(parts: list[Any]) -> list[int]:
    return [int(part.get_shape()[0]) for part in parts]


def _scatter_add(parts: list[Any], ids: Tensor, update: Tensor) -> list[Any]:
    """Adds to rows of a variable that may be cut."""
    if len(parts) == 1:
        return [scatter_add(parts[0], ids, update)]
    added, start = [], 0
    for part, rows in zip(parts, _rows(parts), strict=True):
        is_here = math_ops.logical_and(ids >= start, ids < start + rows)
        local = array_ops.boolean_mask(ids, is_here) - start
        added.append(scatter_add(part, local, array_ops.boolean_mask(update, is_here)))
        start += rows
    return added


def _add(parts: list[Any], update: Tensor) -> list[Any]:
    """Adds to a whole variable that may be cut."""
    if len(parts) == 1:
        return [assign_add(parts[0], update)]
    pieces = array_ops.split(update, num_or_size_splits=_rows(parts))
    return [assign_add(v, piece) for v, piece in zip(parts, pieces, strict=True)]
