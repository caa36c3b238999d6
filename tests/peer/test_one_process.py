"""tensorloom, TensorFlow and TensorBoard in one process, each before each other.

Their protocol buffers are wire-compatible, and all register in one pool: ours bear a
package name of our own.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.peer.peers import REPOSITORY, python_of

PROTOS = sorted((REPOSITORY / "tensorloom/protos").glob("*.proto"))
MODULES = {
    "tensorloom": "\n".join(
        [
            "import tensorloom as tl",
            *(f"import tensorloom.protos.{path.stem}_pb2" for path in PROTOS),
        ]
    ),
    "tensorflow": "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()",
    "tensorboard": """
from tensorboard.compat.proto import graph_pb2, summary_pb2
from tensorboard.backend.event_processing import event_accumulator
""",
}
# A graph of ours runs, goes over to TensorFlow as bytes, runs there, and comes back.
USE = """
with tl.Graph().as_default() as graph:
    x = tl.placeholder(tl.float32, [], name="x")
    y = tl.identity(x * 2.0 + 1.0, name="y")
    with tl.Session() as sess:
        print(sess.run(y, {x: 3.0}))
data = graph.as_graph_def().SerializeToString()
theirs = tf.GraphDef.FromString(data)
with tf.Graph().as_default():
    tf.import_graph_def(theirs, name="")
    with tf.Session() as sess:
        print(sess.run("y:0", {"x:0": 3.0}))
back = tl.GraphDef.FromString(theirs.SerializeToString())
board = graph_pb2.GraphDef.FromString(data)
print([n.name for n in back.node] == [n.name for n in board.node])
"""


@pytest.mark.parametrize("order", [(*MODULES,), (*MODULES,)[::-1]], ids="-".join)
def test_loaded_before_and_after_each_other(order: tuple[str, ...]) -> None:
    python = python_of("2.21")
    if python is None:
        pytest.skip("TensorFlow 2.21 is not here (make peer)")
    script = "\n".join([*[MODULES[name] for name in order], USE])
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [python, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "7.0\n7.0\nTrue\n"
