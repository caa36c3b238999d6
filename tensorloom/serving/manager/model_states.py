"""The states of all versions, as GetModelStatus reports them, and waiting for them."""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from tensorloom.framework import errors

# Ended versions of one model that are still told of.
_MOST_ENDED: Final = 100


class State(enum.IntEnum):
    """The numbers of `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(frozen=True, slots=True)
class VersionState:
    """Where a version is."""

    state: State
    #: Why it ended; `errors.OK` and no message if nothing went wrong.
    error_code: int = 0
    error_message: str = ""
    #: `time.time()` of the change.
    since: float = 0.0


class ModelStates:
    """A board that the manager writes on; any thread reads it and waits at it."""

    def __init__(self) -> None:
        self._models: dict[str, dict[int, VersionState]] = {}
        self._changed = threading.Condition()

    def set(
        self, name: str, version: int, state: State, error: BaseException | None = None
    ) -> None:
        """Notes a version's state."""
        code, message = _status(error)
        entry = VersionState(state, code, message, time.time())
        with self._changed:
            versions = self._models.setdefault(name, {})
            versions[version] = entry
            ended = [v for v, s in versions.items() if s.state is State.END]
            for old in sorted(ended)[:-_MOST_ENDED]:
                del versions[old]
            self._changed.notify_all()

    def versions(self, name: str) -> dict[int, VersionState]:
        """The versions of a model, the newest first; none if it is not known."""
        with self._changed:
            found = dict(self._models.get(name, {}))
        return dict(sorted(found.items(), reverse=True))

    def models(self) -> list[str]:
        """The names of all models that were ever seen."""
        with self._changed:
            return sorted(self._models)

    def is_available(self, name: str, version: int) -> bool:
        """Whether a version takes requests."""
        entry = self._models.get(name, {}).get(version)
        return entry is not None and entry.state is State.AVAILABLE

    def wait_available(
        self,
        names: Iterable[str],
        timeout_s: float | None,
        must_end: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Waits until each of the models has an available version.

        Args:
          names: of the models.
          timeout_s: how long at most; None: for ever.
          must_end: whether to wait no more; looked at twice a second.

        Returns:
          False if the time was over, or the waiting had to end.

        Raises:
          errors.UnknownError: a model has ended versions alone.
        """
        wanted = set(names)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed:
            while True:
                failed = [n for n in sorted(wanted) if self._has_failed(n)]
                if failed:
                    raise errors.UnknownError(None, None, self._tell(failed))
                if all(self._is_served(name) for name in wanted):
                    return True
                if must_end():
                    return False
                rest = 0.5 if deadline is None else deadline - time.monotonic()
                if rest <= 0:
                    return False
                self._changed.wait(min(rest, 0.5))

    def wait_settled(
        self, versions: Iterable[tuple[str, int]], timeout_s: float
    ) -> None:
        """Waits until none of the versions is on its way to be loaded."""
        wanted = list(versions)
        with self._changed:
            self._changed.wait_for(
                lambda: not any(self._is_coming(*version) for version in wanted),
                timeout_s,
            )

    def _is_coming(self, name: str, version: int) -> bool:
        entry = self._models.get(name, {}).get(version)
        return entry is not None and entry.state in (State.START, State.LOADING)

    def _is_served(self, name: str) -> bool:
        versions = self._models.get(name, {}).values()
        return any(entry.state is State.AVAILABLE for entry in versions)

    def _has_failed(self, name: str) -> bool:
        versions = self._models.get(name, {}).values()
        return (
            bool(versions)
            and all(entry.state is State.END for entry in versions)
            and any(entry.error_code for entry in versions)
        )

    def _tell(self, names: Iterable[str]) -> str:
        ended = [
            (name, version, entry)
            for name in names
            for version, entry in sorted(self._models[name].items())
            if entry.error_code
        ]
        parts = ", ".join(
            f"{{{{name: {name} version: {version}}} due to error: "
            f"{entry.error_message}}}"
            for name, version, entry in ended
        )
        return f"{len(ended)} model(s) did not become available: {{{parts}}}"


def _status(error: BaseException | None) -> tuple[int, str]:
    from tensorloom.transport.wire import status

    if error is None:
        return 0, ""
    if isinstance(error, FileNotFoundError):
        return errors.NOT_FOUND, str(error)
    if isinstance(error, errors.OpError):
        return status.to_wire(error)
    return errors.INTERNAL, str(error) or type(error).__name__
