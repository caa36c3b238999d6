"""A second copy of checkpoints and exports, elsewhere, made in the background.

    mirror = tf.storage.Mirror("/data/run1", "s3://backup/run1")

From then on what savers and exporters put under `/data/run1` is copied to the second
place, and what cannot be read under `/data/run1` is read from there. The environment
variable `TENSORLOOM_MIRROR="/data/run1=s3://backup/run1"` does the same for programs
that know nothing of it; several pairs are separated by `;`.

A set of files that belong together (a checkpoint) is copied as one: nothing of it has
its name at the second place before all of it is there. While the newest set of a
directory could not be copied, the last checkpoint that is there is not removed.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.leftovers import remove_leftovers
from tensorloom.storage.files.local_filesystem import LocalFileSystem, local_path

_logger = logging.getLogger("tensorloom")
_COPY_CHUNK = 1 << 22
_LONGEST_DELAY_S = 60.0
_EXIT_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a mirror still has to do."""

    files: int  # that wait or are being copied
    bytes: int  # of those
    oldest_s: float  # how long the first of them waits
    failed: tuple[str, ...]  # files given up after all retries, newest last
    last_error: str  # "" when the last attempt was a success


@dataclass(slots=True)
class _Job:
    """A set of files to copy, or to remove at the second place."""

    copies: Sequence[str]  # in the order of publication
    contents: Mapping[str, bytes]  # files whose copy differs; published last
    removals: Sequence[str] = ()
    size: int = 0
    since: float = field(default_factory=time.monotonic)

    @property
    def files(self) -> int:
        return len(self.copies) + len(self.contents) + len(self.removals)


@export("storage.Mirror")
class Mirror:
    """Copies what is published under one directory to another place.

    Args:
      source: the directory that is mirrored, of any scheme.
      destination: the other place, of any scheme.
      retries: attempts for a set after the first one fails.
      retry_delay_s: before the first of them; doubled each time, to a minute.
      remove: whether what a saver removes is removed there too.

    Raises:
      InvalidArgumentError: both places are one.
    """

    def __init__(
        self,
        source: str,
        destination: str,
        retries: int = 8,
        retry_delay_s: float = 1.0,
        remove: bool = True,
    ) -> None:
        self.source = filesystem.path_text(source).rstrip("/")
        self.destination = filesystem.path_text(destination).rstrip("/")
        if filesystem.absolute(self.source) == filesystem.absolute(self.destination):
            raise errors.InvalidArgumentError(
                None, None, f"a mirror of {self.source} cannot be the same place"
            )
        self._retries = retries
        self._retry_delay_s = retry_delay_s
        self._remove = remove
        self._jobs: deque[_Job] = deque()
        self._failed: list[str] = []
        self._failure = ""  # why the last of them failed
        self._last_error = ""
        # Directories whose newest set is not there, and what is to go then only.
        self._missed: set[str] = set()
        self._held: list[str] = []
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        with _lock:
            _mirrors.append(self)

    # --- paths -----------------------------------------------------------------------

    def copy_of(self, path: str) -> str | None:
        """The path at the second place; None for what is not mirrored."""
        for one, root in (
            (path, self.source),
            (filesystem.absolute(path), filesystem.absolute(self.source)),
        ):
            if one == root or one.startswith(root + "/"):
                return self.destination + one[len(root) :]
        return None

    # --- jobs ------------------------------------------------------------------------

    def copy(
        self, paths: Iterable[str], contents: Mapping[str, bytes] | None = None
    ) -> None:
        """Copies a set of files in the background; returns at once.

        Args:
          paths: what is not under the source is left out.
          contents: files that get other bytes than theirs, after all others.
        """
        copies = [path for path in paths if self.copy_of(path)]
        other = {p: data for p, data in (contents or {}).items() if self.copy_of(p)}
        size = sum(map(len, other.values()))
        with contextlib.suppress(errors.OpError):
            size += filesystem.total_size(copies)
        self._add(_Job(copies, other, size=size))

    def remove(self, paths: Iterable[str]) -> None:
        """Removes copies in the background, after the jobs before."""
        found = [path for path in paths if self.copy_of(path)]
        if found and self._remove:
            self._add(_Job((), {}, found))

    def _add(self, job: _Job) -> None:
        if not job.files:
            return
        with self._changed:
            if self._closed:
                raise errors.FailedPreconditionError(
                    None, None, f"the mirror of {self.source} is closed"
                )
            self._jobs.append(job)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._work, name="tensorloom-mirror", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    # --- state -----------------------------------------------------------------------

    @property
    def backlog(self) -> Backlog:
        """What is still to do, and what went wrong."""
        with self._changed:
            jobs = list(self._jobs)
            oldest = time.monotonic() - jobs[0].since if jobs else 0.0
            return Backlog(
                sum(job.files for job in jobs),
                sum(job.size for job in jobs),
                oldest,
                tuple(self._failed),
                self._last_error,
            )

    def flush(self, timeout_s: float | None = None) -> None:
        """Waits until all is copied.

        Raises:
          DeadlineExceededError: it is not, in that time.
          UnavailableError: files were given up; they are forgotten by this.
        """
        with self._changed:
            done = self._changed.wait_for(lambda: not self._jobs, timeout_s)
            failed, self._failed = self._failed, []
        if not done:
            left = self.backlog
            raise errors.DeadlineExceededError(
                None,
                None,
                f"mirror of {self.source}: {left.files} files ({left.bytes} bytes) are "
                f"not at {self.destination} yet. {left.last_error}".rstrip(),
            )
        if failed:
            raise errors.UnavailableError(
                None,
                None,
                f"mirror of {self.source}: {len(failed)} files could not be copied to "
                f"{self.destination}, the last of them {failed[-1]}: {self._failure}",
            )

    def close(self, timeout_s: float | None = None) -> None:
        """Waits as `flush` does, and ends the mirror."""
        try:
            self.flush(timeout_s)
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            with _lock:
                if self in _mirrors:
                    _mirrors.remove(self)

    def __enter__(self) -> Mirror:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- the thread ------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._closed)
                if not self._jobs:
                    return
                job = self._jobs[0]
            error = self._run_with_retries(job)
            with self._changed:
                self._jobs.popleft()
                self._last_error = error
                if error and job.copies:
                    self._failed.extend([*job.copies, *job.contents])
                    self._failure = error
                self._changed.notify_all()

    def _run_with_retries(self, job: _Job) -> str:
        """Runs a job; what went wrong in the end."""
        delay = self._retry_delay_s
        for attempt in range(self._retries + 1):
            try:
                self._run(job)
            except Exception as error:
                # A store's client can raise anything; the thread must go on.
                text = f"{type(error).__name__}: {error}"
            else:
                return ""
            with self._changed:
                self._last_error = text
                if attempt == self._retries or self._closed:
                    break
                self._changed.wait_for(lambda: self._closed, delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)
        _logger.warning("Mirror of %s gives up: %s", self.source, text)
        return text

    def _run(self, job: _Job) -> None:
        if job.removals:
            self._remove_copies(job.removals)
        if not (job.copies or job.contents):
            return
        directories = {filesystem.parent(path) for path in job.copies}
        self._missed |= directories
        if not self._copy_set(job):
            return
        self._missed -= directories
        held, self._held = self._held, []
        if held:
            self._remove_copies(held)

    def _remove_copies(self, paths: Sequence[str]) -> None:
        """Removes copies; holds back the last checkpoint where a newer one failed."""
        for directory in {filesystem.parent(path) for path in paths}:
            doomed = [path for path in paths if filesystem.parent(path) == directory]
            if directory in self._missed and not self._has_other(directory, doomed):
                self._held.extend(doomed)
                continue
            for path in doomed:
                filesystem.remove_if_exists(self._target(path))

    def _has_other(self, directory: str, doomed: Sequence[str]) -> bool:
        """Whether a directory's copy has a checkpoint that is not to be removed."""
        target = self._target(directory)
        names = {path.rpartition("/")[2] for path in doomed}
        return filesystem.is_directory(target) and any(
            name.endswith(".index") and name not in names
            for name in filesystem.list_directory(target)
        )

    def _copy_set(self, job: _Job) -> bool:
        """Copies a set; False if it was removed since, or a later job replaces it."""
        before = self._versions(job.copies)
        if before is None:
            return False
        with contextlib.ExitStack() as stack:
            staged = []
            for path in job.copies:
                one = self._stage(path)
                stack.callback(one.discard)
                staged.append(one)
                self._fill(path, one)
            if self._versions(job.copies) != before:
                return False
            for one in staged:
                one.publish()
            stack.pop_all()
        for directory in {filesystem.parent(self._target(p)) for p in job.copies}:
            if isinstance(filesystem.filesystem_of(directory), LocalFileSystem):
                remove_leftovers(local_path(directory))
        for path, data in job.contents.items():
            filesystem.write_file(self._target(path), data)
        return True

    def _target(self, path: str) -> str:
        target = self.copy_of(path)
        assert target is not None
        return target

    def _stage(self, path: str) -> filesystem.StagedFile:
        target = self._target(path)
        filesystem.make_directories(filesystem.parent(target))
        return filesystem.stage_file(target)

    def _fill(self, path: str, staged: filesystem.StagedFile) -> None:
        with filesystem.open_file(path) as reader:
            while chunk := reader.read(_COPY_CHUNK):
                staged.file.write(chunk)
        staged.seal()

    @staticmethod
    def _versions(paths: Sequence[str]) -> list[filesystem.FileStatistics] | None:
        """What tells that files are the same; None when one is gone."""
        try:
            return [filesystem.stat(path) for path in paths]
        except errors.NotFoundError:
            return None


# --- all mirrors ---------------------------------------------------------------------

_lock = threading.Lock()
_mirrors: list[Mirror] = []
_from_environment = False


def mirrors() -> list[Mirror]:
    """The mirrors there are, those of the environment too.

    Raises:
      InvalidArgumentError: the environment variable is not of its form.
    """
    global _from_environment
    with _lock:
        text = "" if _from_environment else os.environ.get("TENSORLOOM_MIRROR", "")
        _from_environment = True
    for pair in filter(None, (part.strip() for part in text.split(";"))):
        source, equals, destination = pair.partition("=")
        if not (source and equals and destination):
            raise errors.InvalidArgumentError(
                None, None, f"TENSORLOOM_MIRROR: expected SOURCE=DESTINATION: {pair!r}"
            )
        Mirror(source, destination)
    with _lock:
        return list(_mirrors)


def published(
    paths: Sequence[str], contents: Mapping[str, bytes] | None = None
) -> None:
    """Tells the mirrors of a set of files that is in place now, see `Mirror.copy`."""
    for mirror in mirrors():
        mirror.copy(paths, contents)


def removed(paths: Sequence[str]) -> None:
    """Tells the mirrors of files that were removed on purpose."""
    for mirror in mirrors():
        mirror.remove(paths)


def copies_of(path: str) -> list[str]:
    """Where else a path may be found."""
    copies = (mirror.copy_of(path) for mirror in mirrors())
    return [copy for copy in copies if copy is not None]


@atexit.register
def _finish() -> None:
    deadline = time.monotonic() + _EXIT_TIMEOUT_S
    for mirror in _mirrors:
        try:
            mirror.flush(max(0.0, deadline - time.monotonic()))
        except errors.OpError as error:
            _logger.warning("%s", error.message)
