"""The shared disk of a simulated cluster: a process may stop or die at each operation.

The files are real ones, in a directory of this machine. A simulated process that dies
between two operations leaves there what a real one would.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from unittest import mock

from tensorloom.storage.checkpoints import bundle_files, write_tokens
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.filesystem_interface import StagedFile
from tensorloom.storage.files.local_filesystem import LocalFileSystem

if TYPE_CHECKING:
    from tensorloom.simulate.scheduler import Process, Scheduler

_POLL_S: Final = 0.005


class _Staged(StagedFile):
    """A file whose writing and naming are operations of the disk."""

    def __init__(
        self,
        inside: StagedFile,
        operate: Callable[[], None],
        named: Callable[[], None],
    ) -> None:
        self._inside = inside
        self._operate = operate
        self._named = named

    @property
    def file(self) -> BinaryIO:  # type: ignore[override]
        """The file."""
        return self._inside.file

    def append(self, data: Any) -> None:
        """See `StagedFile`."""
        self._inside.append(data)

    def reserve(self, size: int) -> None:
        """See `StagedFile`."""
        self._inside.reserve(size)

    def seal(self) -> None:
        """See `StagedFile`."""
        self._operate()
        self._inside.seal()

    def publish(self) -> None:
        """See `StagedFile`."""
        self._operate()
        self._named()
        self._inside.publish()
        self._operate()

    def discard(self) -> None:
        """See `StagedFile`."""
        self._inside.discard()


class SharedDisk(LocalFileSystem):
    """The disk that all hosts see; locks of directories end with their holder.

    Args:
      scheduler: of the simulation.
      operation_s: what an operation takes at most.
      on_publish: called with the path of each file that gets its name.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        operation_s: float,
        on_publish: Callable[[str], None],
    ) -> None:
        self._scheduler = scheduler
        self._operation_s = operation_s
        self._on_publish = on_publish
        self._holders: dict[str, Process] = {}

    def _operate(self) -> None:
        scheduler = self._scheduler
        if scheduler.owns_thread:
            scheduler.sleep(self._operation_s * scheduler.random.random())

    def stage(self, path: str) -> StagedFile:
        """A new file; see `FileSystem`."""
        self._operate()
        return _Staged(
            super().stage(path), self._operate, lambda: self._on_publish(path)
        )

    def rename(self, source: str, destination: str) -> None:
        """Renames in one step."""
        self._operate()
        super().rename(source, destination)
        self._operate()

    def remove(self, path: str) -> None:
        """Removes a file."""
        self._operate()
        super().remove(path)

    def retire(self, path: str) -> None:
        """Removes a file."""
        self._operate()
        super().remove(path)

    @contextmanager
    def directory_lock(self, path: str) -> Iterator[None]:
        """As `write_tokens.directory_lock`, among the processes of the simulation."""
        scheduler = self._scheduler
        me = scheduler.here.process
        place = os.path.realpath(path or ".")
        while (holder := self._holders.get(place)) is not None and not holder.is_dead:
            scheduler.sleep(_POLL_S)
        self._holders[place] = me
        try:
            yield
        finally:
            if self._holders.get(place) is me:
                del self._holders[place]

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Within the block it is where paths without a scheme are."""
        with ExitStack() as stack:
            stack.enter_context(mock.patch.dict(filesystem._found, {"": self}))
            for module in (write_tokens, bundle_files):
                stack.enter_context(
                    mock.patch.object(module, "directory_lock", self.directory_lock)
                )
            yield
