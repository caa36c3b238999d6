"""How a saver restores: by names, or by those of an object-based checkpoint."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import checkpoint_management, saver_object_graph

if TYPE_CHECKING:
    from tensorloom.train.checkpoints.saver_saveables import SaveableObject


class SaverRestoring:
    """The part of `Saver` that reads checkpoints."""

    saver_def: Any
    _is_empty: bool | None
    _var_list: Any
    _builder: Any
    _background: Any
    _object_restore_saver: Any = None

    @abc.abstractmethod
    def _saver_of(self, saveables: list[SaveableObject]) -> Any:
        """A saver with this one's builder, of other saveables."""

    def restore(self, sess: Any, save_path: Any) -> None:
        """Gives the variables the values of a checkpoint; that initializes them too.

        A checkpoint that `tf.train.Checkpoint` wrote is read by the names that its
        variables had then. If the checkpoint is lost and has a mirror, that is read.

        Raises:
          ValueError: `save_path` is None, or there is no such checkpoint.
          NotFoundError: a variable is not in the checkpoint.
          InvalidArgumentError: a dtype or shape differs.
          DataLossError: the checkpoint is damaged.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if self._background is not None:
            self._background.wait()
        prefix = filesystem.path_text(save_path)
        if not checkpoint_management.checkpoint_exists(prefix):
            raise ValueError(
                f"The passed save_path is not a valid checkpoint: {prefix}"
            )
        program_log.info("Restoring parameters from %s", prefix)
        try:
            sess.run(
                self.saver_def.restore_op_name,
                {self.saver_def.filename_tensor_name: prefix},
            )
        except errors.NotFoundError as error:
            self._restore_by_objects(sess, prefix, error)
        except errors.InvalidArgumentError as error:
            raise _with_advice(
                error, "a mismatch between the current graph and the graph"
            ) from None

    def _restore_by_objects(
        self, sess: Any, prefix: str, error: errors.NotFoundError
    ) -> None:
        try:
            keys = saver_object_graph.object_graph_key_mapping(prefix)
        except errors.NotFoundError:
            raise _with_advice(
                error, "a Variable name or other graph key that is missing"
            ) from None
        program_log.warning(
            "Restoring an object-based checkpoint using a name-based saver. This may "
            "be somewhat fragile, and will re-build the Saver. Instead, consider "
            "loading object-based checkpoints using tf.train.Checkpoint()."
        )
        saveables = saver_object_graph.remapped_saveables(prefix, self._var_list, keys)
        if self._object_restore_saver is None:
            self._object_restore_saver = self._saver_of(saveables)
        self._object_restore_saver.restore(sess=sess, save_path=prefix)


def _with_advice(error: errors.OpError, cause: str) -> errors.OpError:
    kind: Any = type(error)
    return kind(  # type: ignore[no-any-return]
        error.node_def,
        error.op,
        "Restoring from checkpoint failed. This is most likely due to "
        f"{cause} from the checkpoint. Please ensure that you have not altered the "
        f"graph expected based on the checkpoint. Original error:\n\n{error.message}",
    )
