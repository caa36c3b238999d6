"""The command line on the whole screen of a terminal, by curses."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final

from tensorloom.debug.console import screen_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.debug.console.screen_state import ScreenState


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
        self._attributes: Attributes | None = None
        self._had_mouse: bool | None = None  # None: it was not said yet

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
        self._attributes = Attributes()
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
        if name == "KEY_MOUSE":
            return self._mouse()
        if name == "\x04" and not self._state.text:  # Ctrl-D
            return "exit"
        return self._state.press(name)

    def _mouse(self) -> str | None:
        """Does what the mouse says; gives the command that a click asks for."""
        import curses

        try:
            _, x, y, _, buttons = curses.getmouse()
        except curses.error:  # an event that is gone already
            return None
        if buttons & _WHEEL_DOWN:
            self._state.turn_wheel(1)
        elif buttons & curses.BUTTON4_PRESSED:
            self._state.turn_wheel(-1)
        elif buttons & curses.BUTTON1_PRESSED:
            return self._state.click(y, x)
        return None

    def _listen_to_mouse(self) -> None:
        import curses

        if self._had_mouse == self._state.has_mouse:
            return
        self._had_mouse = self._state.has_mouse
        curses.mouseinterval(0)  # a press counts at once, and not as half a click
        events = curses.BUTTON1_PRESSED | curses.BUTTON4_PRESSED | _WHEEL_DOWN
        curses.mousemask(events if self._had_mouse else 0)

    def _draw(self, window: Any) -> None:
        assert self._attributes is not None
        self._listen_to_mouse()
        state = self._state
        state.height, state.width = window.getmaxyx()
        window.erase()
        # What a small window has no room for is left out from the top.
        for y, row in enumerate(state.drawn()[-state.height :]):
            x = 0
            for text, style in row:
                text = text[: max(0, state.width - 1 - x)]
                window.addstr(y, x, text, self._attributes.of(style))
                x += len(text)
        column = min(max(0, state.cursor_column), state.width - 1)
        window.move(min(state.height, len(state.drawn())) - 1, column)
        window.refresh()


# Of curses' version 2; older ones have no name for it.
_WHEEL_DOWN: Final = 0x200000
_COLOURS: Final = (
    "black",
    "blue",
    "cyan",
    "green",
    "magenta",
    "red",
    "white",
    "yellow",
)
_NEAREST: Final = {"gray": "white"}


class Attributes:
    """The attributes of styles; colours only where the terminal has some."""

    def __init__(self) -> None:
        """Asks the terminal, which curses has begun to draw on."""
        import curses

        self._pairs: dict[tuple[int, int], int] = {}
        self._has_colours = curses.has_colors()
        if self._has_colours:
            curses.use_default_colors()
        self._known = {
            screen_state.BAR: curses.A_REVERSE,
            screen_state.FOUND: curses.A_REVERSE,
            screen_state.PROMPT: curses.A_BOLD | self._colour("cyan"),
            screen_state.ERROR: curses.A_BOLD | self._colour("red"),
            "bold": curses.A_BOLD,
            "underline": curses.A_UNDERLINE,
            "blink": curses.A_BLINK,
        }

    def of(self, style: str) -> int:
        """The attribute of a style; names that there are not say nothing."""
        found = 0
        for name in style.split():
            if name not in self._known:
                self._known[name] = self._colour(name)
            found |= self._known[name]
        return found

    def _colour(self, name: str) -> int:
        """The attribute of `red`, or of `red_on_white`."""
        import curses

        front, _, back = name.partition("_on_")
        front, back = (_NEAREST.get(one, one) for one in (front, back))
        if not self._has_colours or front not in _COLOURS:
            return 0
        numbers = [
            getattr(curses, f"COLOR_{one.upper()}") if one in _COLOURS else -1
            for one in (front, back)
        ]
        pair = (numbers[0], numbers[1])
        if pair not in self._pairs:
            if len(self._pairs) + 1 >= curses.COLOR_PAIRS:
                return 0
            self._pairs[pair] = len(self._pairs) + 1
            curses.init_pair(self._pairs[pair], *pair)
        return curses.color_pair(self._pairs[pair])
