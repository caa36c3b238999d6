"""One writer of a checkpoint directory, where the job has a lock service."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.coordination.coordinator import (
    VARIABLE,
    Coordinator,
    open_coordinator,
)
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.fences import Fence
from tensorloom.storage.checkpoints import write_tokens
from tensorloom.storage.checkpoints.write_tokens import WriteToken
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.coordination.lock import Holder, Lock

# How long a writer in waiting asks a service that does not answer.
_SERVICE_S: Final = 600.0

_coordinators: dict[str, Coordinator] = {}
_claims: dict[str, WriterClaim] = {}
_mutex = threading.Lock()


def job_coordinator() -> Coordinator | None:
    """The connection to the service of this job; None if the environment names none.

    All of a process share it. It is closed when the process ends.

    Raises:
      ValueError, ImportError, errors.UnavailableError: as `open_coordinator`.
    """
    url = os.environ.get(VARIABLE)
    if not url:
        return None
    with _mutex:
        if url not in _coordinators:
            if not _coordinators:
                atexit.register(_close_all)
            _coordinators[url] = open_coordinator(url)
        return _coordinators[url]


def _close_all() -> None:
    with _mutex:
        for coordinator in _coordinators.values():
            coordinator.close()
        _coordinators.clear()
        _claims.clear()


class WriterClaim:
    """This process is the writer of a directory, or is to be.

    Args:
      coordinator: the service.
      directory: of checkpoints, of any file system.
    """

    def __init__(self, coordinator: Coordinator, directory: str) -> None:
        self.directory = directory
        self._lock: Lock = coordinator.lock(f"writer of {_name(directory)}")
        self._service = coordinator.store.name
        self._owner = ""
        #: What sessions of this process say, once it was made the writer.
        self.fence: Fence | None = None
        #: Whether this process was made the writer, and has not released it.
        self.is_taken = False

    @property
    def is_held(self) -> bool:
        """Whether nobody else can be the writer yet."""
        return self._lock.is_held

    def take(self) -> None:
        """Becomes the writer at once.

        Raises:
          errors.AbortedError: this process was the writer, and another was since: what
            it has in its variables may be older than what is in the directory.
          errors.FailedPreconditionError: another process is; it says who.
          errors.UnavailableError: the service does not answer.
        """
        if self.is_taken:
            self.check()
            return
        # It may have the lock, and not have been told: the service went away then.
        if not self._lock.is_held and not self._lock.acquire(timeout_s=0):
            holder = self._lock.holder()
            raise errors.FailedPreconditionError(
                None,
                None,
                f"Checkpoints in {self.directory} are written by "
                f"{holder or 'a process that has just ended'}. Save to another "
                "directory, or wait until it has ended.",
            )
        self._owner = str(self._lock.token)
        self._write_token()

    def wait_to_take(self) -> None:
        """Becomes the writer when the present one has ended.

        Raises:
          errors.DeadlineExceededError: the service has not answered for ten minutes.
        """
        answered = concurrency.monotonic()
        while True:
            try:
                if self._lock.is_held or self._lock.acquire(on_wait=self._say):
                    filesystem.make_directories(self.directory)
                    self._owner = str(self._lock.token)
                    self._write_token()
                    return
            except errors.UnavailableError as error:
                if concurrency.monotonic() - answered > _SERVICE_S:
                    raise errors.DeadlineExceededError(
                        None, None, error.message
                    ) from error
                program_log.warning("%s; asking again", error.message)
                concurrency.sleep(1.0)
            else:
                answered = concurrency.monotonic()

    def check(self) -> None:
        """Looks whether this process is the writer; takes what nobody had meanwhile.

        It asks the service only when the lease has ended.

        Raises:
          errors.AbortedError: another process is, or was.
          errors.UnavailableError: the service does not answer.
        """
        if self._lock.is_held:
            return
        unchanged = write_tokens.is_own(self.directory)
        if not unchanged or not self._lock.acquire(timeout_s=0):
            raise self._lock.lost()
        # Who had the lock in between wrote its token before anything else.
        if not write_tokens.is_own(self.directory):
            self._lock.release()
            raise self._lock.lost()
        self._write_token()

    def release(self) -> None:
        """Lets the next one write."""
        write_tokens.release(self.directory)
        self.is_taken = False
        try:
            self._lock.release()
        except errors.UnavailableError as error:
            program_log.warning("%s; its lease will end", error.message)

    def _write_token(self) -> None:
        if not filesystem.is_directory(self.directory):
            # As a save does; what is wrong shows there.
            with contextlib.suppress(errors.OpError):
                filesystem.make_directory(self.directory)
        me = self._lock.holder()
        token = WriteToken(
            self._service, self._lock.token, str(me or "a process unknown")
        )
        write_tokens.claim(self.directory, token)
        scope = f"{self._lock.name} at {self._service}"
        self.fence = Fence(scope, token.token, self._owner, token.holder)
        self.is_taken = True

    def _say(self, holder: Holder) -> None:
        program_log.info(
            "Waiting for the checkpoint directory %s: %s writes it.",
            self.directory,
            holder,
        )


def claim(directory: str, wait: bool) -> WriterClaim | None:
    """Makes this process the writer of a directory; None where nothing coordinates.

    It stays the writer until `WriterClaim.release`, or its end.

    Args:
      directory: of checkpoints; made if it is not there.
      wait: whether to wait while another process is.

    Raises:
      errors.FailedPreconditionError: another process is, and `wait` is False.
      errors.AbortedError: this process was the writer and another was since, and `wait`
        is False. The next call makes it the writer again, if it can.
      errors.UnavailableError: the service does not answer.
      errors.DeadlineExceededError: it has not for ten minutes, and `wait` is True.
    """
    coordinator = job_coordinator()
    if coordinator is None:
        return None
    name = _name(directory)
    with _mutex:
        found = _claims.get(name)
        if found is None:
            found = _claims[name] = WriterClaim(coordinator, directory)
    if not (found.is_held and found.is_taken):
        if wait:
            found.wait_to_take()
        else:
            try:
                found.take()
            except errors.AbortedError:
                with _mutex:
                    _claims.pop(name, None)
                raise
    return found


def check(directory: filesystem.Path | None) -> None:
    """Looks whether a process that was made the writer of a directory still is.

    It is called right before variables get values that are not from training: a chief
    that slept must not put old ones over those of a chief that trains.

    Raises:
      errors.AbortedError: another process is, or was.
      errors.UnavailableError: the service does not answer.
    """
    if directory and _claims:
        found = _claims.get(_name(filesystem.path_text(directory)))
        if found is not None and found.is_taken:
            found.check()


def fenced(directory: filesystem.Path | None, config: Any) -> Any:
    """The config of a session that initializes or restores what a directory saves.

    If this process was made the directory's writer, parameter servers refuse the steps
    of the session as soon as they have seen one of the next writer's.

    Args:
      config: a `ConfigProto` or None; it is not changed.
    """
    found = None
    if directory and _claims:
        found = _claims.get(_name(filesystem.path_text(directory)))
    if found is None or found.fence is None or not found.is_taken:
        return config
    from tensorloom.protos.config_pb2 import ConfigProto

    own = ConfigProto()
    if config is not None:
        own.CopyFrom(config)
    for name, value in asdict(found.fence).items():
        setattr(own.experimental.fence, name, value)
    return own


def _name(directory: str) -> str:
    return directory if "://" in directory else os.path.realpath(directory)
