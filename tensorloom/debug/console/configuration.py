"""The settings of tfdbg's command lines, which a file in the home directory keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Final

from tensorloom.debug.console.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

_DEFAULTS: Final[dict[str, Any]] = {"graph_recursion_depth": 20, "mouse_mode": True}
_WORDS: Final = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False),
}


class CLIConfig:
    """Properties by name; each change is written to the file."""

    def __init__(self, config_file_path: str | None = None) -> None:
        """Reads the file, and writes it; one that cannot be read or written is ignored.

        Args:
          config_file_path: `~/.tfdbg_config` if it is None.
        """
        home = os.path.join(os.path.expanduser("~"), ".tfdbg_config")
        self._path = config_file_path or home
        self._config: dict[str, Any] = {**_DEFAULTS, **self._load()}
        self._callbacks: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._save()

    def get(self, property_name: str) -> Any:
        """The value of a property. Raises KeyError if there is none of that name."""
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Changes a property, and calls its callback.

        Args:
          property_name: which one.
          property_val: is made one of the type of the old value; of bool there are
            words: on, off, yes, no and others.

        Raises:
          KeyError: there is no such property.
          ValueError: the value cannot be made one of the type.
          TypeError: the old value is of a type that nobody can set.
        """
        kind = type(self.get(property_name))
        if kind is bool and isinstance(property_val, str):
            word = property_val.lower()
            if word not in _WORDS:
                raise ValueError(f"Invalid string value for bool type: {property_val}")
            property_val = _WORDS[word]
        elif kind not in (bool, int, str):
            raise TypeError(f"Unsupported property type: {kind}")
        self._config[property_name] = kind(property_val)
        self._save()
        if property_name in self._callbacks:
            self._callbacks[property_name](self._config)

    def set_callback(
        self, property_name: str, callback: Callable[[dict[str, Any]], Any]
    ) -> None:
        """Has a function called with all properties whenever `set` changes one.

        Raises:
          KeyError: there is no such property.
          TypeError: the callback cannot be called.
        """
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """All properties as text, the one named `highlight` in bold."""
        lines = [RichLine("Command-line configuration:", "bold"), RichLine("")]
        for name, value in self._config.items():
            bold = "bold" if name == highlight else None
            named = RichLine("  ") + RichLine(name, ["underline", bold])
            lines.append(named + ": " + RichLine(str(value), bold))
        return rich_text_lines_from_rich_line_list(lines)

    def _check(self, name: str) -> None:
        if name not in self._config:
            raise KeyError(f"{name} is not a valid property name.")

    def _load(self) -> dict[str, Any]:
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return dict(sorted(found.items())) if isinstance(found, dict) else {}

    def _save(self) -> None:
        try:
            with open(self._path, "w", encoding="utf-8") as file:
                json.dump(self._config, file)
        except OSError:
            pass
