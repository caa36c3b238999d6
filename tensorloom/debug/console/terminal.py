"""Reads commands: on the whole screen, or line by line, also from a pipe."""

from __future__ import annotations

import sys
from typing import Any, Final

from tensorloom.debug.console.commands import CommandExit, CommandTable

PROMPT: Final = "tfdbg> "
UI_TYPES: Final = ("curses", "readline")
_LEAVES: Final = ("exit", "quit")
EXPLICIT_USER_EXIT: Final = "explicit_user_exit"


def check_ui_type(ui_type: str) -> None:
    """Raises ValueError for a user interface that there is not."""
    if ui_type not in UI_TYPES:
        raise ValueError(
            f"There is no ui_type {ui_type!r}; there are {', '.join(UI_TYPES)}"
        )


def converse(
    table: CommandTable,
    title: str,
    first: str,
    words: list[str],
    ui_type: str = "readline",
    has_mouse: bool = True,
) -> Any:
    """Asks for commands until one leaves.

    Args:
      table: the commands.
      title: is shown above all.
      first: a command that is answered before anybody was asked.
      words: names that Tab completes, beside those of commands.
      ui_type: "curses" takes the whole screen, if there is one; otherwise, and with
        "readline", there are lines of text.
      has_mouse: whether the mouse scrolls and clicks on a screen.

    Returns:
      What the command that left gives. `EXPLICIT_USER_EXIT` after `exit`, and at the
      end of the input.
    """
    from tensorloom.debug.console import curses_screen

    known = sorted({*table.names, *words, *_LEAVES})
    if ui_type == "curses" and curses_screen.is_possible():
        return _on_screen(table, title, first, known, has_mouse)
    return _in_lines(table, title, first, known)


def _on_screen(
    table: CommandTable, title: str, first: str, known: list[str], has_mouse: bool
) -> Any:
    from tensorloom.debug.console.curses_screen import Screen
    from tensorloom.debug.console.screen_state import ScreenState

    token: list[Any] = [EXPLICIT_USER_EXIT]

    def answered(line: str) -> str | None:
        if line in _LEAVES:
            return None
        try:
            return table.answer(line)
        except CommandExit as left:
            token[0] = left.token
            return None

    state = ScreenState(title, PROMPT, known, has_mouse=has_mouse)
    printed = Screen(state).converse(first, answered)
    print(printed, end="", flush=True)
    return token[0]


def _in_lines(table: CommandTable, title: str, first: str, known: list[str]) -> Any:
    print(title)
    with _Completion(known):
        line = first
        while True:
            try:
                answer = table.answer(line)
            except CommandExit as left:
                return left.token
            if answer:
                print(answer, end="\n\n", flush=True)
            try:
                line = input(PROMPT).strip()
            except EOFError:
                return EXPLICIT_USER_EXIT
            if line in _LEAVES:
                return EXPLICIT_USER_EXIT


class _Completion:
    """Completes words at a terminal in a `with` block."""

    def __init__(self, words: list[str]) -> None:
        self._words = sorted(set(words))
        self._readline: Any = None
        self._before: tuple[Any, str] | None = None

    def __enter__(self) -> None:
        if not sys.stdin.isatty():
            return
        try:
            import readline
        except ImportError:  # a Python without it
            return
        self._readline = readline
        self._before = readline.get_completer(), readline.get_completer_delims()
        readline.set_completer(self._complete)
        readline.set_completer_delims(" ")
        readline.parse_and_bind("tab: complete")

    def __exit__(self, *error: object) -> None:
        if self._readline is not None and self._before is not None:
            self._readline.set_completer(self._before[0])
            self._readline.set_completer_delims(self._before[1])

    def _complete(self, text: str, state: int) -> str | None:
        found = [word for word in self._words if word.startswith(text)]
        return found[state] if state < len(found) else None
