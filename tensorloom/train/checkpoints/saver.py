"""`tf.train.Saver`: variables saved to checkpoints and restored from them."""

from __future__ import annotations

import numbers
import os
import time
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.client.session.base_session import SessionInterface
from tensorloom.client.variables.variable_lists import _all_saveable_objects
from tensorloom.coordination import writers
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.storage.checkpoints import bundle_files
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train import training_util
from tensorloom.train.checkpoints import checkpoint_management
from tensorloom.train.checkpoints.saver_builder import V2, BulkSaverBuilder
from tensorloom.train.checkpoints.saver_history import SaverHistory
from tensorloom.train.checkpoints.saver_object_graph import remapped_saveables
from tensorloom.train.checkpoints.saver_restoring import SaverRestoring
from tensorloom.train.meta_graph import meta_graph, meta_graph_collections

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tensorloom.train.checkpoints.saver_saveables import SaveableObject


@export("train.Saver")
class Saver(SaverHistory, SaverRestoring):
    """Adds operations that save and restore variables, and runs them.

    Checkpoints are numbered by the global step, older ones removed, and the newest
    ones named in the file `checkpoint` of their directory. A checkpoint is whole or
    absent: a crash at any moment leaves the one before, and its name in that file.

    Args:
      var_list: variables and saveable objects, or a dict of them by the name that they
        get in the checkpoint; all of the graph when None.
      reshape: restore into variables of another shape with as many elements.
      sharded: one shard for each device that has variables.
      max_to_keep: how many checkpoints to keep; 0 or None keeps all.
      keep_checkpoint_every_n_hours: of those to be removed, one is kept for so long.
      name: the scope of the operations, "save" by default.
      restore_sequentially: accepted; the variables of a device are always read one
        after the other.
      saver_def: a `SaverDef` of operations that the graph has already.
      builder: makes the operations in place of `BulkSaverBuilder`.
      defer_build: leave that to a call of `build`.
      allow_empty: no variables are no error.
      write_version: `SaverDef.V2`, or `V1` for the old format.
      pad_step_number: eight digits in file names.
      save_relative_paths: paths in the file `checkpoint` are relative to it.
      filename: where to save if nothing is fed.

    Raises:
      TypeError, ValueError: `var_list` is not of that kind, has duplicates, is empty.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        super().__init__()
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty: bool | None = None
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._filename = filename
        self._save_relative_paths = save_relative_paths
        self._background: Any = None
        if not defer_build:
            self.build()
        if self.saver_def:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    # --- building --------------------------------------------------------------------

    def build(self) -> None:
        """Adds the operations, once."""
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def:
            if self._var_list is None:
                self._var_list = _all_saveable_objects()
            self._is_empty = not self._var_list
            if self._is_empty:
                if self._allow_empty:
                    return
                raise ValueError("No variables to save")
            self._builder = self._builder or BulkSaverBuilder(self._write_version)
            self.saver_def = self._builder.build(
                self._var_list,
                reshape=self._reshape,
                sharded=self._sharded,
                max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
                name=self._name,
                restore_sequentially=self._restore_sequentially,
                filename=self._filename,
            )
        elif self._name:
            self._prepend_scope(self._name)
        self._check_saver_def()
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_checkpoint_time = time.time() + hours * 3600

    def _prepend_scope(self, scope: str) -> None:
        saver_def = self.saver_def
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(saver_def, field, prepend_scope(getattr(saver_def, field), scope))

    def _check_saver_def(self) -> None:
        from tensorloom.protos import saver_pb2

        if not isinstance(self.saver_def, saver_pb2.SaverDef):
            raise ValueError(
                f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}"
            )
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(
                    f"saver_def must specify the {field}: {self.saver_def}"
                )

    def as_saver_def(self) -> Any:
        """The `SaverDef` of the operations."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The `SaverDef` without a scope, or None if it is outside of it."""
        if export_scope is None:
            return self.saver_def
        fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
        names = {field: getattr(self.saver_def, field) for field in fields}
        if not all(name.startswith(export_scope) for name in names.values()):
            return None
        saver_def = type(self.saver_def)()
        saver_def.CopyFrom(self.saver_def)
        for field, name in names.items():
            setattr(saver_def, field, strip_scope(name, export_scope))
        return saver_def

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver for the operations that a `SaverDef` names."""
        return Saver(saver_def=saver_def, name=import_scope)

    # --- saving ----------------------------------------------------------------------

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Saves the variables.

        Args:
          sess: a session of the graph; the variables must be initialized.
          save_path: prefix of the names of the files, of any file system.
          global_step: a number, or a tensor or name of one, that is put behind it.
          latest_filename: the name of the state file, "checkpoint" by default.
          meta_graph_suffix: of the file of the MetaGraphDef.
          write_meta_graph: whether to write it.
          write_state: whether to name the checkpoint in the state file.
          strip_default_attrs: leave attrs with their default value out of the
            MetaGraphDef, for readers of other versions.
          save_debug_info: also write where operations were made, beside it.

        Returns:
          The prefix of the checkpoint, for `restore`; None when there are no variables.

        Raises:
          TypeError: `sess` is not a session.
          ValueError: `latest_filename` has directories in it, or is the checkpoint's
            name, or the directory does not exist.
          RuntimeError: `build` was not called.
          errors.FailedPreconditionError: another process writes into the directory,
            where TENSORLOOM_COORDINATION lets one do so.
          errors.AbortedError: this process was the one, and another one is now.
        """
        save_path = filesystem.path_text(save_path)
        checkpoint = self._checkpoint_name(
            sess, save_path, global_step, latest_filename
        )
        path: str | None = None
        if not self._is_empty:
            if self._background is not None:
                self._background.wait()
            if write_state:
                writers.claim(filesystem.parent(save_path) or ".", wait=False)
            path = self._run_save(sess, save_path, checkpoint)
        if write_meta_graph:
            self._write_meta_graph(
                sess,
                checkpoint_management.meta_graph_filename(
                    checkpoint, meta_graph_suffix
                ),
                strip_default_attrs,
                save_debug_info,
            )
        if path is not None:
            self._finish_save(
                save_path, path, latest_filename, meta_graph_suffix, write_state
            )
        return path

    def save_in_background(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
    ) -> Future[str]:
        """Takes the values of the variables in one step, and writes them in a thread.

        Training goes on when this returns. One checkpoint is written at a time: a call
        waits for the one before. Arguments are those of `save`.

        Returns:
          A future of the prefix; it has the error if there was one.

        Raises:
          UnimplementedError: the saver writes V1, or its builder makes other ops.
        """
        from tensorloom.train.checkpoints.saver_background import BackgroundSave

        save_path = filesystem.path_text(save_path)
        checkpoint = self._checkpoint_name(
            sess, save_path, global_step, latest_filename
        )
        if write_state:
            writers.claim(filesystem.parent(save_path) or ".", wait=False)
        if self._background is None:
            self._background = BackgroundSave(self.saver_def, sess.graph)
        meta_file = checkpoint_management.meta_graph_filename(
            checkpoint, meta_graph_suffix
        )
        meta = None
        if write_meta_graph:
            with sess.graph.as_default():
                meta = self.export_meta_graph(strip_default_attrs=strip_default_attrs)

        def finish(path: str) -> None:
            if meta is not None:
                filesystem.write_file(meta_file, meta.SerializeToString())
            self._finish_save(
                save_path, path, latest_filename, meta_graph_suffix, write_state
            )

        future: Future[str] = self._background.start(sess, checkpoint, finish)
        return future

    def _checkpoint_name(
        self, sess: Any, save_path: str, global_step: Any, latest_filename: str | None
    ) -> str:
        if not self._is_built:
            raise RuntimeError(
                "`build()` should be called before save if defer_build==True"
            )
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        result = save_path
        if global_step is not None:
            if not isinstance(global_step, numbers.Integral):
                global_step = training_util.global_step(sess, global_step)
            width = "08d" if self._pad_step_number else "d"
            result = f"{save_path}-{global_step:{width}}"
        elif os.path.basename(save_path) == latest_filename and not self._sharded:
            raise ValueError(
                "'latest_filename' collides with 'save_path': "
                f"'{latest_filename}' and '{save_path}'"
            )
        if not isinstance(sess, SessionInterface):
            raise TypeError(f"'sess' must be a Session; {sess}")
        return result

    def _run_save(self, sess: Any, save_path: str, checkpoint: str) -> str:
        saver_def = self.saver_def
        try:
            path: bytes = sess.run(
                saver_def.save_tensor_name,
                {saver_def.filename_tensor_name: checkpoint},
            )
        except (errors.FailedPreconditionError, errors.NotFoundError):
            if not filesystem.is_directory(filesystem.parent(save_path) or "."):
                raise ValueError(
                    f"Parent directory of {save_path} doesn't exist, can't save."
                ) from None
            raise
        return os.fsdecode(path)

    def _write_meta_graph(
        self, sess: Any, filename: str, strip_default_attrs: bool, debug_info: bool
    ) -> None:
        with sess.graph.as_default():
            self.export_meta_graph(
                filename,
                strip_default_attrs=strip_default_attrs,
                save_debug_info=debug_info,
            )

    def _finish_save(
        self,
        save_path: str,
        path: str,
        latest_filename: str | None,
        meta_graph_suffix: str,
        write_state: bool,
    ) -> None:
        """Names a checkpoint that is there, and removes the one that is too old."""
        contents = {}
        if write_state:
            self._record_last_checkpoint(path)
            directory = filesystem.parent(save_path)
            state = checkpoint_management.saved_state(
                directory, path, self.last_checkpoints, self._save_relative_paths
            )
            checkpoint_management.write_state(directory, state, latest_filename)
            if mirror.mirrors():
                name = checkpoint_management.state_filename(directory, latest_filename)
                contents[name] = checkpoint_management.state_for_mirror(
                    directory, state
                )
        if mirror.mirrors():
            mirror.published(self._files_of(path, meta_graph_suffix), contents)
        if write_state:
            self._remove_old_checkpoint(path, meta_graph_suffix)

    def _files_of(self, path: str, meta_graph_suffix: str) -> list[str]:
        files = checkpoint_management.meta_graph_files(path, meta_graph_suffix)
        if self._write_version == V2:
            return files + bundle_files.bundle_files(path)
        return files + filesystem.glob(path)

    def _saver_of(self, saveables: list[SaveableObject]) -> Saver:
        return Saver(saveables, builder=self._builder or BulkSaverBuilder())

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph as a `MetaGraphDef` with this saver, written to a file.

        See `tf.train.export_meta_graph`.
        """
        return meta_graph.export_meta_graph(
            filename=filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )


def saver_from_object_based_checkpoint(
    checkpoint_path: str,
    var_list: Any = None,
    builder: Any = None,
    names_to_keys: dict[str, str] | None = None,
    cached_saver: Any = None,
) -> Any:
    """A saver that reads an object-based checkpoint; the cached one if there is one.

    Raises:
      ValueError: the checkpoint is not object-based.
      NotFoundError: a variable is not in it.
    """
    saveables = remapped_saveables(checkpoint_path, var_list, names_to_keys)
    if cached_saver is not None:
        return cached_saver
    return Saver(saveables, builder=builder or BulkSaverBuilder())


def _saver_def() -> Any:
    from tensorloom.protos import saver_pb2

    return saver_pb2.SaverDef


def _to_proto(saver: Saver, export_scope: str | None = None) -> Any:
    return saver.to_proto(export_scope=export_scope)


def _from_proto(proto: Any, import_scope: str | None = None) -> Saver:
    return Saver.from_proto(proto, import_scope)


meta_graph_collections.register_proto_function(
    GraphKeys.SAVERS, _saver_def, _to_proto, _from_proto
)
