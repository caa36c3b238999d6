"""The checkpoints that a saver has written: which are kept, which are to go."""

from __future__ import annotations

import math
import time
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import checkpoint_management


class SaverHistory:
    """The part of `Saver` that knows its earlier checkpoints."""

    saver_def: Any

    def __init__(self) -> None:
        # Path and time of each checkpoint, oldest first.
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = math.inf

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that were not removed, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Any) -> None:
        """Old form of `set_last_checkpoints_with_time`, without times."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, math.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """Sets the list of checkpoints: pairs of path and time, oldest first."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Takes over checkpoints of an earlier run, as far as they are there."""
        found = []
        for path in checkpoint_paths:
            times = checkpoint_management.get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self.set_last_checkpoints_with_time(found)

    def _record_last_checkpoint(self, path: str) -> None:
        if not self.saver_def.max_to_keep:
            return
        self._last_checkpoints = [p for p in self._last_checkpoints if p[0] != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _remove_old_checkpoint(self, newest: str, meta_graph_suffix: str) -> None:
        if not self._checkpoints_to_be_deleted:
            return
        path, made = self._checkpoints_to_be_deleted.pop(0)
        if made > self._next_checkpoint_time:
            hours = self.saver_def.keep_checkpoint_every_n_hours
            self._next_checkpoint_time += hours * 3600
            return
        if filesystem.absolute(path) == filesystem.absolute(newest):
            # What was just saved, by another spelling of its path.
            return
        try:
            checkpoint_management.remove_checkpoint(
                path, self.saver_def.version, meta_graph_suffix
            )
        except (errors.OpError, OSError) as error:
            # The checkpoint that was saved is worth more than the space.
            program_log.warning("Ignoring: %s", error)
