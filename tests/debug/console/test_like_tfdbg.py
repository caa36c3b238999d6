"""The helpers of tfdbg's command lines, beside what 1.15 answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorloom.debug.console import (
    array_text,
    configuration,
    intervals,
    navigation,
    readable,
    rich_text,
)


def test_the_configuration_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "config"
    config = configuration.CLIConfig(str(path))
    seen: list[Any] = []
    config.set_callback("mouse_mode", lambda all_of: seen.append(dict(all_of)))
    config.set("mouse_mode", "Off")
    config.set("graph_recursion_depth", "9")
    kept = {"graph_recursion_depth": 9, "mouse_mode": False}
    assert json.loads(path.read_text()) == kept
    assert seen == [{"graph_recursion_depth": 20, "mouse_mode": False}]
    again = configuration.CLIConfig(str(path))
    assert again.get("graph_recursion_depth") == 9
    assert again.summarize("mouse_mode").lines == [
        "Command-line configuration:",
        "",
        "  graph_recursion_depth: 9",
        "  mouse_mode: False",
    ]
    assert again.summarize("mouse_mode").font_attr_segs[3] == [
        (2, 12, ["underline", "bold"]),
        (14, 19, "bold"),
    ]
    for call, error in (
        (lambda: config.get("x"), KeyError),
        (lambda: config.set("x", 1), KeyError),
        (lambda: config.set("mouse_mode", "perhaps"), ValueError),
        (lambda: config.set_callback("mouse_mode", 1), TypeError),  # type: ignore[arg-type]
    ):
        with pytest.raises(error):
            call()
    path.write_text("no JSON")
    assert configuration.CLIConfig(str(path)).get("mouse_mode") is True


RUN_1, RUN_3 = "run #1: 1 fetch; 1 feed (x:0)", "run #3: 2 fetches; 0 feeds"
# What 1.15 answers.
TEXTS = [
    (readable.bytes_to_readable_str, (None,), "None"),
    (readable.bytes_to_readable_str, (1023, True), "1023B"),
    (readable.bytes_to_readable_str, (1536,), "1.50k"),
    (readable.bytes_to_readable_str, (5 << 20, True), "5.00MB"),
    (readable.bytes_to_readable_str, (3 << 30,), "3.00G"),
    (readable.time_to_readable_str, (0,), "0"),
    (readable.time_to_readable_str, (123,), "123us"),
    (readable.time_to_readable_str, (1234,), "1.23ms"),
    (readable.time_to_readable_str, (5e9,), "5e+03s"),
    (readable.time_to_readable_str, (1234, "s"), "0.001234s"),
    (readable.get_run_short_description, (3, ["a", "b"], {}), RUN_3),
    (readable.get_run_short_description, (1, ["a"], {"x:0": 1}), RUN_1),
    (
        readable.get_run_short_description,
        (1, None, None, True),
        "runner from make_callable()",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "text"), TEXTS)
def test_texts(function: Any, arguments: tuple[Any, ...], text: str) -> None:
    assert function(*arguments) == text


@pytest.mark.parametrize(
    ("parse", "text", "low", "high", "inside"),
    [
        (intervals.parse_time_interval, "<5ms", 0, 5000, [1, 4999]),
        (intervals.parse_time_interval, ">=100us", 100, float("inf"), [100, 1e9]),
        (intervals.parse_time_interval, "[1ms, 2s)", 1000, 2_000_000, [1000, 1999999]),
        (intervals.parse_memory_interval, "(1k,2M]", 1024, 2 << 20, [1025, 2 << 20]),
    ],
)
def test_intervals(parse: Any, text: str, low: Any, high: Any, inside: Any) -> None:
    found = parse(text)
    assert (found.start, found.end) == (low, high)
    assert all(found.contains(value) for value in inside)
    assert not found.contains(high if not found.end_included else high + 1)
    assert not found.contains(low if not found.start_included else low - 1)


@pytest.mark.parametrize("text", ["<", "x", "", "[2s,1s]", "[1,2"])
def test_what_is_no_interval(text: str) -> None:
    with pytest.raises(ValueError):
        intervals.parse_time_interval(text)


def test_an_array_with_marked_elements() -> None:
    array = np.linspace(0, 1, 16, endpoint=False, dtype=np.float32).reshape(4, 4)
    out = readable.format_tensor(
        array,
        "a:0:DebugIdentity",
        {},
        highlight_options=readable.parse_ranges_highlight("[0.3, 0.45]"),
        include_numeric_summary=True,
    )
    # As 1.15 prints it, word for word.
    assert out.lines == [
        'Tensor "a:0:DebugIdentity": Highlighted([0.3, 0.45]): 3 of 16 element(s) '
        "(18.75%)",
        "  dtype: float32",
        "  shape: (4, 4)",
        "",
        "Numeric summary:",
        "|  0  + | total |",
        "|  1 15 |    16 |",
        "|        min        max       mean        std |",
        "|        0.0     0.9375    0.46875 0.28811076 |",
        "",
        "array([[0.    , 0.0625, 0.125 , 0.1875],",
        "       [0.25  , 0.3125, 0.375 , 0.4375],",
        "       [0.5   , 0.5625, 0.625 , 0.6875],",
        "       [0.75  , 0.8125, 0.875 , 0.9375]], dtype=float32)",
    ]
    assert out.font_attr_segs == {
        0: [(8, 11, "bold"), (12, 25, "yellow")],
        11: [(16, 22, "bold"), (24, 29, "bold"), (32, 38, "bold")],
    }
    assert out.annotations[12] == {"i0": [2, 0]}
    assert array_text.locate_tensor_element(out, [2, 3]) == (False, 12, 32, 38)


def test_elements_of_rows_that_are_left_out() -> None:
    out = array_text.format_tensor(
        np.arange(0.0, 5000.0).reshape(500, 10), None, np_printoptions={"threshold": 10}
    )
    assert array_text.locate_tensor_element(out, [[1, 1], [250, 0], [499, 0]]) == (
        [False, True, False],
        [2, 6, 11],
        [19, None, 8],
        [28, None, 17],
    )
    for indices, words in (
        ([1], "Dimensions mismatch: requested: 1; actual: 2"),
        ([500, 0], "Indices exceed tensor dimensions."),
        ([-1, 0], r"Indices contain negative value\(s\)."),
        ([[1, 0], [0, 0]], "Input indices sets are not in ascending order."),
    ):
        with pytest.raises(ValueError, match=words):
            array_text.locate_tensor_element(out, indices)
    with pytest.raises(AttributeError):
        array_text.locate_tensor_element(rich_text.RichTextLines("x"), [0])


@pytest.mark.parametrize(
    ("array", "lines"),
    [
        (
            np.array([True, False, True]),
            ["| False  True | total |", "|     1     2 |     3 |"],
        ),
        (
            np.array([np.nan, -np.inf]),
            ["|  nan -inf | total |", "|    1    1 |     2 |"],
        ),
        (np.array([]), ["No numeric summary available due to empty tensor."]),
        (np.array([b"a"]), ["No numeric summary available due to tensor dtype: |S1."]),
    ],
)
def test_numeric_summaries(array: Any, lines: list[str]) -> None:
    assert array_text.numeric_summary(array).lines == lines


def test_going_back_and_forth() -> None:
    history = navigation.CursesNavigationHistory(2)
    with pytest.raises(ValueError):
        history.go_back()
    for command in ("a", "b", "c"):
        history.add_item(command, None, 0)
    assert (history.size(), history.pointer()) == (2, 1)
    assert history.go_back().command == history.go_back().command == "b"
    bar = history.render(40, "prev", "next")
    assert bar.lines == ["| <-- --> | (-1) b"]
    assert [s[:2] for s in bar.font_attr_segs[0]] == [(6, 9), (12, 17), (17, 18)]
    assert history.go_forward().command == "c"
    assert history.render(12, "prev", "next").lines == ["| <-- --> | "]


def test_what_is_said_before_a_run_and_after_an_error() -> None:
    out = readable.get_run_start_intro(1, ["y:0"], {"x:0": 1}, {"bad": None})
    assert "  y:0" in out.lines
    row = out.lines.index("  x:0")
    assert out.font_attr_segs[row][0][2].content == "pf 'x:0'"
    row = out.lines.index("        * bad")
    assert out.font_attr_segs[row][0][2].content == "run -f bad"
    assert out.annotations[rich_text.MAIN_MENU_KEY].captions() == ["run", "exit"]
    told = readable.get_error_intro(ValueError("no op"))
    assert told.font_attr_segs[1] == [(0, 40, "blink")]
    assert "Op name:    None" in told.lines
    assert readable.error("x").font_attr_segs == {0: [(0, 8, "red")]}


def test_a_search_tells_the_original_too() -> None:
    original = rich_text.RichTextLines(["ab", "c"], annotations={"k": 1})
    found = rich_text.regex_find(original, "b", "red")
    assert (
        original.annotations == found.annotations == {"k": 1, "regex_match_lines": [0]}
    )
    assert found.font_attr_segs == {0: [(1, 2, "red")]}
    assert original.font_attr_segs == {}


def test_a_menu_on_one_line() -> None:
    menu = rich_text.Menu()
    menu.append(rich_text.MenuItem("b", "do b", enabled=False))
    menu.insert(0, rich_text.MenuItem("a", "do a"))
    line = menu.format_as_single_line("> ", enabled_item_attrs="bold")
    assert line.lines == ["> a | b | "]
    assert line.font_attr_segs == {0: [(2, 3, [menu.caption_to_item("a"), "bold"])]}
