"""What a full-screen command line shows, and what keys do to it; no terminal here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from tensorloom.debug.console import rich_text

#: Styles of segments, which may be several with blanks between them; names of colours
#: and "bold", "underline", "blink" are, too.
PLAIN: Final = ""
BAR: Final = "bar"  # the title and the line of keys
PROMPT: Final = "prompt"
ERROR: Final = "error"
FOUND: Final = "found"  # what a search found

HINT: Final = (
    "PgUp/PgDn scroll  Tab completes  /REGEX searches  prev, next  mouse  exit"
)
_ROWS_BESIDE_OUTPUT: Final = 3  # the title, the line of keys, the prompt
_WHEEL: Final = 3  # rows that a turn of the mouse's wheel scrolls

Segment = tuple[str, str]  # text, style


@dataclass(slots=True)
class _Output:
    """What a command was answered by, and how far it is scrolled."""

    lines: list[str]
    top: int = 0
    styles: Mapping[int, Sequence[rich_text.Segment]] = field(default_factory=dict)


class _Row(NamedTuple):
    """A part of a line that fits the screen's width."""

    text: str
    segments: list[rich_text.Segment]


@dataclass(slots=True)
class ScreenState:
    """A title, an answer that scrolls, and a line that is edited."""

    title: str
    prompt: str
    words: list[str]  # that Tab completes
    height: int = 24
    width: int = 80
    text: str = ""
    cursor: int = 0
    message: str = ""  # instead of the line of keys
    has_mouse: bool = True  # whether it scrolls and clicks, or marks text
    _outputs: list[_Output] = field(default_factory=list)
    _shown: int = -1
    _history: list[str] = field(default_factory=list)
    _recalled: int | None = None  # which line of the history is in the prompt
    _typed: str = ""  # what was typed before one was recalled
    _pattern: re.Pattern[str] | None = None

    # --- answers ---------------------------------------------------------------------

    def show(self, text: str) -> None:
        """Shows an answer from its beginning; earlier ones come back by `prev`."""
        styles = text.styles if isinstance(text, rich_text.StyledText) else {}
        self._outputs.append(_Output(text.splitlines(), styles=styles))
        self._shown = len(self._outputs) - 1
        self._pattern = None
        self.message = ""

    @property
    def _output(self) -> _Output:
        return self._outputs[self._shown] if self._outputs else _Output([])

    @property
    def page(self) -> int:
        """How many rows of an answer there are on the screen."""
        return max(1, self.height - _ROWS_BESIDE_OUTPUT)

    def _rows(self) -> list[_Row]:
        """The answer in rows of the screen's width."""
        width = max(1, self.width - 1)  # the last column makes terminals scroll
        found = []
        for number, line in enumerate(self._output.lines):
            text, segments = line.expandtabs(), self._output.styles.get(number, ())
            for start in range(0, max(1, len(text)), width):
                part = text[start : start + width]
                found.append(_Row(part, rich_text.within(segments, start, len(part))))
        return found

    def _scroll_to(self, row: int) -> None:
        last = max(0, len(self._rows()) - self.page)
        self._output.top = min(max(0, row), last)

    # --- drawing ---------------------------------------------------------------------

    def drawn(self) -> list[list[Segment]]:
        """The rows of the screen, from the top, each as segments."""
        rows = self._rows()
        self._scroll_to(self._output.top)
        top = self._output.top
        shown = [self._segments(row) for row in rows[top : top + self.page]]
        shown += [[]] * (self.page - len(shown))
        end = min(len(rows), top + self.page)
        place = "all" if len(rows) <= self.page else f"{end}/{len(rows)}"
        return [
            [(self._bar(self.title), BAR)],
            *shown,
            [(self._bar(f"[{place}] {self.message or HINT}"), BAR)],
            [(self.prompt, PROMPT), (self._visible_text(), PLAIN)],
        ]

    @property
    def cursor_column(self) -> int:
        """Where the cursor stands in the last row."""
        return len(self.prompt) + self.cursor - self._hidden()

    def _hidden(self) -> int:
        """How much of a long line is left of the screen."""
        room = max(1, self.width - len(self.prompt) - 1)
        return max(0, self.cursor - room + 1)

    def _visible_text(self) -> str:
        room = max(1, self.width - len(self.prompt) - 1)
        return self.text[self._hidden() :][:room]

    def _bar(self, text: str) -> str:
        width = max(1, self.width - 1)
        return text[:width].ljust(width)

    def _segments(self, row: _Row) -> list[Segment]:
        text = row.text
        styles = [ERROR if text.startswith("ERROR: ") else PLAIN] * len(text)
        for begin, end, what in row.segments:
            styles[begin:end] = [" ".join(rich_text.names_of(what))] * (end - begin)
        for match in self._pattern.finditer(text) if self._pattern else ():
            styles[match.start() : match.end()] = [FOUND] * len(match[0])
        runs = groupby(zip(text, styles, strict=True), key=lambda one: one[1])
        return [("".join(c for c, _ in run), style) for style, run in runs]

    # --- the mouse -------------------------------------------------------------------

    def turn_wheel(self, by: int) -> None:
        """Scrolls the answer: down if `by` is 1, up if it is -1."""
        self._scroll_to(self._output.top + by * _WHEEL)

    def click(self, y: int, x: int) -> str | None:
        """The command that a click asks for.

        That of a segment that has one; of a node or tensor that Tab knows, what tells
        about it.
        """
        rows = self._rows()[self._output.top :][: self.page]
        if not 1 <= y <= len(rows):
            return None
        row = rows[y - 1]
        for begin, end, what in row.segments:
            command = rich_text.command_of(what)
            if begin <= x < end and command:
                return command
        for word in re.finditer(r"[^\s,()'\"]+", row.text):
            if word.start() <= x < word.end() and word[0] in self.words:
                command = "print_tensor" if ":" in word[0] else "node_info"
                return f"{command} {word[0]}" if command in self.words else None
        return None

    # --- keys ------------------------------------------------------------------------

    def press(self, key: str) -> str | None:
        """Does what a key says.

        Args:
          key: a character, or a name of curses such as "KEY_UP".

        Returns:
          The line that is to be answered, if the key ends one.
        """
        if key in ("\n", "\r", "KEY_ENTER"):
            return self._enter()
        self.message = ""
        scrolled = {
            "KEY_PPAGE": self._output.top - self.page,
            "KEY_NPAGE": self._output.top + self.page,
            "KEY_HOME": 0,
            "KEY_END": len(self._output.lines) + len(self._rows()),
        }
        moved = {
            "KEY_LEFT": self.cursor - 1,
            "KEY_RIGHT": self.cursor + 1,
            "\x01": 0,  # Ctrl-A
            "\x05": len(self.text),  # Ctrl-E
        }
        if key in scrolled:
            self._scroll_to(scrolled[key])
        elif key in moved:
            self.cursor = min(max(0, moved[key]), len(self.text))
        elif key in ("KEY_UP", "KEY_DOWN"):
            self._recall(-1 if key == "KEY_UP" else 1)
        elif key == "\t":
            self._complete()
        else:
            self._edit(key)
        return None

    def _edit(self, key: str) -> None:
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        if key in ("KEY_BACKSPACE", "\x7f", "\b"):
            before = before[:-1]
        elif key == "KEY_DC":
            after = after[1:]
        elif key == "\x15":  # Ctrl-U
            before = ""
        elif key == "\x0b":  # Ctrl-K
            after = ""
        elif len(key) == 1 and key.isprintable():
            before += key
        self._set_text(before + after, len(before))

    def _set_text(self, text: str, cursor: int | None = None) -> None:
        self.text, self._recalled = text, None
        self.cursor = len(text) if cursor is None else cursor

    def _enter(self) -> str | None:
        line = self.text.strip()
        self._set_text("")
        self.message = ""
        if not line:
            return None
        if not self._history or self._history[-1] != line:
            self._history.append(line)
        if line.startswith("/"):
            self._search(line[1:])
        elif line in ("prev", "next"):
            self._turn(-1 if line == "prev" else 1)
        elif line.split()[0] in {"mouse", "m"}.difference(self.words):
            self._set_mouse(line.split()[1:])
        else:
            return line
        return None

    def _set_mouse(self, words: list[str]) -> None:
        if words not in ([], ["on"], ["off"]):
            self.message = "mouse [on|off]"
            return
        self.has_mouse = words == ["on"] if words else not self.has_mouse
        does = "it scrolls and clicks" if self.has_mouse else "it marks text"
        self.message = f"The mouse is {'on' if self.has_mouse else 'off'}: {does}"

    def _turn(self, by: int) -> None:
        if 0 <= self._shown + by < len(self._outputs):
            self._shown += by
        else:
            self.message = f"There is no {'earlier' if by < 0 else 'later'} output"

    def _search(self, text: str) -> None:
        """Goes to the next row that matches; without a text, by the last pattern."""
        start = self._output.top
        if text:
            try:
                self._pattern = re.compile(text)
            except re.error as error:
                self.message = f"{text} is no regular expression: {error}"
                return
        else:
            start += 1
        if self._pattern is None:
            self.message = "There was no search: /REGEX"
            return
        rows = self._rows()
        matched = [n for n, row in enumerate(rows) if self._pattern.search(row.text)]
        if not matched:
            self.message = f"Nothing matches {self._pattern.pattern}"
            return
        later = [n for n in matched if n >= start]
        self._scroll_to(later[0] if later else matched[0])
        self.message = f"{len(matched)} lines match; / and Enter: the next one"

    def _recall(self, by: int) -> None:
        """Brings back an earlier line that begins with what was typed."""
        if self._recalled is None:
            self._typed, self._recalled = self.text, len(self._history)
        number = self._recalled + by
        while 0 <= number < len(self._history):
            if self._history[number].startswith(self._typed):
                break
            number += by
        if number < 0:
            return
        number = min(number, len(self._history))
        is_past = number == len(self._history)
        text = self._typed if is_past else self._history[number]
        self.text, self.cursor, self._recalled = text, len(text), number

    def _complete(self) -> None:
        """Completes the word before the cursor as far as it is clear."""
        head = self.text[: self.cursor]
        start = head.rfind(" ") + 1
        word = head[start:]
        found = [known for known in self.words if known.startswith(word)]
        if not found:
            return
        # What the first and the last one share, all between them do.
        first, last = min(found), max(found)
        same = [a == b for a, b in zip(first, last, strict=False)]
        length = same.index(False) if False in same else len(same)
        whole = first[:length] + (" " if len(found) == 1 else "")
        cursor = start + len(whole)
        self._set_text(head[:start] + whole + self.text[self.cursor :], cursor)
        if len(found) > 1:
            self.message = "  ".join(found)
