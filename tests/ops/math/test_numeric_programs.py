"""Linear algebra, sparse tensors, transforms and samples give TensorFlow's results.

`recorded/numeric_programs.json`: for each program its nodes ("name op"), and dtype,
shape and elements (real parts, then imaginary ones) of each fetched value.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.ops.math.numeric_programs import PROGRAMS

RECORDED = Path(__file__).parents[1] / "recorded" / "numeric_programs.json"
EXPECTED: dict[str, Any] = json.loads(RECORDED.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_and_values(name: str) -> None:
    fetches = PROGRAMS[name]()
    with tf.Session() as session:
        values = session.run(fetches)
    expected = EXPECTED[name]
    nodes = tf.get_default_graph().as_graph_def().node
    # TensorFlow 1.15 makes loops of other nodes than While.
    if not any(node.op.endswith("While") for node in nodes):
        assert [f"{node.name} {node.op}" for node in nodes] == expected["nodes"]
    for fetch, value, want in zip(fetches, values, expected["values"], strict=True):
        array = np.asarray(value)
        assert str(fetch.shape) == want["static_shape"]
        assert array.dtype.name == want["dtype"]
        assert list(array.shape) == want["shape"]
        single = array.dtype in (np.float32, np.complex64, np.float16)
        tolerance = 2e-4 if single else 1e-7
        flat = [*np.real(array).ravel().tolist(), *np.imag(array).ravel().tolist()]
        np.testing.assert_allclose(
            flat, want["elements"], rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.linalg.inv(np.zeros((2, 2))), "Input is not invertible."),
        (lambda: tf.linalg.cholesky(-np.eye(2)), "Cholesky decomposition was not"),
        (lambda: tf.sparse_to_dense([3, 1], [5], [7, 8]), "is out of order"),
        (lambda: tf.sparse_to_dense([3, 9], [5], [7, 8]), "is out of bounds"),
    ],
)
def test_bad_values(build: Any, message: str) -> None:
    fetch = build()
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(fetch)


def test_matrices_must_be_square() -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.linalg.inv(np.zeros((2, 3)))
