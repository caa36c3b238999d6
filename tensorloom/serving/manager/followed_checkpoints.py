"""A served model that takes over what its training saves, without being loaded again.

    VERSION/assets.extra/tensorloom_follow     a line: the directory of checkpoints

The variables get the values of the directory's last checkpoint. Of increments that
follow it (`dynamic_embedding.IncrementalSaver`) only the rows are read that they have.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager.followed_state import FollowedState
from tensorloom.serving.manager.state_gate import StateGate
from tensorloom.storage.checkpoints import increments
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import checkpoint_management

if TYPE_CHECKING:
    from tensorloom.serving.manager.engine import SessionEngine
    from tensorloom.storage.checkpoints.increments import Increment

#: A version with this file follows the checkpoints of the directory that it names,
#: which may be relative to the version's.
FILE: Final = "assets.extra/tensorloom_follow"
# How long further steps wait for those that run, so that the state can change: twice as
# long each time. In between they go on, for so many times as long.
_FIRST_PATIENCE_S: Final = 0.05
_LONGEST_PATIENCE_S: Final = 3.2
_ANSWERS_BETWEEN: Final = 10
_logger = logging.getLogger("tensorloom.serving")


def followed_directory(path: str) -> str | None:
    """The directory whose checkpoints a version follows; None if it follows none.

    Args:
      path: the version's directory.

    Raises:
      ValueError: its file names no directory.
      errors.OpError: it cannot be read.
    """
    file = filesystem.join(path, FILE)
    if not filesystem.exists(file):
        return None
    named = filesystem.read_file(file).decode().strip()
    if not named:
        raise ValueError(f"{file} is empty: it has to name a directory of checkpoints")
    return filesystem.join(path, named)


class FollowedCheckpoints:
    """Keeps the variables of a session at the last checkpoint, and its increments.

    Requests go on meanwhile. What was saved is read beside them; all tables and
    variables are then changed between two steps.

    Args:
      name: of the model and version, for messages.
      engine: in which a SavedModel is loaded.
      saver_def: the model's; a model without variables follows nothing.
      directory: of the checkpoints.

    Raises:
      ValueError: the model has no variables.
    """

    def __init__(
        self, name: str, engine: SessionEngine, saver_def: Any, directory: str
    ) -> None:
        if not saver_def.restore_op_name:
            raise ValueError(f"{name} has no variables that could follow {directory}")
        self._name, self._directory = name, directory
        self._state = FollowedState(engine.session, saver_def)
        self._gate = engine.gate = StateGate()
        self._checkpoint: str | None = None
        self._applied: Sequence[Increment] = ()
        self._told = ""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, poll_s: float) -> None:
        """Looks again every so many seconds, from now on."""
        self._thread = threading.Thread(
            target=self._follow, args=(poll_s,), name="tensorloom-follow", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends; a change that is being made ends first."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self, poll_s: float) -> None:
        while not self._over.wait(poll_s):
            self.look()

    def look(self) -> None:
        """Takes over what is new; says what cannot be, once, and leaves it out."""
        try:
            problem = self._take_over()
        except (OSError, ValueError, errors.OpError) as error:
            # A file may go while it is read: what it had is in a later one then.
            problem = getattr(error, "message", None) or str(error)
        if problem and problem != self._told:
            _logger.warning("%s: %s", self._name, problem)
        self._told = problem

    def _take_over(self) -> str:
        newest = checkpoint_management.latest_checkpoint(self._directory)
        if newest is None:
            return f"there is no checkpoint in {self._directory}"
        found = increments.find(newest, self._applied_to(newest))
        if newest != self._checkpoint or not _begins(found.increments, self._applied):
            # What follows is of this one alone.
            if not self._switch(self._state.read(newest, is_increment=False)):
                return ""
            self._checkpoint, self._applied = newest, ()
            _logger.info("%s has the values of %s", self._name, newest)
        for increment in found.increments[len(self._applied) :]:
            prefix = increments.increment_name(newest, increment.number)
            if not self._switch(self._state.read(prefix, is_increment=True)):
                return ""
            self._applied = [*self._applied, increment]
            _logger.info("%s has the changes of %s", self._name, prefix)
        return found.problem

    def _switch(self, change: Callable[[], None]) -> bool:
        """Makes a change between two steps; False: all is over.

        No request waits long for a step that another one has begun: such a change is
        tried again, in a while in which the model answers.
        """
        patience_s = _FIRST_PATIENCE_S
        while not self._over.is_set():
            if self._gate.change(change, patience_s):
                return True
            if patience_s == _LONGEST_PATIENCE_S:
                _logger.warning(
                    "%s: a step runs for longer than %g s; what was saved is taken "
                    "over after it",
                    self._name,
                    patience_s,
                )
            self._over.wait(_ANSWERS_BETWEEN * patience_s)
            patience_s = min(2 * patience_s, _LONGEST_PATIENCE_S)
        return False

    def _applied_to(self, checkpoint: str) -> Sequence[Increment]:
        return self._applied if checkpoint == self._checkpoint else ()


def _begins(found: Sequence[Increment], applied: Sequence[Increment]) -> bool:
    return list(found[: len(applied)]) == list(applied)
