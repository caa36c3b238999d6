"""The command line on the whole screen of a terminal, by curses."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final

from tensorloom.debug.cli import screen_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.debug.cli.screen_state import ScreenState


def is_possible() -> bool:
    """Whether there is a terminal that curses can draw on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        import curses

        curses.setupterm(os.environ.get("TERM", ""), sys.stdout.fileno())
    except (ImportError, OSError, ValueError):
        return False  # a Python without it; a stream without a file
    except curses.error:  # a terminal that nobody knows
        return False
    return curses.tigetstr("cup") is not None  # a dumb terminal has no cursor to move


class Screen:
    """Shows answers and reads lines until `converse` returns."""

    def __init__(self, state: ScreenState) -> None:
        self._state = state
        self._styles: dict[str, int] = {}

    def converse(self, first: str, answered: Callable[[str], str | None]) -> str:
        """Answers lines until one has no answer.

        Args:
          first: a line that is answered before anybody was asked.
          answered: from a line to its answer; None leaves.

        Returns:
          What was printed meanwhile, which would have torn the screen.
        """
        import curses

        with redirect_stdout(io.StringIO()) as printed:
            curses.wrapper(self._loop, first, answered)
        return printed.getvalue()

    def _loop(
        self, window: Any, first: str, answered: Callable[[str], str | None]
    ) -> None:
        self._styles = _styles()
        line: str | None = first
        while True:
            if line is not None:
                answer = answered(line)
                if answer is None:
                    return
                self._state.show(answer)
            self._draw(window)
            line = self._key(window)

    def _key(self, window: Any) -> str | None:
        """Reads a key; gives the line that it ends."""
        import curses

        try:
            key = window.get_wch()
        except curses.error:  # the window got another size
            return None
        name = key if isinstance(key, str) else curses.keyname(key).decode()
        if name == "\x04" and not self._state.text:  # Ctrl-D
            return "exit"
        return self._state.press(name)

    def _draw(self, window: Any) -> None:
        state = self._state
        state.height, state.width = window.getmaxyx()
        window.erase()
        # What a small window has no room for is left out from the top.
        for y, row in enumerate(state.drawn()[-state.height :]):
            x = 0
            for text, style in row:
                text = text[: max(0, state.width - 1 - x)]
                window.addstr(y, x, text, self._styles[style])
                x += len(text)
        column = min(max(0, state.cursor_column), state.width - 1)
        window.move(min(state.height, len(state.drawn())) - 1, column)
        window.refresh()


_COLOURS: Final = {screen_state.ERROR: "RED", screen_state.PROMPT: "CYAN"}


def _styles() -> dict[str, int]:
    """The attributes of each style; colours only where there are some."""
    import curses

    styles = {
        screen_state.PLAIN: curses.A_NORMAL,
        screen_state.BAR: curses.A_REVERSE,
        screen_state.PROMPT: curses.A_BOLD,
        screen_state.ERROR: curses.A_BOLD,
        screen_state.FOUND: curses.A_REVERSE,
    }
    if curses.has_colors():
        curses.use_default_colors()
        for number, (style, colour) in enumerate(_COLOURS.items(), 1):
            curses.init_pair(number, getattr(curses, f"COLOR_{colour}"), -1)
            styles[style] |= curses.color_pair(number)
    return styles
