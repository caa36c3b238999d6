"""Results of ops recorded from TensorFlow 1.15 by the harness in tests/peer/ops."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.peer.ops import batch_runner, compare, spec, table

BATCH = 40
FAMILIES = sorted(table.GOLDENS.glob("*.jsonl.gz"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.name.split(".")[0])
def test_results_are_those_that_tensorflow_gave(path: Path) -> None:
    specs = spec.load()
    goldens = table.read_goldens(path)
    cases = [golden["case"] for golden in goldens]
    # Each step of a case is pruned from, and verified with, the graph of the batch.
    answers = [
        answer
        for begin in range(0, len(cases), BATCH)
        for answer in batch_runner.execute(tf, cases[begin : begin + BATCH])
    ]
    told = []
    for golden, ours in zip(goldens, answers, strict=True):
        one = specs[golden["op"]]
        theirs = golden["answer"]
        lines = compare.static_differences(ours, theirs)
        lines += compare.step_differences(ours, theirs, one)
        lines += compare.gradient_differences(ours["gradient"], theirs["gradient"], one)
        told += [f"{golden['op']} {golden['cell']}: {line}" for line in lines]
    assert not told, "\n".join(told[:20])


def test_there_are_goldens() -> None:
    assert FAMILIES
