"""Random programs with an order of effects, here and in TensorFlow 1.15."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.agreement import beside
from tests.fuzz.programs import random_program, render

if TYPE_CHECKING:
    from tests.peer.peers import Peer

COUNT = int(os.environ.get("FUZZ_PROGRAMS", "200"))
# Seeds apart from those of tests/fuzz.
FIRST = 500_000
AT_ONCE = 20
FOUND = sorted((Path(__file__).parents[1] / "fuzz" / "found").glob("*.txt"))


@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, AT_ONCE))
def test_random_programs(start: int, peer115: Peer) -> None:
    skipped: Counter[str] = Counter()
    execute = partial(peer115.execute, ops=False)
    differences = beside(execute, lambda why: skipped.update([why]))
    for seed in range(start, start + AT_ONCE):
        assert not differences(render(random_program(seed), shares_memory=True)), seed
    assert skipped.total() <= AT_ONCE // 2, skipped


@pytest.mark.parametrize("program", FOUND, ids=lambda path: path.stem)
def test_a_program_that_differed(program: Path, peer115: Peer) -> None:
    skipped: list[str] = []
    differences = beside(partial(peer115.execute, ops=False), skipped.append)
    assert not differences(program.read_text())
    assert not skipped
