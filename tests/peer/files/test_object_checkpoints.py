"""Object-based checkpoints: written here, restored by TensorFlow, and the reverse."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom

if TYPE_CHECKING:
    from tests.peer.peers import Peer

# Runs here and there; `directory`, `scope` and `action` are set before it.
PROGRAM = """
import numpy as np, os, pickle


def build():
    root = tf.train.Checkpoint()
    with tf.variable_scope(scope):
        x = tf.constant([[1.0, 2.0, 3.0]])
        root.layer = tf.train.Checkpoint(
            kernel=tf.get_variable("kernel", initializer=np.ones((3, 2), np.float32)),
            bias=tf.get_variable("bias", initializer=[0.5, 0.0], use_resource=True))
        root.by_name = {
            "w": tf.get_variable("w", initializer=[1.5, 2.5]),
            "slash/dot.": tf.get_variable("r", initializer=7.0, use_resource=True),
        }
        root.in_list = [tf.get_variable("e", initializer=np.zeros((0, 2), np.float32)),
                        tf.get_variable("s", initializer=["one", ""])]
        with tf.device("/device:CPU:0"):
            root.placed = tf.get_variable("placed", initializer=np.int64(2 ** 40))
        loss = tf.reduce_sum(
            (tf.matmul(x, root.layer.kernel) + root.layer.bias) ** 2)
        loss += tf.reduce_sum(root.by_name["w"] ** 2)
        loss += root.by_name["slash/dot."] ** 2
        root.optimizer = tf.train.AdamOptimizer(0.1, name=scope)
        train = root.optimizer.minimize(loss)
        root.table = tf.lookup.experimental.DenseHashTable(
            tf.string, tf.float32, -1.0, "", "-", name="table", initial_num_buckets=8)
    slots = [root.optimizer.get_slot(v, n)
             for v in (root.layer.kernel, root.by_name["w"], root.by_name["slash/dot."])
             for n in ("m", "v")]
    fetches = [root.layer.kernel, root.layer.bias, list(root.by_name.values()),
               list(root.in_list), root.placed, slots,
               root.table.lookup(tf.constant(["a", "b", "c", "d"]))]
    return root, train, fetches


config = tf.ConfigProto(device_count={"CPU": 2})
with tf.Graph().as_default(), tf.Session(config=config) as sess:
    root, train, fetches = build()
    if action == "save":
        sess.run(tf.global_variables_initializer())
        sess.run(root.table.insert(tf.constant(["a", "c", "x"]), [1.0, 3.0, 9.0]))
        sess.run([train, train])
        answer = sess.run(fetches)
        manager = tf.train.CheckpointManager(root, directory, 3)
        manager.save()
    else:
        status = root.restore(tf.train.latest_checkpoint(directory))
        status.assert_consumed()
        status.initialize_or_restore()
        answer = sess.run(fetches)
with open(os.path.join(directory, action + ".answer"), "wb") as file:
    pickle.dump(answer, file, 2)
result = None
"""


def run_here(directory: Path, action: str, scope: str) -> Any:
    names = {"directory": str(directory), "action": action, "scope": scope}
    exec(PROGRAM, names | {"tf": tensorloom})
    return read_answer(directory, action)


def run_there(peer: Peer, directory: Path, action: str, scope: str) -> Any:
    names = {"directory": str(directory), "action": action, "scope": scope}
    header = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    answer = peer.execute(header + PROGRAM)
    assert answer["error"] is None, answer["error"]
    return read_answer(directory, action)


def read_answer(directory: Path, action: str) -> Any:
    with open(directory / f"{action}.answer", "rb") as file:
        return pickle.load(file, encoding="bytes")


def check(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            check(a, b)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(params=["peer115", "peer221"])
def peer(request: pytest.FixtureRequest) -> Peer:
    result: Peer = request.getfixturevalue(request.param)
    return result


def test_tensorflow_restores_ours(peer: Peer, tmp_path: Path) -> None:
    saved = run_here(tmp_path, "save", "a")
    check(run_there(peer, tmp_path, "restore", "other"), saved)


def test_we_restore_tensorflows(peer: Peer, tmp_path: Path) -> None:
    saved = run_there(peer, tmp_path, "save", "a")
    check(run_here(tmp_path, "restore", "other"), saved)


def test_same_bytes(peer115: Peer, tmp_path: Path) -> None:
    """The files of one checkpoint, the object graph in it included."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    run_here(ours, "save", "a")
    run_there(peer115, theirs, "save", "a")
    names = {path.name for path in ours.iterdir() if path.name.startswith("ckpt")}
    assert len(names) >= 2
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
