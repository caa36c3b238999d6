"""Checkpoints and MetaGraphs, written here and read by TensorFlow, and the reverse."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom

if TYPE_CHECKING:
    from tests.peer.peers import Peer

# Runs here and there; `directory`, `resource` and `action` are set before it.
PROGRAM = """
import numpy as np, os, pickle

VALUES = {
    "f": np.arange(6, dtype=np.float32).reshape(2, 3),
    "d": np.float64(3.25),
    "h": np.array([1.5, -2.0], np.float16),
    "i8": np.array([-1, 5], np.int8),
    "i16": np.array([-1, 5], np.int16),
    "i32": np.array([[7]], np.int32),
    "i64": np.array([2 ** 40, -3], np.int64),
    "u8": np.array([0, 255], np.uint8),
    "u16": np.array([0, 65535], np.uint16),
    "b": np.array([True, False, True]),
    "c64": np.array([1 + 2j, -1j], np.complex64),
    "c128": np.array([[1 + 2j]], np.complex128),
    "empty": np.zeros((0, 3), np.float32),
    "s": np.array([b"one", b"", b"\\x00\\xff" * 200], object),
    "s0": np.array(b"scalar", object),
}


def build(factor):
    variables = {}
    for name in sorted(VALUES):
        value = VALUES[name]
        dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        shape = value.shape
        start = value if factor else (
            np.full(shape, b"", object) if value.dtype == object
            else np.zeros(shape, value.dtype)
        )
        start = tf.constant(
            start.tolist() if dtype == tf.string else start, dtype, shape
        )
        use_resource = resource and dtype != tf.string
        variables[name] = tf.get_variable(
            name, initializer=start, use_resource=use_resource)
    variables["bf"] = tf.get_variable(
        "bf", initializer=tf.cast(tf.constant([1.5, -2.0]) * factor, tf.bfloat16))
    for axis in (0, 1):
        parts = [3, 1] if axis == 0 else [1, 2]
        with tf.variable_scope(
            "scope", partitioner=lambda shape, dtype, parts=parts: parts
        ):
            variables["scope/p%d" % axis] = tf.get_variable(
                "p%d" % axis,
                initializer=lambda shape, dtype, partition_info: tf.constant(
                    factor * 100.0 * sum(partition_info.var_offset)
                    + np.arange(np.prod(shape)).reshape(shape),
                    tf.float32),
                shape=[7, 4], use_resource=resource)
    with tf.device("/device:CPU:0"):
        variables["on_device"] = tf.get_variable(
            "on_device", initializer=tf.constant([8.0]) * factor,
            use_resource=resource)
    return variables


def fetch(sess, variables):
    tensors = {}
    for name, variable in variables.items():
        tensor = tf.convert_to_tensor(variable)
        if tensor.dtype == tf.bfloat16:
            tensor = tf.cast(tensor, tf.float32)
        tensors[name] = tensor
    return sess.run(tensors)


config = tf.ConfigProto(device_count={"CPU": 2})
with tf.Graph().as_default(), tf.Session(config=config) as sess:
    if action == "save":
        variables = build(1)
        sess.run(tf.global_variables_initializer())
        plain = tf.train.Saver()
        plain.save(sess, os.path.join(directory, "plain"), global_step=3)
        sharded = tf.train.Saver(sharded=True)
        sharded.save(sess, os.path.join(directory, "sharded"))
        old = [v for n, v in variables.items() if n not in ("bf", "h", "u16")]
        for name, shard in (("old", False), ("oldsharded", True)):
            saver = tf.train.Saver(
                old, write_version=tf.train.SaverDef.V1, sharded=shard)
            saver.save(sess, os.path.join(directory, name), write_state=False)
        answer = fetch(sess, variables)
    elif action == "restore":
        answer = {}
        variables = build(0)
        for name in ("plain-3", "sharded"):
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().restore(sess, os.path.join(directory, name))
            answer[name] = fetch(sess, variables)
        old = {n: v for n, v in variables.items() if n not in ("bf", "h", "u16")}
        for name, path in (("old", "old"), ("oldsharded", "oldsharded-?????-of-00002")):
            sess.run(tf.global_variables_initializer())
            tf.train.Saver(list(old.values())).restore(
                sess, os.path.join(directory, path))
            answer[name] = fetch(sess, old)
        answer["latest"] = os.path.basename(tf.train.latest_checkpoint(directory))
    elif action == "import":
        saver = tf.train.import_meta_graph(os.path.join(directory, "plain-3.meta"))
        saver.restore(sess, os.path.join(directory, "plain-3"))
        answer = fetch(sess, {v.op.name: v for v in tf.global_variables()})
with open(os.path.join(directory, action + ".answer"), "wb") as file:
    pickle.dump(answer, file, 2)
result = None
"""


def run_here(directory: Path, action: str, resource: bool) -> Any:
    scope = {
        "tf": tensorloom,
        "directory": str(directory),
        "action": action,
        "resource": resource,
    }
    exec(PROGRAM, scope)
    return scope["answer"]


def run_there(peer: Peer, directory: Path, action: str, resource: bool) -> Any:
    names = {"directory": str(directory), "action": action, "resource": resource}
    header = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    answer = peer.execute(header + PROGRAM)
    assert answer["error"] is None, answer["error"]
    with open(directory / f"{action}.answer", "rb") as file:
        return pickle.load(file, encoding="bytes")


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() <= expected.keys()
    assert found
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.fixture(params=["peer115", "peer221"])
def peer(request: pytest.FixtureRequest) -> Peer:
    result: Peer = request.getfixturevalue(request.param)
    return result


@pytest.mark.parametrize("resource", [False, True])
def test_tensorflow_restores_ours(peer: Peer, tmp_path: Path, resource: bool) -> None:
    saved = run_here(tmp_path, "save", resource)
    restored = run_there(peer, tmp_path, "restore", resource)
    assert restored.pop("latest") == "sharded"
    for found in restored.values():
        check(found, saved)


@pytest.mark.parametrize("resource", [False, True])
def test_we_restore_tensorflows(peer: Peer, tmp_path: Path, resource: bool) -> None:
    saved = run_there(peer, tmp_path, "save", resource)
    restored = run_here(tmp_path, "restore", resource)
    assert restored.pop("latest") == "sharded"
    for found in restored.values():
        check(found, saved)


@pytest.mark.parametrize("resource", [False, True])
def test_same_bytes(peer: Peer, tmp_path: Path, resource: bool) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    run_here(ours, "save", resource)
    run_there(peer, theirs, "save", resource)
    names = {p.name for p in ours.iterdir()} - {"save.answer"}
    assert names == {p.name for p in theirs.iterdir()} - {"save.answer"}
    # TensorFlow 2.21 gives slices of resource variables to another shard.
    kinds = ("plain-3",) if peer.version == "2.21" else ("plain-3", "sharded")
    same = [n for n in names if n.startswith(kinds) and not n.endswith(".meta")]
    for name in same:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert len(same) >= 2


@pytest.mark.parametrize("resource", [False, True])
def test_tensorflow_imports_ours(peer: Peer, tmp_path: Path, resource: bool) -> None:
    saved = run_here(tmp_path, "save", resource)
    check_imported(run_there(peer, tmp_path, "import", resource), saved)


@pytest.mark.parametrize("resource", [False, True])
def test_we_import_tensorflows(peer: Peer, tmp_path: Path, resource: bool) -> None:
    saved = run_there(peer, tmp_path, "save", resource)
    check_imported(run_here(tmp_path, "import", resource), saved)


def check_imported(found: dict[str, Any], saved: dict[str, Any]) -> None:
    whole = {name: value for name, value in found.items() if "/part_" not in name}
    check(whole, saved)
    for name, axis in (("scope/p0", 0), ("scope/p1", 1)):
        parts = [found[f"{name}/part_{i}"] for i in range(3 - axis)]
        np.testing.assert_array_equal(np.concatenate(parts, axis), saved[name])


@pytest.mark.parametrize("resource", [False, True])
def test_same_meta_graph(peer115: Peer, tmp_path: Path, resource: bool) -> None:
    """Graph, collections and op list of a saver's MetaGraph, byte by byte."""
    from tensorloom.protos.meta_graph_pb2 import MetaGraphDef

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    run_here(ours, "save", resource)
    run_there(peer115, theirs, "save", resource)
    a = MetaGraphDef.FromString((ours / "plain-3.meta").read_bytes())
    b = MetaGraphDef.FromString((theirs / "plain-3.meta").read_bytes())
    assert a.saver_def == b.saver_def
    assert set(a.collection_def) == set(b.collection_def)
    for key in b.collection_def:
        assert a.collection_def[key] == b.collection_def[key], key
    assert [n.name for n in a.graph_def.node] == [n.name for n in b.graph_def.node]
    with contextlib.suppress(KeyError):
        for one in (a, b):
            for op in one.meta_info_def.stripped_op_list.op:
                op.ClearField("deprecation")
    names = [op.name for op in b.meta_info_def.stripped_op_list.op]
    assert [op.name for op in a.meta_info_def.stripped_op_list.op] == names
