"""The operations that `tf.gradients` makes: names, inputs, shapes, as in TensorFlow.

The expectations in `recorded/gradient_*nodes.txt` were printed by TensorFlow 1.15.0: a
line for each operation with its name, type, inputs, control inputs, static shapes and
colocation groups.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.client.gradients.gradient_programs import PROGRAMS
from tests.client.gradients.gradient_table import CASES, Case

RECORDED = Path(__file__).parents[1] / "recorded"


def _read_recorded(file_name: str) -> dict[str, list[str]]:
    programs: dict[str, list[str]] = {}
    for line in (RECORDED / file_name).read_text().splitlines():
        if line.startswith("== "):
            programs[line[3:]] = lines = []
        else:
            lines.append(line)
    return programs


EXPECTED = _read_recorded("gradient_nodes.txt")
EXPECTED_OF_CASES = _read_recorded("gradient_table_nodes.txt")


def _describe(op: tf.Operation) -> str:
    fields = [
        op.name,
        op.type,
        " ".join(t.name for t in op.inputs),
        " ".join(c.name for c in op.control_inputs),
        " ".join(str(t.shape) for t in op.outputs),
        " ".join(sorted(g.decode() for g in op.attrs.get("_class", ()))),
    ]
    return " | ".join(fields).rstrip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_graph_is_tensorflows(name: str) -> None:
    with tf.Graph().as_default() as graph:
        PROGRAMS[name](tf)
    assert [_describe(op) for op in graph.get_operations()] == EXPECTED[name]


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in CASES])
def test_gradient_of_an_op_is_tensorflows(case: Case) -> None:
    with tf.Graph().as_default() as graph:
        case.build(tf)
    described = [_describe(op) for op in graph.get_operations()]
    assert described == EXPECTED_OF_CASES[case.name]
