"""The programs of docs/research.md, which swap a stage each."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorloom as tf
import tensorloom.extend as extend

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "research"
PROGRAMS = {
    "cost_placer": "nodes on another device",
    "early_receives": "peak on CPU:1",
    "own_device": "bytes copied to and from it",
    "own_pass": "changed by the pass: mul",
    "own_transport": " of 8000128 bytes in two runs",
    "recomputing_partitioner": "4 transfers of 1200004 bytes, there 2 of 400004",
    "staleness_aware": "and aware of staleness",
}


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    yield
    for name in (*PROGRAMS, "comparing"):
        sys.modules.pop(name, None)
    for name in ("by_cost", "receives_first", "recompute"):
        extend.remove_stage(name)
    extend.remove_graph_pass("square")
    extend.unregister_device_kind("COUNTING")


@pytest.mark.parametrize(("name", "expected"), PROGRAMS.items(), ids=list(PROGRAMS))
def test_a_program_runs(
    stages: None, name: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    importlib.import_module(name).main()
    out = capsys.readouterr().out
    assert expected in out
    if name != "staleness_aware":
        assert "the results are equal" in out


def test_programs_are_short_and_all_are_in_the_page() -> None:
    page = (ROOT / "docs" / "research.md").read_text()
    told = set(re.findall(r"examples/research/(\w+)\.py", page)) - {"comparing"}
    found = {path.stem for path in FOLDER.glob("*.py")} - {"comparing"}
    assert told == found == set(PROGRAMS)
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text().splitlines()) <= 60, path
