"""Programs over neural network ops give TensorFlow's node names and values.

`recorded/nn_programs.txt` was printed by TensorFlow 1.15.0: for each program a line
"== name", lines "name op" for its nodes, and lines "= shape: values".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.ops.nn.nn_programs import PROGRAMS

RECORDED = Path(__file__).parents[1] / "recorded" / "nn_programs.txt"


def _read() -> dict[str, tuple[list[str], list[Any]]]:
    programs: dict[str, tuple[list[str], list[Any]]] = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("== "):
            nodes, values = programs[line[3:]] = ([], [])
        elif line.startswith("= "):
            shape, numbers = line[2:].split(":")
            array = np.array([float(v) for v in numbers.split()])
            values.append(array.reshape([int(d) for d in shape.split()]))
        else:
            nodes.append(line)
    return programs


EXPECTED = _read()


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("name", PROGRAMS)
def test_names_and_values(name: str) -> None:
    tf.set_random_seed(7)
    values = PROGRAMS[name]()
    expected_nodes, expected_values = EXPECTED[name]
    graph_def = tf.get_default_graph().as_graph_def()
    assert [f"{node.name} {node.op}" for node in graph_def.node] == expected_nodes
    assert len(values) == len(expected_values)
    for index, (got, expected) in enumerate(zip(values, expected_values, strict=True)):
        # An element may be a small difference of large ones.
        finite = np.isfinite(expected)
        magnitude = np.max(np.abs(expected), initial=0.0, where=finite)
        np.testing.assert_allclose(
            np.asarray(got, np.float64),
            expected,
            rtol=2e-4,
            atol=max(1e-5, 3e-6 * magnitude),
            err_msg=f"value {index}",
        )
