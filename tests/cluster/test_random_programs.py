"""Random programs on two tasks have the results that they have on one device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.clusters import cluster
from tests.fuzz.agreement import between
from tests.fuzz.modes import Mode, two_tasks
from tests.fuzz.programs import random_program, render

FOUND = sorted((Path(__file__).parents[1] / "fuzz" / "found").glob("*.txt"))


@pytest.fixture(scope="module")
def tasks() -> Iterator[Mode]:
    with cluster(worker=2) as servers:
        yield Mode("two tasks", two_tasks(servers["worker"][0].target))


@pytest.mark.parametrize("seed", range(2_000_000, 2_000_030))
def test_two_tasks(seed: int, tasks: Mode) -> None:
    assert not between([tasks])(render(random_program(seed, length=10)))


@pytest.mark.parametrize("program", FOUND, ids=lambda path: path.stem)
def test_a_program_that_differed(program: Path, tasks: Mode) -> None:
    assert not between([tasks])(program.read_text())
