"""`tensorflow.python.framework.registry`: classes and functions by name."""

from __future__ import annotations

import sys
from typing import Any

from tensorloom.client.program.compat import as_text


class Registry:
    """What a library's decorator registers, and where it did so."""

    def __init__(self, name: str) -> None:
        """Makes an empty registry; `name` is what messages call its kind."""
        self._name = name
        # Name -> (what it stands for, function, file and line that registered it).
        self._registered: dict[str, tuple[Any, tuple[str, str, int]]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Registers something.

        Args:
          candidate: a class or function.
          name: its name here; its own if left out.

        Raises:
          KeyError: there is something of that name.
        """
        name = name or str(candidate.__name__)
        if name in self._registered:
            function, file, line = self._registered[name][1]
            raise KeyError(
                f"Registering two {self._name} with name '{name}'! (Previous "
                f"registration was in {function} {file}:{line})"
            )
        frame = sys._getframe(1)
        # The caller is what makes a decorator; the program stands above it.
        frame = frame.f_back or frame
        code = frame.f_code
        place = code.co_name, code.co_filename, frame.f_lineno
        self._registered[name] = candidate, place

    def list(self) -> list[str]:
        """The names."""
        return list(self._registered)

    def lookup(self, name: str | bytes) -> Any:
        """What stands under a name. Raises LookupError if nothing does."""
        name = as_text(name)
        if name not in self._registered:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registered[name][0]
