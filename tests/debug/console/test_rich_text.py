"""Lines with colours: put together, cut, wrapped, searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.debug.console.rich_text import (
    REGEX_MATCH_LINES_KEY,
    MenuItem,
    RichLine,
    RichTextLines,
    command_of,
    names_of,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)


def test_a_line_of_parts() -> None:
    line = RichLine("ab", "red") + "cd" + RichLine("ef", ["bold", "blue"])
    assert (line.text, len(line)) == ("abcdef", 6)
    assert line.font_attr_segs == [(0, 2, "red"), (4, 6, ["bold", "blue"])]
    with pytest.raises(TypeError, match="cannot be concatenated"):
        line + 3  # type: ignore[operator]
    lines = rich_text_lines_from_rich_line_list(["plain", line], {"key": 1})
    assert lines.lines == ["plain", "abcdef"]
    assert lines.font_attr_segs == {1: line.font_attr_segs}
    assert lines.annotations == {"key": 1}


def example() -> RichTextLines:
    segments = {0: [(0, 1, "red")], 2: [(1, 3, "blue")]}
    return RichTextLines(["one", "two", "three"], segments, {1: "b", "key": 5})


def test_lines_that_are_cut_and_joined(tmp_path: Path) -> None:
    part = example().slice(1, 3)
    assert part.lines == ["two", "three"]
    assert part.font_attr_segs == {1: [(1, 3, "blue")]}
    assert part.annotations == {0: "b", "key": 5}
    with pytest.raises(ValueError, match="negative"):
        example().slice(-1, 2)
    whole = example()
    whole.extend(part)
    assert whole.font_attr_segs == {
        0: [(0, 1, "red")],
        2: [(1, 3, "blue")],
        4: [(1, 3, "blue")],
    }
    assert whole.annotations == {1: "b", 3: "b", "key": 5}
    whole.prepend("zero", [(0, 4, "bold")])
    assert whole.lines[:2] == ["zero", "one"]
    assert whole.font_attr_segs[0] == [(0, 4, "bold")]
    assert whole.font_attr_segs[3] == [(1, 3, "blue")]
    assert whole.annotations[2] == "b"
    path = str(tmp_path / "text")
    part.write_to_file(path)
    assert Path(path).read_text() == "two\nthree\n"
    with pytest.raises(ValueError, match="Unexpected type"):
        RichTextLines(3)  # type: ignore[arg-type]


def test_a_search() -> None:
    found = regex_find(example(), "[ot]", "yellow")
    assert found.annotations[REGEX_MATCH_LINES_KEY] == [0, 1, 2]
    assert found.font_attr_segs[2] == [(0, 1, "yellow"), (1, 3, "blue")]
    assert 1 not in example().font_attr_segs
    with pytest.raises(ValueError, match="Invalid regular expression"):
        regex_find(example(), "[", "yellow")


def test_long_lines() -> None:
    rows, firsts = wrap_rich_text_lines(example(), 2)
    assert rows.lines == ["on", "e", "tw", "o", "th", "re", "e"]
    assert firsts == [0, 2, 4]
    assert rows.font_attr_segs == {
        0: [(0, 1, "red")],
        4: [(1, 2, "blue")],
        5: [(0, 1, "blue")],
    }
    assert rows.annotations == {2: "b", "key": 5}
    with pytest.raises(ValueError, match="screen_output"):
        wrap_rich_text_lines("text", 3)  # type: ignore[arg-type]


def test_what_an_attribute_says() -> None:
    item = MenuItem("caption", "ni y")
    assert names_of(["bold", ("red", item), None]) == ["bold", "red", "underline"]
    assert command_of([item, "bold"]) == "ni y"
    item.disable()
    assert not item.is_enabled()
    assert command_of(item) is None
    item.enable()
    assert (item.caption, command_of(item)) == ("caption", "ni y")
