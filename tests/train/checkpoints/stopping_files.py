"""A disk that stops a saver between any two changes of names."""

from __future__ import annotations

from tensorloom.storage.files.filesystem_interface import StagedFile
from tensorloom.storage.files.local_filesystem import LocalFileSystem


class StopError(Exception):
    """What a kill is."""


class StoppingFiles(LocalFileSystem):
    """Stops at the nth thing that it does to names, as a kill at that moment would."""

    def __init__(self, count: int) -> None:
        self._left = count

    def tick(self) -> None:
        """Counts one change of a name."""
        self._left -= 1
        if self._left < 0:
            raise StopError

    def stage(self, path: str) -> StagedFile:
        self.tick()
        return _StoppingStaged(self, super().stage(path))

    def rename(self, source: str, destination: str) -> None:
        self.tick()
        super().rename(source, destination)

    def remove(self, path: str) -> None:
        self.tick()
        super().remove(path)

    def retire(self, path: str) -> None:
        self.tick()
        super().retire(path)


class _StoppingStaged(StagedFile):
    def __init__(self, files: StoppingFiles, staged: StagedFile) -> None:
        self._files, self._staged = files, staged
        self.file = staged.file

    def seal(self) -> None:
        self._staged.seal()

    def publish(self) -> None:
        self._files.tick()
        self._staged.publish()

    def discard(self) -> None:
        self._staged.file.close()  # a dead process removes nothing
