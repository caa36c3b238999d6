"""Each pass as a table of graphs before and after: the files of `rewrites`.

A file is named after its pass. Its cases stand apart by an empty line: a title, the
graph before, `=>`, the graph after. A line `keep: a b` names nodes that are preserved.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import tensorloom as tf  # registers the ops
from tensorloom.cluster import local
from tensorloom.master.optimize import PIPELINE, OptimizeTarget, Pass
from tests.master.graph_text import check, parse, render

_ = tf
PASSES: dict[str, Pass] = dict(PIPELINE)
FOLDER = Path(__file__).parent / "rewrites"


@dataclass(frozen=True)
class Case:
    """A graph, and the same after a pass."""

    run: str
    title: str
    before: str
    after: str
    preserve: frozenset[str]

    @property
    def target(self) -> OptimizeTarget:
        return OptimizeTarget(self.preserve, evaluate=local.evaluate)


def read_cases(path: Path) -> list[Case]:
    cases = []
    for text in path.read_text().strip().split("\n\n"):
        title, _, graphs = text.partition("\n")
        before, after = graphs.split("\n=>\n")
        keep: list[str] = []
        if before.startswith("keep: "):
            first, _, before = before.partition("\n")
            keep = first.split()[1:]
        title = title.removeprefix("# ")
        cases.append(Case(path.stem, title, before, after, frozenset(keep)))
    return cases


CASES = [case for path in sorted(FOLDER.glob("*.txt")) for case in read_cases(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.run}: {c.title}")
def test_before_and_after(case: Case) -> None:
    graph = parse(case.before)
    text = render(graph)
    result = PASSES[case.run](graph, case.target)
    assert render(result) == case.after
    assert render(graph) == text, "the argument has changed"
    check(result)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.run}: {c.title}")
def test_passes_do_nothing_twice(case: Case) -> None:
    once = PASSES[case.run](parse(case.before), case.target)
    assert render(PASSES[case.run](once, case.target)) == render(once)
