"""Tables of a traced step, as 1.15's `profile_analyzer_cli` prints them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.debug.console.commands import CommandError
from tensorloom.debug.console.profile_analyzer import (
    ProfileAnalyzer,
    ProfileDataTableView,
    create_profiler_ui,
)

SOURCE = """def build(tf):
    a = tf.constant([1.0], name="a")
    b = tf.add(a, a, name="b")
    c = tf.add(b, a, name="c")
"""
NODES = (("a", 5, 3, 4), ("b", 9, 30, 35), ("c", 50, 1000, 1234), ("d", 70, 1, 2))


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "prog.py"
    file.write_text(SOURCE)
    names: dict[str, Any] = {}
    exec(compile(SOURCE, str(file), "exec"), names)
    names["build"](tf)
    return str(file)


def metadata() -> tf.RunMetadata:
    told = tf.RunMetadata()
    for number in (0, 1):
        device = told.step_stats.dev_stats.add(device=f"/cpu:{number}")
        for name, start, op, whole in (*NODES, ("_SINK", 1, 1, 1)):
            device.node_stats.add(
                node_name=name,
                all_start_micros=start + number,
                op_start_rel_micros=1,
                op_end_rel_micros=1 + op,
                all_end_rel_micros=whole,
            )
    return told


def test_a_table_of_nodes(path: str) -> None:
    analyzer = ProfileAnalyzer(tf.get_default_graph(), metadata())
    out = analyzer.list_profile(
        [
            "-s",
            "op_time",
            "-r",
            "-n",
            "[bc]",
            "-e",
            ">20us",
            "--time_unit",
            "ms",
            "-d",
            "/cpu:1",
        ],
        screen_info={"cols": 60},
    )
    assert out.lines == [
        "",
        "-" * 60,
        "Device 2 of 2: /cpu:1",
        "",
        "Node          Op Type  Start Time (us)  Op Time (ms)  Exec Time (ms)  "
        "Filename:Lineno(function)  ",
        "c             Add      51               1ms           1.234ms         "
        "prog.py:4(build)           ",
        "b             Add      10               0.03ms        0.035ms         "
        "prog.py:3(build)           ",
        "",
        "Device Total           1.03ms           1.269ms       ",
    ]
    heads = [parts[0].content for _, _, parts in out.font_attr_segs[4]]
    assert heads[2:4] == ["list_profile -s start_time", "list_profile -s op_time"]
    ((begin, end, link),) = out.font_attr_segs[5]
    assert (begin, end) == (70, 86)
    filters = "--device_name_filter /cpu:1 --node_name_filter [bc]"
    assert link.content == f"ps {filters} {path} --init_line 4"


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        ([], "abcd"),
        (["-r"], "dcba"),
        (["-s", "exec_time"], "dabc"),
        (["-s", "op_time", "-t", "Add", "--min_lineno", "4"], "c"),
        (["-f", ".*prog", "--max_lineno", "4"], "ab"),
        (["-o", "[3us, 0.03ms]"], "ab"),
    ],
)
def test_which_nodes_and_in_which_order(
    path: str, arguments: list[str], nodes: str
) -> None:
    analyzer = ProfileAnalyzer(tf.get_default_graph(), metadata())
    out = analyzer.list_profile([*arguments, "-d", "/cpu:0"])
    assert "".join(x[0] for x in out.lines if re.match("[a-d] ", x)) == nodes
    with pytest.raises(CommandError):
        analyzer.list_profile(["--nothing"])


def test_a_program_beside_what_its_lines_took(path: str) -> None:
    analyzer = ProfileAnalyzer(tf.get_default_graph(), metadata())
    out = analyzer.print_source([path, "--init_line", "3"])
    assert out.lines[:6] == [
        "             exec_time   #nodes   lineno",
        "                         (#execs)     source",
        "                                   L1 def build(tf):",
        '[|         ] 8us         2(2)      L2     a = tf.constant([1.0], name="a")',
        '[|         ] 70us        2(2)      L3     b = tf.add(a, a, name="b")',
        '[||||||||||] 2468us      2(2)      L4     c = tf.add(b, a, name="c")',
    ]
    assert out.annotations == {"init_scroll_pos": 4}
    segments = out.font_attr_segs[3]
    assert segments[1] == (1, 11, ["bold", "cyan"])
    lines = f"--file_path_filter {re.escape(path)}$ --min_lineno 2 --max_lineno 3"
    assert segments[4][2][1].content == f"lp {lines}"
    out = analyzer.print_source([path, "--cost_type", "op_time", "-n", "b"])
    assert out.lines[4].startswith("[||||||||||] 60us      2(2)      L3 ")
    assert out.lines[5].startswith("                                 L4 ")
    assert analyzer.print_source(["/none.py"]).lines[1:] == [
        *("  --device_name_filter: ", "  --node_name_filter: ", "  --op_type_filter: ")
    ]


def test_a_command_line_of_these(path: str) -> None:
    ui = create_profiler_ui(tf.get_default_graph(), metadata(), ui_type="readline")
    assert "Device 2 of 2: /cpu:1" in ui.table.answer("lp")
    assert "(#execs)" in ui.table.answer(f"ps {path}")
    with pytest.raises(ValueError, match="No RunMetadata"):
        ProfileAnalyzer(tf.get_default_graph(), None)
    with pytest.raises(IndexError):
        ProfileDataTableView([]).value(0, 0)
