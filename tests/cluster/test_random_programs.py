"""Random programs on two tasks have the results that they have on one device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.clusters import cluster
from tests.fuzz.agreement import between
from tests.fuzz.modes import Mode, two_tasks
from tests.fuzz.plain_piece import plain_pieces
from tests.fuzz.programs import random_program, render


@pytest.fixture(scope="module")
def modes() -> Iterator[list[Mode]]:
    with cluster(worker=2) as servers:
        head = two_tasks(servers["worker"][0].target)
        yield [
            Mode("two tasks", head),
            Mode("node by node on two tasks", head, plain_pieces),
        ]


@pytest.mark.parametrize("seed", range(2_000_000, 2_000_030))
def test_two_tasks(seed: int, modes: list[Mode]) -> None:
    assert not between([modes[seed % 4 == 0]])(render(random_program(seed, length=10)))
