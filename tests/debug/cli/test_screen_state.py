"""What keys do to the full-screen command line."""

from __future__ import annotations

import pytest

from tensorloom.debug.cli import screen_state
from tensorloom.debug.cli.screen_state import ScreenState


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
