"""A saver that, between full checkpoints, saves what has changed alone."""

from __future__ import annotations

import numbers
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.coordination import writers
from tensorloom.dynamic_embedding.shard import EmbeddingSaveable, EmbeddingShard
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import placeholder as placeholder_ops
from tensorloom.storage.checkpoints import bundle_files, increments
from tensorloom.storage.checkpoints.increments import Increment
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train import training_util
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.checkpoints.saver_builder import V2, BulkSaverBuilder


class _Chain:
    """The increments of one checkpoint, and since which saves changes count."""

    def __init__(
        self, prefix: str, written: list[Increment], since: Any, step: Any
    ) -> None:
        self.prefix, self.written, self.since = prefix, written, since
        #: Of the last save, as far as it was told.
        self.step = written[-1].step if written else step
        self.base = increments.checksum(prefix)


class IncrementalSaver(Saver):
    """A `tf.train.Saver` that also saves increments of its last checkpoint.

    An increment has the rows of embedding variables that changed since the save before,
    the keys that were removed, and all other variables. `restore` gives the variables
    what the last increment left; a plain `Saver` reads the full checkpoint alone. An
    increment that is damaged or missing is left out, with those that follow it.
    Increments are removed with their checkpoint.

    Args:
      var_list: as a `Saver`'s.
      options: those of a `Saver`.

    Raises:
      ValueError: `saver_def` is given, or `write_version` is not V2; or as a `Saver`.
    """

    def __init__(self, var_list: Any = None, **options: Any) -> None:
        if options.get("saver_def") is not None:
            raise ValueError("An IncrementalSaver makes its operations: no saver_def")
        if options.get("write_version", V2) != V2:
            raise ValueError("Increments are of checkpoints of version 2")
        self._chain: _Chain | None = None
        self._marked: Any = None
        self._step: Any = None
        super().__init__(var_list, **options)

    def build(self) -> None:
        """Adds the operations, once."""
        if self._is_built:
            return
        super().build()
        if not self._is_empty:
            with name_scope(self._name, "save_increment"):
                self._build_increments()

    def _build_increments(self) -> None:
        var_list = self._var_list
        items = var_list.values() if isinstance(var_list, dict) else list(var_list)
        shards = [shard for item in items if (shard := _shard_of(item)) is not None]
        self._since = placeholder_ops.placeholder(
            dtypes.int64, [len(shards)], name="since"
        )
        since = array_ops.unstack(self._since, len(shards)) if shards else []
        changes = {
            id(shard): EmbeddingSaveable(shard, number)
            for shard, number in zip(shards, since, strict=True)
        }

        def changed(item: Any) -> Any:
            shard = _shard_of(item)
            return item if shard is None else changes[id(shard)]

        if isinstance(var_list, dict):
            to_save: Any = {name: changed(item) for name, item in var_list.items()}
        else:
            to_save = [changed(item) for item in items]
        self._increment_def = (self._builder or BulkSaverBuilder()).build(
            to_save, reshape=self._reshape, sharded=self._sharded, name="changes"
        )
        self._numbers = [change.save_number for change in changes.values()]
        self._begin = [
            shard.run_op("KeepGone", since=number)
            for shard, number in zip(shards, since, strict=True)
        ]

    # --- full checkpoints ------------------------------------------------------------

    @property
    def saved_step(self) -> Any:
        """The global step of the last save, full or not; None if it is not known."""
        return self._chain.step if self._chain else None

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        *args: Any,
        **rest: Any,
    ) -> str | None:
        """Saves all; increments follow this checkpoint from now on. As `Saver.save`."""
        self._mark(sess, global_step)
        return super().save(sess, save_path, global_step, *args, **rest)

    def save_in_background(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        *args: Any,
        **rest: Any,
    ) -> Any:
        """As `Saver.save_in_background`; increments follow what was trained since."""
        if self._background is not None:
            self._background.wait()
        self._mark(sess, global_step)
        return super().save_in_background(sess, save_path, global_step, *args, **rest)

    def _mark(self, sess: Any, step: Any = None) -> None:
        """Changes count from here: those until the tensors are read are saved twice."""
        if not self._is_built or self._is_empty:
            return
        self._step = step if isinstance(step, numbers.Integral) else None
        old = self._chain.since if self._chain else [0] * len(self._begin)
        self._marked = sess.run(self._begin, {self._since: old})

    def _finish_save(self, save_path: str, path: str, *args: Any) -> None:
        super()._finish_save(save_path, path, *args)
        self._chain = _Chain(path, [], self._marked, self._step)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Restores a checkpoint and, in order, the increments that follow it.

        The next increment follows these. As `Saver.restore`.
        """
        super().restore(sess, save_path)
        if self._is_empty:
            return
        prefix = filesystem.path_text(save_path)
        self._chain = None
        found = increments.find(prefix)
        if found.problem:
            program_log.warning(
                "Increments of %s are restored to number %d alone: %s",
                prefix,
                len(found.increments),
                found.problem,
            )
        for increment in found.increments:
            name = increments.increment_name(prefix, increment.number)
            sess.run(
                self._increment_def.restore_op_name,
                {self._increment_def.filename_tensor_name: name},
            )
        self._mark(sess)
        if filesystem.exists(bundle_files.index_name(prefix)):
            written = list(found.increments)
            self._chain = _Chain(prefix, written, self._marked, None)

    # --- increments ------------------------------------------------------------------

    def incremental_save(self, sess: Any, global_step: Any = None) -> str:
        """Saves what changed since the last save.

        Args:
          sess: a session of the graph.
          global_step: a number, or a tensor or name of one, for the list.

        Returns:
          The prefix of the increment.

        Raises:
          errors.FailedPreconditionError: this saver has neither saved nor restored a
            checkpoint that it could follow; or a table does not know what changed since
            then. Save a full one.
          errors.AbortedError: another process has become the writer of the directory.
        """
        if self._background is not None:
            self._background.wait()
        chain = self._chain
        if chain is None:
            raise errors.FailedPreconditionError(
                None,
                None,
                "There is no checkpoint that an increment could follow: `save` or "
                "`restore` one with this saver first",
            )
        writers.claim(filesystem.parent(chain.prefix) or ".", wait=False)
        step = -1
        if global_step is not None:
            step = int(
                global_step
                if isinstance(global_step, numbers.Integral)
                else training_util.global_step(sess, global_step)
            )
        number = len(chain.written) + 1
        prefix = increments.increment_name(chain.prefix, number)
        saver_def = self._increment_def
        _, since = sess.run(
            [saver_def.save_tensor_name, self._numbers],
            {saver_def.filename_tensor_name: prefix, self._since: chain.since},
        )
        written = [
            *chain.written,
            Increment(number, step, increments.checksum(prefix)),
        ]
        increments.write(chain.prefix, chain.base, written)
        chain.written, chain.since, chain.step = written, since, step
        if mirror.mirrors():
            files = bundle_files.bundle_files(prefix)
            mirror.published([*files, increments.list_name(chain.prefix)], {})
        # What went before is in the files now.
        sess.run(self._begin, {self._since: since})
        return prefix


def _shard_of(item: Any) -> EmbeddingShard | None:
    if isinstance(item, EmbeddingSaveable):
        return item.op  # type: ignore[no-any-return]
    return item if isinstance(item, EmbeddingShard) else None
