"""The operations that save and restore, with TensorFlow's names and order."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.framework.devices.device_spec import canonical_name
from tensorloom.framework.graph.graph import (
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import placeholder as placeholder_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.io import saveable_object
from tensorloom.ops.strings import string_ops
from tensorloom.train.checkpoints import saver_saveables
from tensorloom.train.checkpoints.saver_saveables import set_cpu0

Saveable = saveable_object.SaveableObject

V1, V2 = 1, 2  # SaverDef.CheckpointFormatVersion


class BaseSaverBuilder:
    """Makes the operations of a saver; subclasses make other ones.

    Args:
      write_version: `SaverDef.V1` or `SaverDef.V2`.
    """

    SaveSpec = saveable_object.SaveSpec
    SaveableObject = saveable_object.SaveableObject
    VariableSaveable = saver_saveables.ReferenceVariableSaveable
    ResourceVariableSaveable = saver_saveables.ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    # --- saving ----------------------------------------------------------------------

    def save_op(self, filename_tensor: Any, saveables: Sequence[Saveable]) -> Any:
        """The operation that saves.

        Raises:
          RuntimeError: the version is unknown.
        """
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        tensors = [spec.tensor for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        if self._write_version == V1:
            return apply_op(
                "SaveSlices",
                filename=filename_tensor,
                tensor_names=names,
                shapes_and_slices=slices,
                data=tensors,
                name="save",
            )
        if self._write_version == V2:
            return apply_op(
                "SaveV2",
                prefix=filename_tensor,
                tensor_names=names,
                shape_and_slices=slices,
                tensors=tensors,
            )
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def sharded_filename(
        self, filename_tensor: Any, shard: int, num_shards: Any
    ) -> Any:
        """The name of one shard."""
        return apply_op(
            "ShardedFilename",
            basename=filename_tensor,
            shard=shard,
            num_shards=num_shards,
        )

    def _add_save_ops(self, filename_tensor: Any, saveables: Sequence[Saveable]) -> Any:
        save = self.save_op(filename_tensor, saveables)
        return control_flow_ops.with_dependencies([save], filename_tensor)

    def _add_sharded_save_ops(self, filename_tensor: Any, per_device: Any) -> Any:
        if self._write_version == V2:
            return self._add_sharded_save_ops_v2(filename_tensor, per_device)
        count = constant_op.constant(len(per_device), name="num_shards")
        saves = []
        for shard, (name, saveables) in enumerate(per_device):
            with device(name):
                filename = self.sharded_filename(filename_tensor, shard, count)
                saves.append(self._add_save_ops(filename, saveables))
        with control_dependencies([save.op for save in saves]):
            return apply_op(
                "ShardedFilespec", basename=filename_tensor, num_shards=count
            )

    def _add_sharded_save_ops_v2(self, prefix: Any, per_device: Any) -> Any:
        """Each device writes a checkpoint of its own; then they are made one."""
        suffix = f"_temp_{uuid.uuid4().hex}/part"
        temporary = string_ops.string_join([prefix, suffix])
        count = constant_op.constant(len(per_device), name="num_shards")
        saves, prefixes = [], []
        for shard, (name, saveables) in enumerate(per_device):
            with device(set_cpu0(name)):
                filename = self.sharded_filename(temporary, shard, count)
                prefixes.append(filename)
                saves.append(self._add_save_ops(filename, saveables))
        last = per_device[-1][0]
        with (
            control_dependencies([save.op for save in saves]),
            device(set_cpu0(last)),
        ):
            merge = apply_op(
                "MergeV2Checkpoints",
                checkpoint_prefixes=prefixes,
                destination_prefix=prefix,
                delete_old_dirs=True,
            )
            with control_dependencies([merge]):
                return identity_ops.identity(prefix)

    # --- restoring -------------------------------------------------------------------

    def bulk_restore(
        self,
        filename_tensor: Any,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        """The tensors of all saveables, read one saveable at a time."""
        del restore_sequentially
        tensors: list[Any] = []
        for saveable in saveables:
            with device(set_cpu0(saveable.device) if saveable.device else None):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def restore_op(
        self, filename_tensor: Any, saveable: Saveable, preferred_shard: int
    ) -> list[Any]:
        """The tensors of one saveable."""
        del preferred_shard
        return [
            restore_v2(filename_tensor, [spec.name], [spec.slice_spec], [spec.dtype])[0]
            for spec in saveable.specs
        ]

    def _add_restore_ops(
        self,
        filename_tensor: Any,
        saveables: Sequence[Saveable],
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Any:
        readers = [s for s in saveables if s.reads_checkpoint]
        saveables = [s for s in saveables if not s.reads_checkpoint]
        tensors: list[Any] = []
        if saveables:
            tensors = self.bulk_restore(
                filename_tensor, saveables, preferred_shard, restore_sequentially
            )
        assigns, at = [s.restore_from(filename_tensor) for s in readers], 0
        for saveable in saveables:
            shapes = [_shape_of(s.tensor) for s in saveable.specs] if reshape else None
            end = at + len(saveable.specs)
            assigns.append(saveable.restore(tensors[at:end], shapes))
            at = end
        return control_flow_ops.group(*assigns, name=name)

    def _add_sharded_restore_ops(
        self,
        filename_tensor: Any,
        per_device: Any,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Any:
        restores = []
        for shard, (name, saveables) in enumerate(per_device):
            with device(name):
                restores.append(
                    self._add_restore_ops(
                        filename_tensor,
                        saveables,
                        restore_sequentially,
                        reshape,
                        preferred_shard=shard,
                        name="restore_shard",
                    )
                )
        return control_flow_ops.group(*restores, name="restore_all")

    # --- both ------------------------------------------------------------------------

    def _group_by_devices(
        self, saveables: Sequence[Saveable]
    ) -> list[tuple[str, list[Saveable]]]:
        per_device: dict[str, list[Saveable]] = defaultdict(list)
        for saveable in saveables:
            names = {canonical_name(spec.tensor.device) for spec in saveable.specs}
            if len(names) != 1:
                raise ValueError(
                    "All tensors of a saveable object must be on the same device: "
                    f"{saveable.name}"
                )
            per_device[names.pop()].append(saveable)
        return sorted(per_device.items(), key=lambda item: item[0])

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Adds the operations to the default graph; the `SaverDef` that names them.

        Raises:
          TypeError, ValueError: what is to be saved are not variables, or not once.
        """
        saveables = saver_saveables.validate_and_slice_inputs(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            file_tensor = placeholder_ops.placeholder_with_default(
                filename or "model", shape=(), name="filename"
            )
            # Old graphs are fed by this name.
            file_tensor = placeholder_ops.placeholder_with_default(
                file_tensor, shape=(), name="Const"
            )
            if sharded:
                per_device = self._group_by_devices(saveables)
                save = self._add_sharded_save_ops(file_tensor, per_device)
                restore = self._add_sharded_restore_ops(
                    file_tensor, per_device, restore_sequentially, reshape
                )
            else:
                save = self._add_save_ops(file_tensor, saveables)
                restore = self._add_restore_ops(
                    file_tensor, saveables, restore_sequentially, reshape
                )
        _add_whole_partitioned_variables()
        from tensorloom.protos import saver_pb2

        return saver_pb2.SaverDef(
            filename_tensor_name=file_tensor.name,
            save_tensor_name=save.name,
            restore_op_name=restore.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,  # type: ignore[arg-type]
        )


def restore_v2(
    prefix: Any, names: Any, slices: Any, dtypes: Any, name: str | None = None
) -> Any:
    """Tensors of a checkpoint, as a list."""
    return apply_op(
        "RestoreV2",
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=slices,
        dtypes=[dtype.base_dtype for dtype in dtypes],
        name=name,
    )


def _shape_of(tensor: Any) -> Any:
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else shape_ops.shape(tensor)


def _add_whole_partitioned_variables() -> None:
    """A collection names a partitioned variable by the tensor of the whole."""
    graph = get_default_graph()
    for key in graph.get_all_collection_keys():
        for element in graph.get_collection(key):
            if isinstance(element, PartitionedVariable):
                try:
                    graph.get_operation_by_name(element.name)
                except KeyError:
                    element.as_tensor()


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all tensors by one operation."""

    def bulk_restore(
        self,
        filename_tensor: Any,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        """The tensors of all saveables."""
        del restore_sequentially  # one operation reads one tensor after another
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("cpu:0"):
            restored: list[Any] = restore_v2(
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                [spec.dtype for spec in specs],
            )
            return restored
