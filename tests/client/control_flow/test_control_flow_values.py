"""What programs with `tf.cond`, `tf.while_loop` and their gradients compute.

The expectations in `recorded/control_flow_values.json` were computed by TensorFlow
1.15.0 from the same feeds: for each program, for each case, each fetched value.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.graph import classic_node_counts
from tensorloom.framework.graph.classic_node_counts import Form
from tests.client.control_flow.control_flow_programs import PROGRAMS

RECORDED = Path(__file__).parents[1] / "recorded" / "control_flow_values.json"
EXPECTED: dict[str, list[list[Any]]] = json.loads(RECORDED.read_text())


def _feeds(graph: tf.Graph, case: int) -> dict[tf.Tensor, np.ndarray[Any, Any]]:
    """Values for all placeholders, the same as were recorded with."""
    random = np.random.RandomState(case)
    feeds = {}
    for op in graph.get_operations():
        if op.type != "Placeholder":
            continue
        tensor = op.outputs[0]
        shape = [3 if d is None else d for d in tensor.shape.as_list()]
        value = np.asarray(random.rand(*shape))
        if tensor.dtype == tf.bool:
            value = value < 0.5
        elif tensor.dtype.is_integer:
            value = (value * 3).astype(np.int32)
        else:
            value = (value + 0.2).astype(np.float32)
        feeds[tensor] = value
    return feeds


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("form", Form, ids=lambda form: form.name.lower())
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_tensorflows(name: str, form: Form) -> None:
    classic_node_counts.choose(form)
    with tf.Graph().as_default() as graph:
        fetches = [x for x in PROGRAMS[name](tf) if x is not None]
        initializer = tf.global_variables_initializer()
    for case, expected in enumerate(EXPECTED[name]):
        with tf.Session(graph=graph) as sess:
            sess.run(initializer)
            values = sess.run(fetches, _feeds(graph, case))
        for fetch, value, wanted in zip(fetches, values, expected, strict=True):
            np.testing.assert_allclose(
                value, wanted, rtol=2e-4, atol=1e-5, err_msg=f"{fetch.name}, {case}"
            )
