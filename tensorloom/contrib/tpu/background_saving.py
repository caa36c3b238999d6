"""Checkpoints that are written while the training goes on."""

from __future__ import annotations

import threading
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook


@export("contrib.tpu.AsyncCheckpointSaverHook")
class AsyncCheckpointSaverHook(CheckpointSaverHook):
    """A `CheckpointSaverHook` that saves in a thread of its own.

    A checkpoint that is due while the one before is being written is left out. The last
    one is not. What goes wrong in the thread is raised when the next one is due.
    """

    _thread: threading.Thread | None = None
    _failure: BaseException | None = None

    def end(self, session: Any) -> None:
        """Waits for the checkpoint being written, then saves the last step."""
        self._wait()
        step: int = session.run(self._global_step_tensor)
        if step != self._saved_step:
            super()._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def interrupted(self, session: Any) -> None:
        """Saves what was trained when the user presses Ctrl-C."""
        self._wait()
        super()._save(session, session.run(self._global_step_tensor))
        self._summary_writer.flush()

    _saved_step: int | None = None

    def _save(self, session: Any, step: int) -> bool:
        """Saves in a thread; never asks for the end of the training."""
        if self._thread is not None:
            self._thread.join(timeout=0.1)
            if self._thread.is_alive():
                program_log.info("Saver thread still in progress, skipping checkpoint.")
                return False
        self._wait()
        self._saved_step = step
        self._thread = threading.Thread(
            target=self._save_now, args=(session, step), name="checkpoint saver"
        )
        self._thread.start()
        return False

    def _save_now(self, session: Any, step: int) -> None:
        try:
            super()._save(session, step)
        except BaseException as error:
            self._failure = error

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
