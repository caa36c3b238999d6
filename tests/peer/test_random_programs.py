"""Random programs with an order of effects, here and in TensorFlow 1.15."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.fuzz.agreement import beside
from tests.fuzz.programs import random_program, render
from tests.peer.peers import Peer, python_of

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
def test_a_program_that_differed(program: Path) -> None:
    """In a process of its own: others leave TensorFlow's modes as they set them."""
    if python_of("1.15") is None:
        pytest.skip("no TensorFlow 1.15 is here (make peer)")
    with closing(Peer("1.15")) as peer:
        skipped: list[str] = []
        differences = beside(partial(peer.execute, ops=False), skipped.append)
        assert not differences(program.read_text())
        assert not skipped
