"""`tf.train.CheckpointManager`: numbers checkpoints and removes old ones."""

from __future__ import annotations

import time
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_session
from tensorloom.storage.checkpoints import bundle_files
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train import training_util
from tensorloom.train.checkpoints import checkpoint_management
from tensorloom.train.checkpoints.object_checkpoint import name_newest


@export("train.CheckpointManager")
class CheckpointManager:
    """Keeps the newest checkpoints of a `tf.train.Checkpoint` in a directory.

    Args:
      checkpoint: what is saved.
      directory: where to.
      max_to_keep: how many checkpoints stay; None keeps all.
      keep_checkpoint_every_n_hours: of those to be removed, one is kept for so long.
      checkpoint_name: the prefix of their names.

    Raises:
      ValueError: `max_to_keep` is not positive.
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "Expected a positive integer or `None` for `max_to_max_to_keep`, got "
                f"{max_to_keep}."
            )
        self._checkpoint = checkpoint
        self._directory = filesystem.path_text(directory)
        self._max_to_keep = max_to_keep
        self._keep_every_n_hours = keep_checkpoint_every_n_hours
        self._prefix = filesystem.join(self._directory, checkpoint_name)
        self._save_counter_assign: Any = None
        # Path -> when it was saved, of those that may be removed, oldest first.
        self._kept: dict[str, float] = {}
        self._latest_checkpoint: str | None = None
        self._last_preserved = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        """Goes on from what the state file says."""
        state = checkpoint_management.get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp
        if now < self._last_preserved:
            program_log.warning(
                "time.time() returned a value %f seconds behind the last preserved "
                "checkpoint timestamp.",
                self._last_preserved - now,
            )
            self._last_preserved = now
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        times = times or [self._last_preserved] * len(paths)
        for path, saved in zip(paths, times, strict=False):
            if min(saved, now) > self._last_preserved:
                self._kept[path] = min(saved, now)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that may be removed later, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: Any = None) -> str:
        """Writes a checkpoint in the default session, and removes old ones.

        Args:
          checkpoint_number: a number, or a tensor or variable of one; the checkpoint's
            `save_counter`, which is always incremented, when None.

        Returns:
          Its prefix.
        """
        session = get_default_session()

        def initializing(next_creator: Any, **kwargs: Any) -> Any:
            made = next_creator(**kwargs)
            session.run(made.initializer)
            return made

        with variable_creator_scope(initializing):
            counter = self._checkpoint.save_counter
        if self._save_counter_assign is None:
            self._save_counter_assign = counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        number = counter if checkpoint_number is None else checkpoint_number
        if not isinstance(number, int):
            number = training_util.global_step(session, number)
        path = self._checkpoint.write(f"{self._prefix}-{number}")
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest_checkpoint = path
        # Before the others go, so that a crash leaves no name of one that is gone.
        self._record()
        self._sweep()
        self._record()
        return str(path)

    def _record(self) -> None:
        assert self._latest_checkpoint is not None
        name_newest(
            self._directory,
            self._latest_checkpoint,
            list(self._kept),
            list(self._kept.values()),
            self._last_preserved,
        )

    def _sweep(self) -> None:
        """Removes the oldest, or keeps them for good."""
        hours = self._keep_every_n_hours
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            path, saved = next(iter(self._kept.items()))
            del self._kept[path]
            if hours and saved - hours * 3600 >= self._last_preserved:
                self._last_preserved = saved
                continue
            mirror.removed(bundle_files.remove(path))
