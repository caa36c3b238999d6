"""docs/figures.md and the README's table, made from a benchmark run."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.c_api import C_API_WORKLOADS
from benchmarks.fresh_processes import PROCESS_WORKLOADS
from benchmarks.report import Row
from benchmarks.workloads import WORKLOADS
from tools import figures_page


def run_of(names: tuple[str, ...]) -> dict[str, Any]:
    medians = {"tensorloom": 1e-3, "2.21": 4e-3, "1.15": 8e-3}
    rows = [Row(name, 0.5, medians=medians).as_json() for name in names]
    return {"machine": "a processor, 2 cores", "rows": rows}


def test_the_readme_shows_rows_that_there_are() -> None:
    known = {**WORKLOADS, **PROCESS_WORKLOADS, **C_API_WORKLOADS}
    assert [name for name in figures_page.SHOWN if name not in known] == []


def test_tables_have_both_times_and_the_ratio() -> None:
    run = run_of(figures_page.SHOWN)
    table = figures_page.shown_rows(run)
    assert table.startswith("a processor, 2 cores:\n")
    assert "| null step (tf.no_op) | 1 ms | 4 ms | 0.25 |\n" in table
    page = figures_page.all_rows(run)
    assert "| null step (tf.no_op) | 1 ms | 4 ms | 8 ms | 0.25 | 0.50 |\n" in page


def test_a_row_that_was_not_measured_is_named() -> None:
    with pytest.raises(ValueError, match="not measured in this run: null step"):
        figures_page.shown_rows(run_of(figures_page.SHOWN[1:]))


def test_only_what_is_between_the_marks_is_replaced() -> None:
    readme = figures_page.README.read_text(encoding="utf-8")
    changed = figures_page.with_table(readme, "a table\n")
    again = figures_page.with_table(changed, "a table\n")
    assert changed == again
    assert "\na table\n" in changed
    assert changed.split("## Commands")[1] == readme.split("## Commands")[1]
