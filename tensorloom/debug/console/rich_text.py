"""Lines of text with colours, as commands of a program's own give them.

A segment is `(begin, end, attribute)` in columns of its row. An attribute is a colour
("red", "black_on_white"), "bold", "underline" or "blink", a `MenuItem` whose command a
click runs, or a list of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tensorloom.storage.files.file_io import FileIO

HELP_INDENT: Final = "  "
REGEX_MATCH_LINES_KEY: Final = "regex_match_lines"
INIT_SCROLL_POS_KEY: Final = "init_scroll_pos"
MAIN_MENU_KEY: Final = "mm:"

Segment = tuple[int, int, Any]


class StyledText(str):
    """A text whose rows have segments."""

    styles: Mapping[int, Sequence[Segment]] = {}


def linked(line: str, part: str, attribute: Any) -> RichLine:
    """A line whose last occurrence of a part has an attribute."""
    before, found, after = line.rpartition(part)
    return RichLine(before) + RichLine(found, attribute) + after


def appended(text: str, lines: Iterable[str]) -> StyledText:
    """A text with more lines, which have no segments."""
    found = StyledText("\n".join([text, *lines]))
    found.styles = getattr(text, "styles", {})
    return found


class MenuItem:
    """A command that can be clicked."""

    def __init__(self, caption: str | None, content: str, enabled: bool = True) -> None:
        """Makes one.

        Args:
          caption: what a menu shows.
          content: the command.
          enabled: whether a click runs it.
        """
        self._caption, self._content, self._enabled = caption, content, enabled

    @property
    def caption(self) -> str | None:
        """What a menu shows."""
        return self._caption

    @property
    def content(self) -> str:
        """The command."""
        return self._content

    def is_enabled(self) -> bool:
        """Whether a click runs it."""
        return self._enabled

    def disable(self) -> None:
        """Has clicks do nothing."""
        self._enabled = False

    def enable(self) -> None:
        """Has clicks run it again."""
        self._enabled = True


class Menu:
    """Items side by side."""

    def __init__(self, name: str | None = None) -> None:
        """Makes one without items."""
        self.name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        """Adds an item at the end."""
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        """Adds an item at a place."""
        self._items.insert(index, item)

    def num_items(self) -> int:
        """How many there are."""
        return len(self._items)

    def captions(self) -> list[str | None]:
        """Their captions."""
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The first item of a caption. Raises LookupError if there is none."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(
        self,
        prefix: str | None = None,
        divider: str = " | ",
        enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:
        """One line with all captions.

        Args:
          prefix: what it begins with.
          divider: stands behind each.
          enabled_item_attrs: attributes, beside the item, of those a click runs.
          disabled_item_attrs: attributes of the others.
        """
        line = RichLine(prefix or "")
        for item in self._items:
            on = item.is_enabled()
            given = enabled_item_attrs if on else disabled_item_attrs
            more = given if isinstance(given, list) else [given] if given else []
            attributes = [item, *more] if on else more
            line = line + RichLine(item.caption or "", attributes) + divider
        return RichTextLines([line.text], {0: line.font_attr_segs})


class RichLine:
    """One line, put together of parts with attributes by `+`."""

    def __init__(self, text: str = "", font_attr: Any = None) -> None:
        """Makes a line of one attribute, or of none."""
        self.text = text
        self.font_attr_segs: list[Segment] = []
        if font_attr:
            self.font_attr_segs = [(0, len(text), font_attr)]

    def __add__(self, other: str | RichLine) -> RichLine:
        """A line of both.

        Raises:
          TypeError: the other is neither a string nor a line.
        """
        if isinstance(other, str):
            other = RichLine(other)
        if not isinstance(other, RichLine):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        found = RichLine(self.text + other.text)
        found.font_attr_segs = self.font_attr_segs + _shifted(other, len(self.text))
        return found

    def __len__(self) -> int:
        return len(self.text)


def _shifted(line: RichLine, by: int) -> list[Segment]:
    return [(begin + by, end + by, what) for begin, end, what in line.font_attr_segs]


class RichTextLines:
    """Lines that a command is answered by."""

    def __init__(
        self,
        lines: str | list[str],
        font_attr_segs: Mapping[int, list[Segment]] | None = None,
        annotations: Mapping[Any, Any] | None = None,
    ) -> None:
        """Makes lines.

        Args:
          lines: one, or several.
          font_attr_segs: segments by row.
          annotations: anything, by row or by a key; they are kept, and not shown.

        Raises:
          ValueError: `lines` are of another type.
        """
        if not isinstance(lines, str | list):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self.lines = [lines] if isinstance(lines, str) else lines
        self.font_attr_segs = dict(font_attr_segs or {})
        self.annotations = dict(annotations or {})

    def num_lines(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from `begin` to before `end`, with what belongs to them.

        Raises:
          ValueError: a bound is negative.
        """
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")
        rows = {row: row - begin for row in range(begin, end)}
        return RichTextLines(
            self.lines[begin:end],
            {rows[r]: s for r, s in self.font_attr_segs.items() if r in rows},
            {
                rows.get(key, key): value
                for key, value in self.annotations.items()
                if key in rows or not isinstance(key, int)
            },
        )

    def extend(self, other: RichTextLines) -> None:
        """Adds the lines of another one; of keys that both have, its values stay."""
        shift = len(self.lines)
        self.lines.extend(other.lines)
        for row, segments in other.font_attr_segs.items():
            self.font_attr_segs[row + shift] = segments
        for key, value in other.annotations.items():
            self.annotations[key + shift if isinstance(key, int) else key] = value

    def append(self, line: str, font_attr_segs: list[Segment] | None = None) -> None:
        """Adds a line."""
        if font_attr_segs:
            self.font_attr_segs[len(self.lines)] = font_attr_segs
        self.lines.append(line)

    def append_rich_line(self, rich_line: RichLine) -> None:
        """Adds a line with its attributes."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: str, font_attr_segs: list[Segment] | None = None) -> None:
        """Puts a line before all."""
        whole = RichTextLines([line], {0: font_attr_segs} if font_attr_segs else None)
        whole.extend(self)
        self.lines, self.font_attr_segs = whole.lines, whole.font_attr_segs
        self.annotations = whole.annotations

    def write_to_file(self, file_path: str) -> None:
        """Writes the text, without its attributes.

        Raises:
          errors.OpError: the file cannot be written.
        """
        with FileIO(file_path, "w") as file:
            file.write("".join(f"{line}\n" for line in self.lines))

    def styled(self) -> StyledText:
        """All lines as one text that keeps its segments."""
        text = StyledText(self)
        text.styles = self.font_attr_segs
        return text

    def __str__(self) -> str:
        return "\n".join(self.lines)


def rich_text_lines_from_rich_line_list(
    rich_text_list: Iterable[RichLine | str],
    annotations: Mapping[Any, Any] | None = None,
) -> RichTextLines:
    """Lines with attributes, and plain ones, as one text."""
    found = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        if isinstance(line, RichLine):
            found.append_rich_line(line)
        else:
            found.append(line)
    return found


def regex_find(
    orig_screen_output: RichTextLines, regex: str, font_attr: Any
) -> RichTextLines:
    """A copy in which what a regular expression matches has an attribute.

    The annotation `REGEX_MATCH_LINES_KEY` of both has the rows with matches.

    Raises:
      ValueError: it is no regular expression.
    """
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    found = RichTextLines(
        orig_screen_output.lines, copy.deepcopy(orig_screen_output.font_attr_segs)
    )
    # The same ones: in TensorFlow, too, the original is told of the rows.
    found.annotations = orig_screen_output.annotations
    rows = []
    for row, line in enumerate(found.lines):
        matched = [(m.start(), m.end(), font_attr) for m in pattern.finditer(line)]
        if matched:
            rows.append(row)
            all_there = [*found.font_attr_segs.get(row, ()), *matched]
            found.font_attr_segs[row] = sorted(all_there, key=lambda one: one[0])
    found.annotations[REGEX_MATCH_LINES_KEY] = rows
    return found


def wrap_rich_text_lines(
    inp: RichTextLines, cols: int
) -> tuple[RichTextLines, list[int]]:
    """Breaks lines that are longer than `cols`.

    Returns:
      The rows; and for each line of before, its first row.

    Raises:
      ValueError: an argument is of a wrong type.
    """
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    plain = {k: v for k, v in inp.annotations.items() if not isinstance(k, int)}
    out = RichTextLines([], annotations=plain)
    firsts = []
    for number, line in enumerate(inp.lines):
        firsts.append(out.num_lines())
        if number in inp.annotations:
            out.annotations[out.num_lines()] = inp.annotations[number]
        segments = inp.font_attr_segs.get(number, ())
        for start in range(0, max(1, len(line)), cols):
            part = line[start : start + cols]
            whole = list(segments) if part == line else None
            out.append(part, whole or within(segments, start, len(part)))
    return out, firsts


def within(segments: Iterable[Segment], start: int, length: int) -> list[Segment]:
    """What there is of segments in a part of their row, in columns of the part."""
    cut = [
        (max(begin - start, 0), min(end - start, length), what)
        for begin, end, what in segments
    ]
    return [one for one in cut if one[0] < one[1]]


def names_of(attribute: Any) -> list[str]:
    """The names of an attribute's colours; what can be clicked is underlined."""
    if isinstance(attribute, MenuItem):
        return ["underline"]
    if isinstance(attribute, str):
        return [attribute]
    if isinstance(attribute, list | tuple):
        return [name for one in attribute for name in names_of(one)]
    return []


def command_of(attribute: Any) -> str | None:
    """The command that a click on a segment runs."""
    parts = attribute if isinstance(attribute, list | tuple) else [attribute]
    items = [one for one in parts if isinstance(one, MenuItem) and one.is_enabled()]
    return items[0].content if items else None
