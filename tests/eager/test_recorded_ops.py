"""Ops run one at a time give what TensorFlow 1.15 gave in a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.eager import graph_steps
from tests.peer.ops import compare, spec, table

FAMILIES = sorted(table.GOLDENS.glob("*.jsonl.gz"))


def _differences(goldens: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """How many cases ran, and what was different."""
    specs = spec.load()
    count, told = 0, []
    for golden in goldens:
        theirs = golden["answer"]
        if theirs["error"] is not None:  # the graph could not be imported
            continue
        try:
            steps = graph_steps.answer(golden["case"])
        except graph_steps.NotForEager:
            continue
        count += 1
        ours = {**theirs, "steps": steps}
        told += [
            f"{golden['op']} {golden['cell']}: {line}"
            for line in compare.step_differences(ours, theirs, specs[golden["op"]])
        ]
    return count, told


@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(600)
def test_some_of_each_family() -> None:
    goldens = [g for path in FAMILIES for g in table.read_goldens(path)[::200]]
    count, told = _differences(goldens)
    assert not told, "\n".join(told[:20])
    assert count > 15


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.name.split(".")[0])
def test_all(path: Path) -> None:
    _, told = _differences(table.read_goldens(path))
    assert not told, "\n".join(told[:20])
