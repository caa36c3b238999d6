"""Sessions of the one process that writes into a checkpoint directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.coordination import writers
from tensorloom.storage.files import filesystem
from tensorloom.train.hooks.session_run_hook import SessionRunContext, SessionRunHook
from tensorloom.train.sessions.creators import SessionCreator

if TYPE_CHECKING:
    from tensorloom.coordination.writers import WriterClaim


class WritingSessionCreator(SessionCreator):
    """Waits until this process is the writer, then has another creator make a session.

    So a second chief waits, and begins with the checkpoint that the first has left.

    Args:
      inside: makes the sessions.
      directory: of the checkpoints.
    """

    def __init__(self, inside: SessionCreator, directory: Any) -> None:
        self._inside = inside
        self._directory = filesystem.path_text(directory)
        self.claim: WriterClaim | None = None

    def create_session(self) -> Any:
        """A session of the writer.

        Raises:
          errors.DeadlineExceededError: the lock service has not answered for long.
        """
        self.claim = writers.claim(self._directory, wait=True)
        return self._inside.create_session()


class WriterHook(SessionRunHook):
    """Ends a session whose process is not the writer any more.

    The error is one after which `MonitoredSession` makes a new session: it waits then.

    Args:
      creator: of the session.
    """

    def __init__(self, creator: WritingSessionCreator) -> None:
        self._creator = creator

    def before_run(self, run_context: SessionRunContext) -> None:
        """Raises errors.AbortedError when another process is the writer."""
        if self._creator.claim is not None:
            self._creator.claim.check()

    def end(self, session: Any) -> None:
        """Lets the next one write, when all that is to be saved is."""
        if self._creator.claim is not None:
            self._creator.claim.release()
