"""Saveables saved and restored on the devices where they are, shard by shard."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import control_dependencies, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.strings import string_ops
from tensorloom.train.checkpoints.saver_builder import restore_v2
from tensorloom.train.checkpoints.saver_saveables import set_cpu0

if TYPE_CHECKING:
    from tensorloom.ops.io.saveable_object import SaveableObject


def _by_device(
    saveables: Sequence[SaveableObject],
) -> list[tuple[str, list[SaveableObject]]]:
    groups: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        groups.setdefault(saveable.device, []).append(saveable)
    return sorted(groups.items())


def save_by_device(saveables: Sequence[SaveableObject], prefix: Any) -> Any:
    """The operation that saves: each device a shard, which are then made one."""
    with device("cpu:0"):
        temporary = string_ops.string_join([prefix, f"_temp_{uuid.uuid4().hex}/part"])
    groups = _by_device(saveables)
    count = constant_op.constant(len(groups), name="num_shards")
    saves, prefixes = [], []
    for shard, (name, group) in enumerate(groups):
        with device(set_cpu0(name)):
            filename = apply_op(
                "ShardedFilename", basename=temporary, shard=shard, num_shards=count
            )
        prefixes.append(filename)
        specs = [spec for saveable in group for spec in saveable.specs]
        with device(name):
            tensors = [spec.tensor for spec in specs]
            with device("cpu:0"):
                saves.append(
                    apply_op(
                        "SaveV2",
                        prefix=filename,
                        tensor_names=[spec.name for spec in specs],
                        shape_and_slices=[spec.slice_spec for spec in specs],
                        tensors=tensors,
                    )
                )
    with control_dependencies(saves), device(set_cpu0(groups[-1][0])):
        return apply_op(
            "MergeV2Checkpoints",
            checkpoint_prefixes=prefixes,
            destination_prefix=prefix,
            delete_old_dirs=True,
        )


def restore_by_device(
    saveables: Sequence[SaveableObject], prefix: Any
) -> dict[str, Any]:
    """The operations that restore, by the names of the saveables."""
    restores: dict[str, Any] = {}
    for name, group in _by_device(saveables):
        specs = [spec for saveable in group for spec in saveable.specs]
        with device(name):
            with device("cpu:0"):
                tensors = restore_v2(
                    prefix,
                    [spec.name for spec in specs],
                    [spec.slice_spec for spec in specs],
                    [spec.dtype for spec in specs],
                )
            at = 0
            for saveable in group:
                end = at + len(saveable.specs)
                restores[saveable.name] = saveable.restore(tensors[at:end], None)
                at = end
    return restores
