"""The report of the benchmark suite."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.report import Row, amount, print_rows, write_json
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.table import seconds_a_call

ROW = Row(
    "null step",
    target=0.15,
    medians={"tensorloom": 5e-6, "2.21": 5e-5, "1.15": 8e-5},
)


def test_ratio_is_to_the_faster_tensorflow() -> None:
    assert ROW.tensorflow == 5e-5
    assert ROW.ratio == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "seconds", "-"),
        (1.25, "seconds", "1.25 s"),
        (0.00125, "seconds", "1.25 ms"),
        (4.567e-6, "seconds", "4.57 us"),
        (190e6, "bytes", "190 MB"),
    ],
)
def test_amounts(value: float | None, unit: str, text: str) -> None:
    assert amount(value, unit) == text


def test_table_marks_what_passes_and_says_what_failed() -> None:
    missed = Row("slow", target=0.1, medians=ROW.medians)
    missed.medians = {"tensorloom": 1.0, "2.21": 1.0}
    broken = Row("broken", target=0.1, failures=["Traceback: no [such] thing"])
    output = io.StringIO()
    print_rows([ROW, missed, broken], Console(file=output, width=140))
    lines = output.getvalue().splitlines()
    marks = {
        name: [line for line in lines if name in line] for name in ("null", "slow")
    }
    assert "pass" in marks["null"][0]
    assert "miss" in marks["slow"][0]
    assert "broken: Traceback: no [such] thing" in lines[-1]


def test_json_has_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    write_json([ROW], "a processor", path)
    run = json.loads(path.read_text(encoding="utf-8"))
    assert run["machine"] == "a processor"
    (row,) = run["rows"]
    assert row["workload"] == "null step"
    assert (row["ours"], row["tensorflow"], row["target"]) == (5e-6, 5e-5, 0.15)


def test_every_workload_has_a_target() -> None:
    for workload in WORKLOADS.values():
        if workload.target is None:
            assert workload.seconds > 0
        else:
            assert 0 < workload.target <= 2.0


@pytest.mark.parametrize(("seconds", "mark"), [(1.5, "pass"), (2.5, "miss")])
def test_a_limit_is_of_our_time_alone(seconds: float, mark: str) -> None:
    row = Row("slow", None, limit=2.0, medians={"tensorloom": seconds, "2.21": 0.1})
    output = io.StringIO()
    print_rows([row], Console(file=output, width=140))
    (line,) = [line for line in output.getvalue().splitlines() if "slow" in line]
    assert "2 s" in line
    assert mark in line


def test_seconds_a_call_counts_calls() -> None:
    calls = []
    seconds = seconds_a_call(lambda: calls.append(1), least_seconds=0.001)
    assert 0 < seconds < 0.001
    assert len(calls) > 2
