"""SavedModels of objects: written by each of TensorFlow and us, used by the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tests.peer import runner
from tests.peer.peers import Peer, Tolerance, python_of, value_differences

# `folder` is set before them: where models are.
_SAVE = """
import os


class Net(tf.Module):
    def __init__(self):
        super(Net, self).__init__()
        start = np.arange(4, dtype=np.float32).reshape(2, 2)
        self.w = tf.Variable(start, name="w", use_resource=True)
        self.frozen = tf.Variable([0.5, -0.5], use_resource=True, trainable=False)
        self.shift = tf.constant([10.0, 20.0])
        self.parts = [tf.Variable(1.0, use_resource=True)]
        words = os.path.join(folder, "words.txt")
        with open(words, "w") as file:
            file.write("a\\nb\\nc\\n")
        index = tf.lookup.TextFileIndex
        rows = tf.lookup.TextFileInitializer(
            words, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
        self.table = tf.lookup.StaticHashTable(rows, -1)

    @tf.function
    def inner(self, x, scale=2.0):
        return tf.matmul(x, self.w) * scale + self.frozen

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(self, x):
        looped = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0),
                               [0, self.inner(x, 3.0)])[1]
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: looped, lambda: -looped)
        return {"y": self.inner(x), "z": chosen + self.shift}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def lookup(self, words):
        return self.table.lookup(words)

    @tf.function(input_signature=[])
    def count(self):
        return self.parts[0].assign_add(1.0)


net = Net()
net.inner(tf.ones([1, 2]), 5.0)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    keys = {"serving_default": net.serve, "words": net.lookup, "count": net.count}
    tf.saved_model.save(net, os.path.join(folder, "model"), signatures=keys)
"""
_LOAD = """
import os

path = os.path.join(folder, "model")
net = tf.saved_model.load_v2(path)
x = tf.constant([[1.0, 2.0], [-3.0, 0.5]])
words = tf.constant(["a", "c", "x"])
calls = [net.serve(x), net.signatures["serving_default"](x=x), net.lookup(words),
         net.inner(tf.ones([1, 2]), 5.0), net.w, net.parts[0]]
count = net.count()
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    result = [session.run(calls), session.run(count), session.run(count)]
with tf.Graph().as_default(), tf.Session() as session:
    model = tf.saved_model.loader.load(session, ["serve"], path)
    signature = model.signature_def["serving_default"]
    feed = {signature.inputs["x"].name: [[1.0, 2.0], [-3.0, 0.5]]}
    result.append(session.run(signature.outputs["z"].name, feed))
    words = model.signature_def["words"]
    feed = {words.inputs["words"].name: ["a", "c", "x"]}
    result.append(session.run(words.outputs["output_0"].name, feed))
    result.append([net.w.trainable, net.frozen.trainable, net.w.name])
"""


@pytest.fixture(scope="module")
def peers() -> Iterator[dict[str, Peer | None]]:
    """Processes with TensorFlow; None stands for this one."""
    if any(python_of(version) is None for version in ("1.15", "2.21")):
        pytest.skip("no TensorFlow is here (make peer)")
    found: dict[str, Peer | None] = {"ours": None}
    found.update({version: Peer(version) for version in ("1.15", "2.21")})
    yield found
    for peer in found.values():
        if peer is not None:
            peer.close()


def _run(peer: Peer | None, source: str) -> Any:
    outcome = runner.execute(tf, source) if peer is None else peer.execute(source)
    assert outcome["error"] is None, outcome["error"][2]
    return outcome["result"]


def test_each_loads_what_the_others_saved(
    tmp_path: Path, peers: dict[str, Peer | None]
) -> None:
    expected = None
    for writer, reader in itertools.product(peers, repeat=2):
        if (writer, reader) == ("2.21", "1.15"):
            continue  # it has ops that TensorFlow 1.15 does not know
        folder = tmp_path / f"{writer}-{reader}"
        folder.mkdir()
        begin = f"folder = {str(folder)!r}\n"
        _run(peers[writer], begin + _SAVE)
        (folder / "words.txt").unlink()
        found = _run(peers[reader], begin + _LOAD)
        expected = expected or found
        assert not value_differences(found, expected, Tolerance()), (writer, reader)


def test_models_that_went_round(tmp_path: Path, peers: dict[str, Peer | None]) -> None:
    begin = f"folder = {str(tmp_path)!r}\n"
    _run(peers["2.21"], begin + _SAVE)
    expected = _run(peers["2.21"], begin + _LOAD)
    again = """
import os
net = tf.saved_model.load_v2(os.path.join(folder, "model"))
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    keys = {key: net.signatures[key] for key in net.signatures}
    tf.saved_model.save(net, os.path.join(folder, "next", "model"), signatures=keys)
"""
    _run(None, begin + again)
    begin = f"folder = {str(tmp_path / 'next')!r}\n"
    for version, peer in peers.items():
        found = _run(peer, begin + _LOAD)
        assert not value_differences(found, expected, Tolerance()), version
