"""One shard of an embedding variable: a table in one place, with its slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tensorloom.client.variables.keyed_variable import KeyedVariable
from tensorloom.client.variables.variable_lists import started_from_checkpoints
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.framework.graph.graph import Tensor, colocate_with, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.embedding import dynamic_embedding as embedding_ops
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import RULES
from tensorloom.train import training_util

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation
    from tensorloom.framework.types.dtypes import DType


class EmbeddingShard(KeyedVariable):
    """The rows of the keys that are `shard` modulo `num_shards`.

    Args:
      name: of the whole variable.
      dtype: of the rows.
      dim: elements of a row.
      shard, num_shards: which one of how many it is.
      attrs: of the op, beyond these.
      trainable: whether optimizers update it by default.
    """

    def __init__(
        self,
        name: str,
        dtype: DType,
        dim: int,
        shard: int,
        num_shards: int,
        attrs: dict[str, Any],
        trainable: bool,
    ) -> None:
        self.whole_name, self.shard, self.num_shards = name, shard, num_shards
        own_name = f"{name}/part_{shard}"
        self._handle = apply_op(
            "DynamicEmbeddingTable",
            shared_name=own_name,
            T=dtype,
            dim=dim,
            name=f"{own_name}/",
            **attrs,
        )
        self._handle_name = self._handle.name
        self._dtype = dtype
        self._shape = TensorShape([None, dim])
        self.row_shape = TensorShape([dim])
        self._dim = dim
        self._trainable = trainable
        self._synchronization = VariableSynchronization.AUTO
        self._aggregation = VariableAggregation.NONE
        self._constraint = None
        self._save_slice_info = None
        self._initial_value = None
        self._initializer_op = None
        self._graph_element = self._handle
        #: What new rows of each slot hold, by its name.
        self.slots: dict[str, float] = {}

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"embedding": EmbeddingSaveable(self)}

    # A saver asks it, as it asks variables of several replicas.
    _has_parts = True

    # --- rows ------------------------------------------------------------------------

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows of keys of this shard, int64."""
        with colocate_with(self._handle):
            result: Tensor = apply_op(
                "DynamicEmbeddingLookup",
                table=self._handle,
                keys=indices,
                T=self._dtype,
                dim=self._dim,
                name=name,
            )
        return result

    def run_op(self, op: str, **arguments: Any) -> Any:
        """An op on this shard's table."""
        with colocate_with(self._handle):
            return apply_op(f"DynamicEmbedding{op}", table=self._handle, **arguments)

    def start_from(self, prefix: Any, name: str) -> None:
        """From now on the initializer takes the rows of a checkpoint over; no slots."""
        with colocate_with(self._handle):
            prefix = convert_to_tensor(prefix, dtype=dtypes.string, name="prefix")
        self._initializer_op = restore_op(self, prefix, name, with_slots=False)
        started = started_from_checkpoints(self.graph)
        if not any(one is self for one in started):
            started.append(self)

    # --- optimizers ------------------------------------------------------------------

    def make_slot(self, name: str, fill: float) -> EmbeddingSlot:
        """A slot of this name, or with a number behind it if that is taken."""
        unique, count = name, 0
        while unique in self.slots:
            count += 1
            unique = f"{name}_{count}"
        self.slots[unique] = float(np.float32(fill))
        return EmbeddingSlot(self, unique)

    def apply_rule(
        self, rule: str, slots: tuple[Any, ...], arguments: dict[str, Any]
    ) -> Operation:
        """The operation that updates the rows of keys by a rule."""
        signature = next(r for r in RULES if r.name == rule)
        rest = dict(arguments)
        rest.pop("use_locking", None)
        gradient = signature.gradient_name(sparse="grad" in rest)
        keys, grad = rest.pop("indices"), rest.pop(gradient)
        return embedding_ops.apply_rule(
            self._handle,
            keys,
            grad,
            self.step(),
            rule,
            {slot.slot_name: self.slots[slot.slot_name] for slot in slots},
            rest,
        )

    def step(self) -> Tensor:
        """The global step, int64; 0 if the graph has none so far."""
        step = training_util.get_global_step(self.graph)
        if step is None:
            return constant_op.constant(0, dtypes.int64)
        with colocate_with(None, ignore_existing=True), device(step.device):
            return math_ops.cast(step, dtypes.int64)  # type: ignore[no-any-return]


class EmbeddingSlot:
    """The rows of an optimizer's slot, which are a part of the variable's table."""

    def __init__(self, shard: EmbeddingShard, slot_name: str) -> None:
        self.shard, self.slot_name = shard, slot_name
        self.dtype, self.shape = shard.dtype, shard.shape

    @property
    def name(self) -> str:
        """The name of the variable and that of the slot."""
        return f"{self.shard.op.name}/{self.slot_name}:0"

    @property
    def op(self) -> Operation:
        """The operation of the variable."""
        return self.shard.op

    @property
    def graph(self) -> Any:
        """The graph of the variable."""
        return self.shard.graph

    @property
    def device(self) -> str:
        """The device of the variable."""
        return self.shard.device

    def get_shape(self) -> TensorShape:
        """The static shape: that of the variable."""
        return self.shape

    @property
    def handle(self) -> NoReturn:
        """Raises TypeError: it is updated with its variable alone."""
        raise TypeError(
            f"{self.name} is a slot of an embedding variable: only optimizers whose "
            "update is one op of tf.train's rules can use it"
        )


class EmbeddingSaveable(SaveableObject):
    """A shard as a saver saves it: keys, counts, ages, rows and slots.

    Args:
      shard: which one.
      since: the save whose later changes are saved alone, an int64 tensor; None for
        all there is.
    """

    reads_checkpoint = True

    def __init__(self, shard: EmbeddingShard, since: Tensor | None = None) -> None:
        self.op, self.name = shard, shard.op.name
        self._since = since
        self._exported: tuple[tuple[str, ...], dict[str, Any], Any] | None = None

    @property
    def device(self) -> Any:
        """The device of the shard."""
        return self.op.device

    @property
    def specs(self) -> Sequence[SaveSpec]:  # type: ignore[override]
        """Its tensors: of the slots that there are when a saver is built."""
        return [SaveSpec(x, "", self.name + key) for key, x in self.tensors().items()]

    def tensors(self) -> dict[str, Tensor]:
        """What is saved, by what is behind the shard's name in a checkpoint."""
        return self._export()[1]

    @property
    def save_number(self) -> Tensor:
        """The number of the save, since which later changes count."""
        return self._export()[2]  # type: ignore[no-any-return]

    def _export(self) -> tuple[tuple[str, ...], dict[str, Any], Any]:
        shard: EmbeddingShard = self.op
        names = tuple(shard.slots)
        if self._exported is None or self._exported[0] != names:
            self._exported = (names, *self._made_export(shard))
        return self._exported

    def _made_export(self, shard: EmbeddingShard) -> tuple[dict[str, Any], Any]:
        with colocate_with(shard.handle):
            zero = constant_op.constant(0, dtypes.int64)
        exported = shard.run_op(
            "Export",
            since=zero if self._since is None else self._since,
            T=shard.dtype,
            N=1 + len(shard.slots),
            dim=shard.row_shape[0],
            slots=list(shard.slots),
            fills=list(shard.slots.values()),
        )
        named = {
            "-keys": exported.keys,
            "-freqs": exported.freqs,
            "-steps": exported.steps,
            "-counted_keys": exported.counted_keys,
            "-counted_freqs": exported.counted_freqs,
            "-counted_steps": exported.counted_steps,
            "-values": exported.blocks[0],
        }
        for slot, block in zip(shard.slots, exported.blocks[1:], strict=True):
            named[f"/{slot}"] = block
        if self._since is not None:
            named["-gone"] = exported.gone
        return named, exported.save

    def restore_from(self, prefix: Any) -> Any:
        """Takes the shard's keys over, of however many shards the checkpoint is."""
        return restore_op(self.op, prefix, is_increment=self._since is not None)


def restore_op(
    shard: EmbeddingShard,
    prefix: Any,
    name: str | None = None,
    is_increment: bool = False,
    slots_required: bool = True,
    with_slots: bool = True,
) -> Any:
    """The operation that takes a shard's keys of a checkpoint over.

    Args:
      prefix: a string tensor; the shard's task reads it.
      name: of the whole variable in the checkpoint; its own when None.
      is_increment: changes what there is, rather than replacing it.
      slots_required: whether the checkpoint has to have all slots.
      with_slots: whether slots are taken over; else they begin anew.
    """
    slots = shard.slots if with_slots else {}
    return shard.run_op(
        "Restore",
        prefix=prefix,
        name_in_checkpoint=name or shard.whole_name,
        shard=shard.shard,
        num_shards=shard.num_shards,
        is_increment=is_increment,
        slots_required=slots_required,
        slots=list(slots),
        fills=list(slots.values()),
    )
