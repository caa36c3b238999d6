"""The operations that variables, scopes, optimizers and queues make, as in TensorFlow.

The expectations in `recorded/variable_nodes.txt` were printed by TensorFlow 1.15.0.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.client.variables import variable_programs

RECORDED = Path(__file__).parents[1] / "recorded" / "variable_nodes.txt"


def _read_recorded() -> dict[str, list[str]]:
    programs: dict[str, list[str]] = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("== "):
            programs[line[3:]] = lines = []
        else:
            lines.append(line)
    return programs


EXPECTED = _read_recorded()


@pytest.mark.parametrize("name", variable_programs.PROGRAMS)
def test_graph_is_tensorflows(name: str) -> None:
    assert variable_programs.lines_of(tf, name) == EXPECTED[name]
