"""What keys do to the full-screen command line."""

from __future__ import annotations

import pytest

from tensorloom.debug.console import screen_state
from tensorloom.debug.console.rich_text import (
    MenuItem,
    RichLine,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.console.screen_state import ScreenState


def state(text: str = "", height: int = 8, width: int = 20) -> ScreenState:
    made = ScreenState("title", "> ", ["list_tensors", "lt", "dense/y:0", "dense/w:0"])
    made.height, made.width = height, width
    if text:
        made.show(text)
    return made


def press(of: ScreenState, *keys: str) -> list[str]:
    """Types words, or presses a key by its name; the lines that were to be answered."""
    singles = [k for key in keys for k in ([key] if key.startswith("KEY_") else key)]
    return [line for key in singles if (line := of.press(key)) is not None]


def output(of: ScreenState) -> list[str]:
    """The rows between the title and the line of keys."""
    return ["".join(text for text, _ in row) for row in of.drawn()[1:-2]]


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        (["abc"], "abc", 3),
        (["abc", "KEY_LEFT", "KEY_LEFT", "x"], "axbc", 2),
        (["abc", "\x7f"], "ab", 2),
        (["abc", "\x01", "KEY_DC"], "bc", 0),
        (["abc", "KEY_LEFT", "\x0b"], "ab", 2),
        (["abc", "KEY_LEFT", "\x15"], "c", 0),
        (["abc", "\x01", "\x05", "d"], "abcd", 4),
        (["KEY_LEFT", "KEY_F(1)", "\x02"], "", 0),
        (["li\t"], "list_tensors ", 13),
        (["pt de\t"], "pt dense/", 9),
        (["pt dense/y\t"], "pt dense/y:0 ", 13),
        (["zz\t"], "zz", 2),
    ],
)
def test_the_line_is_edited(keys: list[str], text: str, cursor: int) -> None:
    s = state()
    assert press(s, *keys) == []
    assert (s.text, s.cursor) == (text, cursor)


def test_candidates_are_named() -> None:
    s = state()
    press(s, "pt dense/\t")
    assert s.message == "dense/y:0  dense/w:0"


def test_lines_come_back_by_their_beginning() -> None:
    s = state()
    assert press(s, "pt a\n", "lt\n", "pt b\n", "\n") == ["pt a", "lt", "pt b"]
    found = []
    press(s, "p")
    for key in ("KEY_UP", "KEY_UP", "KEY_UP", "KEY_DOWN", "KEY_DOWN", "KEY_DOWN"):
        press(s, key)
        found.append(s.text)
    assert found == ["pt b", "pt a", "pt a", "pt b", "p", "p"]


def test_an_answer_scrolls() -> None:
    s = state("\n".join(f"row {n}" for n in range(12)))
    assert output(s) == [f"row {n}" for n in range(5)]
    for key, first in [
        ("KEY_NPAGE", 5),
        ("KEY_NPAGE", 7),
        ("KEY_PPAGE", 2),
        ("KEY_END", 7),
        ("KEY_HOME", 0),
    ]:
        press(s, key)
        assert output(s)[0] == f"row {first}"
    assert s.drawn()[-2][0][0].startswith("[5/12] ")


def test_rows_fit_the_screen() -> None:
    s = state("a" * 30 + "\n\tb\nERROR: no")
    assert output(s) == ["a" * 19, "a" * 11, "        b", "ERROR: no", ""]
    assert s.drawn()[4] == [("ERROR: no", screen_state.ERROR)]
    press(s, "x" * 40 + "end")
    assert s.drawn()[-1][1][0] == "x" * 13 + "end"
    assert s.cursor_column == 18


def test_a_search_goes_from_match_to_match() -> None:
    s = state("\n".join(f"{'even' if n % 2 == 0 else 'odd'} {n}" for n in range(40)))
    press(s, "/even [23]\n")
    assert output(s)[0] == "even 2"
    assert s.drawn()[1] == [("even 2", screen_state.FOUND)]
    press(s, "/\n")
    assert output(s)[0] == "even 20"
    press(s, "/nothing\n")
    assert s.message == "Nothing matches nothing"
    press(s, "/(\n")
    assert "no regular expression" in s.message
    fresh = state("a")
    press(fresh, "/\n")
    assert "no search" in fresh.message


def test_earlier_answers_come_back() -> None:
    s = state("one")
    s.show("two")
    press(s, "prev\n")
    assert output(s)[0] == "one"
    press(s, "prev\n")
    assert "earlier" in s.message
    press(s, "next\n")
    assert output(s)[0] == "two"


def coloured() -> ScreenState:
    item = MenuItem(None, "run -n")
    line = RichLine("go", [item, "red"]) + " on and " + RichLine("further", "bold")
    made = state(height=6, width=13)
    made.show(rich_text_lines_from_rich_line_list([line, "dense/y:0"]).styled())
    return made


def test_colours_go_on_in_the_next_row() -> None:
    made = coloured()
    assert made.drawn()[1:4] == [
        [("go", "underline red"), (" on and ", ""), ("fu", "bold")],
        [("rther", "bold")],
        [("dense/y:0", "")],
    ]
    press(made, "/o\n")
    assert made.drawn()[1][:2] == [("g", "underline red"), ("o", "found")]


@pytest.mark.parametrize(
    ("y", "x", "command"),
    [
        (1, 1, "run -n"),  # the segment has a command
        (1, 2, None),
        (0, 0, None),  # the title
        (3, 4, "print_tensor dense/y:0"),  # a name that Tab knows
        (3, 11, None),
        (4, 0, None),  # below the answer
    ],
)
def test_clicks(y: int, x: int, command: str | None) -> None:
    made = coloured()
    made.words.append("print_tensor")
    assert made.click(y, x) == command


def test_the_mouse_scrolls_and_can_be_switched_off() -> None:
    made = state("\n".join(map(str, range(20))))
    made.turn_wheel(1)
    assert output(made)[0] == "3"
    made.turn_wheel(-1)
    made.turn_wheel(-1)
    assert output(made)[0] == "0"
    assert press(made, "mouse off\n") == []
    assert not made.has_mouse
    assert "off" in made.message
    assert press(made, "mouse\n") == []
    assert made.has_mouse
    press(made, "m sideways\n")
    assert made.message == "mouse [on|off]"
