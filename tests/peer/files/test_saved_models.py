"""SavedModels and frozen graphs, written here, read by TensorFlow, and the reverse."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom
from tests.peer.conftest import new_peer
from tests.peer.peers import read_array
from tests.saved_model import models_of_tf2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.peer.peers import Peer

# Runs here and there; `directory`, `resource` and `action` are set before it.
PROGRAM = """
import os, pickle

export = os.path.join(directory, "model")
frozen = os.path.join(directory, "frozen.pb")
X = np.arange(6, dtype=np.float32).reshape(3, 2)
WORDS = np.array([b"b", b"?", b"a"], object)
config = tf.ConfigProto(device_count={"CPU": 2})


def build():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    words = tf.placeholder(tf.string, [None], name="words")
    rows = tf.sparse.placeholder(tf.float32, [None, 2], name="rows")
    w = tf.get_variable("w", initializer=[[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]],
                        use_resource=resource)
    with tf.device("/device:CPU:1"):
        b = tf.get_variable("b", initializer=[1.0, 2.0, 3.0], use_resource=resource)
    table_w = tf.get_variable("emb", initializer=np.arange(8, dtype=np.float32)
                              .reshape(4, 2), use_resource=resource)
    path = tf.constant(os.path.join(directory, "vocab.txt"), name="vocab_path")
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 3)
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
    ids = table.lookup(words)
    found = tf.nn.embedding_lookup(table_w, ids, name="found")
    z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: y * w[0], lambda: -y, name="c")
    z = tf.identity(z, name="z")
    total = tf.while_loop(
        lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.reduce_sum(w)),
        [0, tf.reduce_sum(y)])[1]
    total = tf.identity(total, name="total")
    dense = tf.identity(tf.sparse.to_dense(rows) * 2.0, name="dense")
    return x, words, rows, {
        "y": y, "found": found, "z": z, "total": total, "dense": dense}


def answers(sess):
    feeds = {
        "x:0": X, "words:0": WORDS, "rows/indices:0": [[0, 1], [2, 0]],
        "rows/values:0": [5.0, 6.0], "rows/shape:0": [3, 2]}
    return sess.run(OUTPUTS, feeds)


OUTPUTS = {name: name + ":0" for name in ("y", "found", "z", "total", "dense")}
with tf.Graph().as_default() as graph, tf.Session(config=config) as sess:
    if action == "save":
        with open(os.path.join(directory, "vocab.txt"), "w") as file:
            file.write("a\\nb\\n")
        x, words, rows, outputs = build()
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        utils = tf.saved_model.signature_def_utils
        signatures = {
            "serving_default": utils.predict_signature_def(
                {"x": x, "rows": rows}, {"y": outputs["y"], "dense": outputs["dense"]}),
            "words": utils.predict_signature_def(
                {"words": words}, {"found": outputs["found"], "z": outputs["z"]}),
            "examples": utils.regression_signature_def(words, outputs["y"]),
        }
        builder = tf.saved_model.builder.SavedModelBuilder(export)
        builder.add_meta_graph_and_variables(
            sess, ["serve"], signatures,
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(), strip_default_attrs=strip)
        builder.add_meta_graph(["serve", "gpu"], signatures, clear_devices=True)
        builder.save()
        builder.save(as_text=True)
        graph_def = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["y", "total", "dense"])
        tf.train.write_graph(graph_def, directory, "frozen.pb", as_text=False)
        tf.train.write_graph(graph_def, directory, "frozen.pbtxt")
        answer = answers(sess)
        os.remove(os.path.join(directory, "vocab.txt"))
    elif action == "load":
        meta = tf.saved_model.load(sess, ["serve"], export)
        answer = answers(sess)
        answer["signatures"] = {
            key: (s.method_name,
                  sorted((k, i.name, i.dtype) for k, i in s.inputs.items()),
                  sorted((k, i.name, i.dtype) for k, i in s.outputs.items()))
            for key, s in meta.signature_def.items()}
        answer["variables"] = sorted(v.name for v in tf.global_variables())
    elif action == "scope":
        tf.saved_model.load(sess, ["serve", "gpu"], export, import_scope="a/b")
        answer = sess.run({"y": "a/b/y:0", "total": "a/b/total:0"}, {"a/b/x:0": X})
    elif action == "frozen":
        graph_def = tf.GraphDef()
        with open(frozen, "rb") as file:
            graph_def.ParseFromString(file.read())
        y, total = tf.import_graph_def(graph_def, return_elements=["y:0", "total:0"])
        answer = sess.run({"y": y, "total": total}, {"import/x:0": X})
with open(os.path.join(directory, action + ".answer"), "wb") as file:
    pickle.dump(answer, file, 2)
result = None
"""


def run_here(directory: Path, action: str, **names: Any) -> Any:
    scope = {"tf": tensorloom, "np": np, "directory": str(directory), "action": action}
    exec(PROGRAM, scope | {"resource": True, "strip": False} | names)
    return read_answer(directory, action)


def run_there(peer: Peer, directory: Path, action: str, **names: Any) -> Any:
    names = {"resource": True, "strip": False, **names}
    names |= {"directory": str(directory), "action": action}
    header = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    answer = peer.execute(header + PROGRAM)
    assert answer["error"] is None, answer["error"]
    return read_answer(directory, action)


def read_answer(directory: Path, action: str) -> Any:
    with open(directory / f"{action}.answer", "rb") as file:
        return pickle.load(file, encoding="latin1")


# Processes of their own: what programs of other tests import there stays loaded, and
# changes how TensorFlow 1.15 knows a MetaGraphDef.
@pytest.fixture(scope="module")
def peer115() -> Iterator[Peer]:
    yield from new_peer("1.15")


@pytest.fixture(scope="module")
def peer221() -> Iterator[Peer]:
    yield from new_peer("2.21")


@pytest.fixture(params=["peer115", "peer221"])
def peer(request: pytest.FixtureRequest) -> Peer:
    result: Peer = request.getfixturevalue(request.param)
    return result


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found
    for name in expected.keys() & found.keys():
        np.testing.assert_allclose(found[name], expected[name], 1e-6, err_msg=name)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("ours", [False, True], ids=["theirs", "ours"])
def test_models_cross_over(
    peer: Peer, tmp_path: Path, resource: bool, ours: bool
) -> None:
    """What one system exports, the other loads, with its numbers and signatures."""

    def here(action: str) -> Any:
        return run_here(tmp_path, action, resource=resource, strip=True)

    def there(action: str) -> Any:
        return run_there(peer, tmp_path, action, resource=resource, strip=True)

    saved = here("save") if ours else there("save")
    writer, reader = (here, there) if ours else (there, here)
    known, loaded = writer("load"), reader("load")
    for name in ("signatures", "variables"):
        assert loaded.pop(name) == known.pop(name)
    check(loaded, saved)
    check(reader("scope"), saved)
    check(reader("frozen"), saved)
    (tmp_path / "model" / "saved_model.pb").unlink()  # the text form is there, too
    check({k: v for k, v in reader("load").items() if k in saved}, saved)


@pytest.mark.parametrize("resource", [False, True])
def test_same_messages(peer115: Peer, tmp_path: Path, resource: bool) -> None:
    """SavedModel, frozen graph and variables equal those of 1.15, field by field."""
    from tensorloom.protos.graph_pb2 import GraphDef
    from tensorloom.protos.saved_model_pb2 import SavedModel

    # One after the other in one place: the graph holds the path of its vocabulary.
    run_here(tmp_path, "save", resource=resource)
    ours = {p: p.read_bytes() for p in files_of(tmp_path)}
    shutil.rmtree(tmp_path / "model")
    run_there(peer115, tmp_path, "save", resource=resource)
    theirs = {p: p.read_bytes() for p in files_of(tmp_path)}
    assert ours.keys() == theirs.keys()
    for path, data in theirs.items():
        if "variables" in str(path) or path.name == "vocab.txt":
            assert ours[path] == data, path
    pb = tmp_path / "model" / "saved_model.pb"
    mine, real = SavedModel.FromString(ours[pb]), SavedModel.FromString(theirs[pb])
    assert len(mine.meta_graphs) == len(real.meta_graphs) == 2
    for a, b in zip(mine.meta_graphs, real.meta_graphs, strict=True):
        assert a.signature_def == b.signature_def
        assert a.saver_def == b.saver_def
        assert list(a.meta_info_def.tags) == list(b.meta_info_def.tags)
        keys = set(b.collection_def) - {"cond_context", "while_context"}
        assert set(a.collection_def) == keys
        for key in keys:
            assert a.collection_def[key] == b.collection_def[key], key
        assert straight(a.graph_def) == straight(b.graph_def)
    pb = tmp_path / "frozen.pb"
    mine_graph, real_graph = (
        GraphDef.FromString(ours[pb]),
        GraphDef.FromString(theirs[pb]),
    )
    assert straight(mine_graph) == straight(real_graph)


def straight(graph_def: Any) -> dict[str, Any]:
    """The nodes but those of control flow, which is made of other ops here."""
    return {
        node.name: (node.op, sorted(node.input), sorted(node.attr))
        for node in graph_def.node
        if not node.name.startswith(("c/", "while", "total", "Const"))
        and node.name not in ("c", "z")
    }


def files_of(directory: Path) -> list[Path]:
    return [p for p in directory.rglob("*") if p.is_file() and p.suffix != ".answer"]


FROZEN_PROGRAM = """
import pickle

graph_def = tf.GraphDef()
with open(file, "rb") as f:
    graph_def.ParseFromString(f.read())
with open(file + ".feeds", "rb") as f:
    fetches, feeds = pickle.load(f)
with tf.Graph().as_default(), tf.Session() as sess:
    tf.import_graph_def(graph_def, name="")
    result = sess.run(fetches, feeds)
"""


@pytest.mark.parametrize("name", ["linear", "control", "grad"])
def test_models_of_tensorflow_2_frozen_here(
    peer221: Peer, tmp_path: Path, name: str
) -> None:
    """What 2.21 exported and we froze gives its numbers there."""
    tf = tensorloom
    inputs, expected = models_of_tf2.unpack(tmp_path)[name]["serving_default"]
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(tmp_path / name))
        signature = meta.signature_def["serving_default"]
        outputs = [signature.outputs[key].name for key in sorted(expected)]
        frozen = tf.graph_util.convert_variables_to_constants(
            sess,
            sess.graph.as_graph_def(),
            sorted({output.partition(":")[0] for output in outputs}),
        )
    file = tmp_path / "frozen.pb"
    file.write_bytes(frozen.SerializeToString())
    feeds = {signature.inputs[key].name: value for key, value in inputs.items()}
    (tmp_path / "frozen.pb.feeds").write_bytes(pickle.dumps((outputs, feeds)))
    answer = peer221.execute(f"file = {str(file)!r}\n{FROZEN_PROGRAM}")
    assert answer["error"] is None, answer["error"]
    for key, found in zip(sorted(expected), answer["result"][1], strict=True):
        models_of_tf2.check(read_array(found), expected[key], key)
