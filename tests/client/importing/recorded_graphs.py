"""Running graphs that real TensorFlow made and recorded, and comparing values.

`tests/peer/graph_recorder.py` writes the records.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

import tensorloom as tf
from tensorloom.protos import graph_pb2


def array_of(plain: dict[str, Any]) -> Any:
    """The array that the recorder wrote."""
    if plain["dtype"] == "string":
        array = np.empty(len(plain["values"]), object)
        array[:] = [base64.b64decode(text) for text in plain["values"]]
    else:
        array = np.array(plain["values"], plain["dtype"])
    return array.reshape(plain["shape"])


def check(recorded: dict[str, Any]) -> None:
    """Imports a recorded graph, runs it, and compares what it gives.

    Raises:
      AssertionError: a value differs.
    """
    packed = base64.b64decode(recorded["graph"])
    graph_def = graph_pb2.GraphDef.FromString(zlib.decompress(packed))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as sess:
            if recorded["init"]:
                sess.run(recorded["init"])
            for name, value in recorded.get("variables", {}).items():
                handle = graph.get_tensor_by_name(f"{name}:0")
                sess.run(
                    tf.raw_ops.AssignVariableOp(
                        resource=handle, value=tf.constant(array_of(value))
                    )
                )
            for run in recorded["runs"]:
                feed = {key: array_of(value) for key, value in run["feed"].items()}
                values = sess.run(recorded["fetches"], feed)
                for name, value, wanted in zip(
                    recorded["fetches"], values, run["values"], strict=True
                ):
                    if isinstance(value, bytes):
                        value = np.array(value, object)
                    compare(name, np.asarray(value), array_of(wanted))


def compare(name: str, value: Any, wanted: Any) -> None:
    """Asserts that two arrays have one dtype and shape, and close values."""
    assert value.shape == wanted.shape, name
    assert value.dtype == wanted.dtype, name
    if value.dtype.kind not in "fc":
        np.testing.assert_array_equal(value, wanted, name)
        return
    # Sums in another order, step after step of a loop or of training.
    size = max(1.0, np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(value, wanted, rtol=2e-4, atol=2e-5 * size, err_msg=name)
