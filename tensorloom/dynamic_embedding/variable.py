"""Embedding variables: rows by int64 keys, over one or several places."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tensorloom.client.variables.variable_scope import get_variable_scope
from tensorloom.client.variables.variable_store import AUTO_REUSE
from tensorloom.dynamic_embedding.options import (
    CounterFilter,
    GlobalStepEvict,
    first_values,
)
from tensorloom.dynamic_embedding.shard import (
    EmbeddingSaveable,
    EmbeddingShard,
    restore_op,
)
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    colocate_with,
    device,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.indexing import partition as partition_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import initializers as init_ops
from tensorloom.train import training_util

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

# As many rows as partitioners are told that there will be.
_ROWS_TO_PARTITION: Final = 1 << 40


class Exported(NamedTuple):
    """All rows of an embedding variable, shard after shard."""

    keys: Any  # int64 [n]
    values: Any  # [n, dim]
    freqs: Any  # int64 [n], how often each was updated
    steps: Any  # int64 [n], the global step of the last time


class EmbeddingVariable:
    """Rows of embeddings by int64 keys; `get_variable` makes it.

    A key gets a row when an optimizer updates it, or by `upsert`. A key without a row
    reads what its row would begin with, which follows from the seed and the key.
    Optimizers find the shards in `tf.trainable_variables()`.
    """

    def __init__(self, name: str, shards: Sequence[EmbeddingShard]) -> None:
        self._name, self.shards = name, list(shards)
        self.dtype = shards[0].dtype
        self.dim: int = shards[0].row_shape.as_list()[0]  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The name, with its scopes."""
        return self._name

    @property
    def shape(self) -> TensorShape:
        """[None, dim]."""
        return TensorShape([None, self.dim])

    def get_shape(self) -> TensorShape:
        """[None, dim]."""
        return self.shape

    @property
    def handle(self) -> Tensor:
        """The table of the first shard."""
        return self.shards[0].handle

    @property
    def op(self) -> Operation:
        """The operation of the first shard."""
        return self.shards[0].op

    @property
    def graph(self) -> Any:
        """The graph that holds it."""
        return self.op.graph

    def __repr__(self) -> str:
        return (
            f"<EmbeddingVariable '{self.name}' dim={self.dim} dtype={self.dtype.name} "
            f"shards={len(self.shards)}>"
        )

    # --- rows ------------------------------------------------------------------------

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The rows of keys, of shape keys + [dim].

        Args:
          keys: int64 (or int32), any shape.
        """
        with name_scope(name, f"{self.name.split('/')[-1]}_lookup") as scope:
            keys = _as_keys(keys)
            if len(self.shards) == 1:
                return self.shards[0].sparse_read(keys, name=scope)
            with colocate_with(None, ignore_existing=True):
                return self._partitioned_lookup(keys)

    # What `tf.gather` and `tf.nn.embedding_lookup` read rows by.
    sparse_read = lookup

    def _partitioned_lookup(self, keys: Tensor) -> Tensor:
        flat = array_ops.reshape(keys, [-1])
        parts, places = self._split(flat, math_ops.range(array_ops.size(flat)))
        rows = [
            shard.sparse_read(part)
            for shard, part in zip(self.shards, parts, strict=True)
        ]
        result = apply_op("ParallelDynamicStitch", indices=places, data=rows)
        shape = array_ops.concat([array_ops.shape(keys), [self.dim]], 0)
        result = array_ops.reshape(result, shape)
        result.set_shape(keys.shape.concatenate(TensorShape([self.dim])))
        return result

    def _split(self, keys: Tensor, *others: Any) -> list[Any]:
        """Keys [n], and what belongs to them, by shards."""
        count = len(self.shards)
        if count == 1:
            return [[keys], *([other] for other in others)]
        places = math_ops.cast(math_ops.floormod(keys, count), dtypes.int32)
        return [
            partition_ops.dynamic_partition(x, places, count) for x in (keys, *others)
        ]

    def size(self, name: str | None = None) -> Tensor:
        """How many keys have rows, int64."""
        with name_scope(name, "size"):
            sizes = [shard.run_op("Size") for shard in self.shards]
            return math_ops.add_n(sizes) if len(sizes) > 1 else sizes[0]

    def upsert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """The operation that sets the rows of keys [n] to values [n, dim].

        The keys are admitted. Of a key that comes twice the last value counts.
        """
        with name_scope(name, "upsert") as scope:
            keys = _as_keys(keys)
            values = convert_to_tensor(values, dtype=self.dtype, name="values")
            parts, rows = self._split(keys, values)
            ops = [
                shard.run_op("Upsert", keys=k, values=v, step=shard.step())
                for shard, k, v in zip(self.shards, parts, rows, strict=True)
            ]
            return control_flow_ops.group(*ops, name=scope)

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """The operation that removes keys [n], and what was counted of them."""
        with name_scope(name, "remove") as scope:
            (parts,) = self._split(_as_keys(keys))
            ops = [
                shard.run_op("Remove", keys=part)
                for shard, part in zip(self.shards, parts, strict=True)
            ]
            return control_flow_ops.group(*ops, name=scope)

    def clear(self, name: str | None = None) -> Operation:
        """The operation that removes all keys."""
        with name_scope(name, "clear") as scope:
            ops = [shard.run_op("Clear") for shard in self.shards]
            return control_flow_ops.group(*ops, name=scope)

    def evict(self, before: Any, name: str | None = None) -> Tensor:
        """Removes the rows whose last update was before a global step; how many."""
        with name_scope(name, "evict"):
            before = convert_to_tensor(before, dtype=dtypes.int64, name="before")
            counts = [shard.run_op("Evict", before=before) for shard in self.shards]
            return math_ops.add_n(counts) if len(counts) > 1 else counts[0]

    def export(self, name: str | None = None) -> Exported:
        """All rows, in no order."""
        with name_scope(name, "export"):
            parts = []
            for shard in self.shards:
                saved = EmbeddingSaveable(shard).tensors()
                names = ("-keys", "-values", "-freqs", "-steps")
                parts.append([saved[suffix] for suffix in names])
            if len(parts) == 1:
                return Exported(*parts[0])
            joined = [array_ops.concat(c, 0) for c in zip(*parts, strict=True)]
            return Exported(*joined)

    def restore_from(
        self, checkpoint: Any, name: str | None = None, slots_required: bool = False
    ) -> Operation:
        """The operation that takes the rows of a checkpoint over: a warm start.

        Args:
          checkpoint: its prefix. The tasks that hold the shards read it.
          name: of the variable in the checkpoint; its own when None.
          slots_required: False lets slots begin anew that the checkpoint does not have.

        Raises:
          NotFoundError: when run, if the checkpoint has no such variable.
        """
        with name_scope(None, "restore_from") as scope:
            prefix = convert_to_tensor(checkpoint, dtype=dtypes.string, name="prefix")
            ops = [
                restore_op(shard, prefix, name, slots_required=slots_required)
                for shard in self.shards
            ]
            return control_flow_ops.group(*ops, name=scope)


def _as_keys(keys: Any) -> Tensor:
    keys = convert_to_tensor(keys, name="keys")
    if keys.dtype == dtypes.int32:
        keys = math_ops.cast(keys, dtypes.int64)
    if keys.dtype != dtypes.int64:
        raise TypeError(f"keys must be int64, got {keys.dtype.name}")
    return keys  # type: ignore[no-any-return]


def made_in(graph: Any) -> dict[str, EmbeddingVariable]:
    """The embedding variables of a graph, by their names."""
    made: dict[str, EmbeddingVariable] = graph.__dict__.setdefault(
        "_dynamic_embeddings",
        {},  # no collection: a MetaGraph cannot hold them
    )
    return made


def get_variable(
    name: str,
    key_dtype: Any = dtypes.int64,
    value_dtype: Any = dtypes.float32,
    dim: int = 1,
    devices: Sequence[str] | None = None,
    partitioner: Any = None,
    initializer: Any = None,
    trainable: bool = True,
    checkpoint: bool = True,
    filter_option: CounterFilter | None = None,
    evict_option: GlobalStepEvict | None = None,
) -> EmbeddingVariable:
    """An embedding variable: a new one, or, as the scope reuses, the one there is.

    Args:
      name: under the scope's.
      key_dtype: int64.
      value_dtype: float32 or float64.
      dim: elements of a row.
      devices: one shard on each. Without, the device of the scope decides, so that
        `replica_device_setter` spreads the shards.
      partitioner: says how many shards, as those of variables do
        (`tf.fixed_size_partitioner(4)`); the scope's when None. A key is in the shard
        `key mod shards`.
      initializer: what new rows hold; see `first_values`. When None,
        `truncated_normal_initializer(stddev=1 / sqrt(dim))`.
      trainable: whether optimizers update it by default.
      checkpoint: whether savers save it by default.
      filter_option: which keys get rows; all when None.
      evict_option: when rows are removed; never when None. It makes a global step if
        the graph has none.

    Raises:
      ValueError: the name is taken, or there is none to reuse; or `first_values`'.
      TypeError: the dtypes are others.
    """
    scope = get_variable_scope()
    dtype = _checked_dtype(key_dtype, value_dtype)
    full_name = f"{scope.name}/{name}" if scope.name else name
    made = made_in(get_default_graph())
    if full_name in made and scope.reuse:
        return made[full_name]
    if full_name in made:
        raise ValueError(f"Embedding variable {full_name} already exists")
    if scope.reuse and scope.reuse is not AUTO_REUSE:
        raise ValueError(f"Embedding variable {full_name} does not exist")
    if dim < 1:
        raise ValueError(f"dim must be positive: {dim}")
    if initializer is None:
        initializer = init_ops.TruncatedNormal(stddev=dim**-0.5)
    attrs = {
        **first_values(initializer, full_name),
        **_options(filter_option, evict_option),
    }
    count = _shard_count(devices, partitioner or scope.partitioner, dim, dtype)
    shards = []
    for i in range(count):
        with name_scope(None), ExitStack() as stack:
            if devices:
                stack.enter_context(device(devices[i]))
            shard = EmbeddingShard(full_name, dtype, dim, i, count, attrs, trainable)
        shards.append(shard)
    variable = EmbeddingVariable(full_name, shards)
    made[full_name] = variable
    for shard in shards:
        if trainable:
            add_to_collection(GraphKeys.TRAINABLE_VARIABLES, shard)
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, EmbeddingSaveable(shard))
    return variable


def _options(
    filter_option: CounterFilter | None, evict_option: GlobalStepEvict | None
) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    if filter_option is not None:
        attrs["filter_freq"] = filter_option.filter_freq
        attrs["unadmitted_value"] = float(np.float32(filter_option.default_value))
    if evict_option is not None:
        attrs["steps_to_live"] = evict_option.steps_to_live
        training_util.get_or_create_global_step()
    return attrs


def _checked_dtype(key_dtype: Any, value_dtype: Any) -> Any:
    if dtypes.as_dtype(key_dtype) != dtypes.int64:
        raise TypeError(f"key_dtype must be int64, got {key_dtype}")
    dtype = dtypes.as_dtype(value_dtype)
    if dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"value_dtype must be float32 or float64, got {dtype.name}")
    return dtype


def _shard_count(
    devices: Sequence[str] | None, partitioner: Any, dim: int, dtype: Any
) -> int:
    if devices:
        return len(devices)
    if partitioner is None:
        return 1
    shape = TensorShape([_ROWS_TO_PARTITION, dim])
    return int(partitioner(shape=shape, dtype=dtype)[0])
