"""Names of the sessions of this process (`experimental.session_metadata`)."""

from __future__ import annotations

import threading
from typing import Final

from tensorloom.framework import errors

_taken: Final[set[tuple[str, int]]] = set()
_lock: Final = threading.Lock()


def take(metadata: tuple[str, int]) -> None:
    """Takes a name and version for a session.

    Raises:
      errors.InvalidArgumentError: another session has them, or the version is negative.
    """
    name, version = metadata
    described = f'name: "{name}"\nversion: {version}\n'
    if version < 0:
        raise errors.InvalidArgumentError(
            None, None, f"Session version shouldn't be negative: {described}"
        )
    with _lock:
        if metadata in _taken:
            raise errors.InvalidArgumentError(
                None,
                None,
                "A session with the same name and version has already been created: "
                f"{described}",
            )
        _taken.add(metadata)


def give_back(metadata: tuple[str, int]) -> None:
    """Frees them: the session has ended."""
    with _lock:
        _taken.discard(metadata)
