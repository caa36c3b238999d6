"""The commands that look into files: output, JSON, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.storage.records.tfrecord import RecordWriter
from tensorloom.train.checkpoints import large_graph


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SavedModel `model`, checkpoints `a` and `b`, records and a program."""
    directory = tmp_path_factory.mktemp("files")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        step = tf.get_variable("step", initializer=5)
        y = tf.identity(tf.check_numerics(x @ w, "y"), name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(directory / "model"), {"x": x}, {"y": y})
        saver = tf.train.Saver()
        saver.save(sess, str(directory / "a"), write_state=False)
        sess.run([w.assign([[3.0], [2.5]]), step.assign(6)])
        saver.save(sess, str(directory / "b"), write_state=False)
        tf.train.write_graph(graph, str(directory), "g.pb", as_text=False)
    example = tf.train.Example()
    example.features.feature["n"].int64_list.value.append(3)
    for name, kind in (("r.tfrecord", ""), ("z.tfrecord", "GZIP")):
        with RecordWriter(str(directory / name), kind) as writer:
            for _ in range(3):
                writer.write(example.SerializeToString())
    contents = bytearray((directory / "r.tfrecord").read_bytes())
    contents[-6] ^= 1
    (directory / "bad.tfrecord").write_bytes(contents)
    (directory / "p.py").write_text("import tensorflow as tf\ntf.no_such\n")
    np.save(directory / "x.npy", np.ones((1, 2), np.float32))
    return directory


# arguments, exit code, parts of the output; {} is the folder.
CASES: list[tuple[str, int, list[str]]] = [
    ("checkpoint show {}/a", 0, ["w     float32  [2, 1]", "2 tensors, 3 elements"]),
    ("checkpoint show {}/a --tensor w", 0, ["[[1.]", "[2.]]"]),
    ("checkpoint show {}/nothing", 2, ["nothing"]),
    ("checkpoint diff {}/a {}/a", 0, ["2 tensors in both, 0 of them different"]),
    ("checkpoint diff {}/a {}/b", 1, ["! w: 2 of 2 values, by up to 2"]),
    ("checkpoint diff {}/a {}/b --names-only", 0, ["0 of them different"]),
    ("checkpoint diff {}/a {}/b --tolerance 2", 0, ["0 of them different"]),
    ("checkpoint verify {}/a {}/b", 0, ["a: fine, 2 tensors"]),
    ("checkpoint rename {}/a {}/c v=u", 1, ["no tensor is named 'v'"]),
    ("checkpoint rename {}/a {}/c ^.*$=x --regex", 1, ["two tensors"]),
    ("records count {}/r.tfrecord {}/z.tfrecord", 0, ["3\t", "z.tfrecord"]),
    ("records verify {}/z.tfrecord", 0, ["fine, 3 records"]),
    ("records verify {}/bad.tfrecord", 1, ["corrupted record at"]),
    ("records head -n 1 {}/z.tfrecord", 0, ["record 0: ", 'key: "n"', "value: 3"]),
    ("records head {}/none", 2, ["none"]),
    ("saved-model show {}/model", 0, ["following tag-sets:\nserve"]),
    ("saved-model show --dir {}/model --tag_set serve", 0, ['"serving_default"']),
    ("saved-model show --dir {}/model --tag_set x", 1, ["available_tags"]),
    (
        "saved-model show --dir {}/model --all",
        0,
        ["inputs['x'] tensor_info:\n        dtype: DT_FLOAT\n        shape: (-1, 2)"],
    ),
    ("saved-model show {}", 2, ["not a SavedModel"]),
    ("saved-model run {}/model --inputs x={}/x.npy", 0, ["output key y:\n[[3.]]"]),
    ("saved-model run {}/model --input_exprs x=np.ones((1,2))", 0, ["[[3.]]"]),
    ("saved-model run {}/model --input_exprs q=1", 1, ["not a valid input key"]),
    ("saved-model run {}/model --input_exprs x=1/0", 1, ["division by zero"]),
    ("saved-model run {}/model --input_exprs x=[[1,int]]", 1, ["not 'type'"]),
    ("saved-model run {}/model", 2, ["At least one of --inputs"]),
    ("graph summary {}/g.pb", 0, ["input x: float32 [-1, 2]", "2 variables"]),
    ("graph summary {}/a.meta", 0, ["input x"]),
    ("graph to-text {}/g.pb", 0, ['op: "CheckNumerics"']),
    ("graph to-text {}/g.pb -o {}/g.pbtxt", 0, ["g.pbtxt: "]),
    ("graph freeze {}/model -o {}/f.pb", 0, ["f.pb: "]),
    ("graph freeze {}/a.meta -o {}/f.pb", 2, ["--output_node_names"]),
    ("graph summary {}/r.tfrecord", 1, ["not a GraphDef"]),
    ("audit {}/model {}/g.pb {}/a", 0, ["SavedModel", "GraphDef", "checkpoint"]),
    ("audit {}/p.py", 1, ["p.py:2: error: there is no tf.no_such", "will NOT run"]),
    ("audit {}/nothing", 2, ["no such file"]),
]


@pytest.mark.parametrize(("line", "status", "parts"), CASES)
def test_output_and_exit_code(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    line: str,
    status: int,
    parts: list[str],
) -> None:
    arguments = line.replace("{}", str(folder)).split()
    assert main(arguments) == status
    captured = capsys.readouterr()
    for part in parts:
        assert part in captured.out + captured.err
    assert main([*arguments, "--json"]) == status
    captured = capsys.readouterr()
    json.loads(captured.out)
    assert "Traceback" not in captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_rename_and_average(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["checkpoint", "rename", f"{folder}/a", f"{tmp_path}/c", "w=kernel"])
    main(["checkpoint", "average", f"{tmp_path}/d", f"{folder}/a", f"{folder}/b"])
    capsys.readouterr()
    c, d = (tf.train.NewCheckpointReader(str(tmp_path / n)) for n in "cd")
    assert sorted(c.get_variable_to_shape_map()) == ["kernel", "step"]
    assert c.get_tensor("kernel").tolist() == [[1.0], [2.0]]
    assert d.get_tensor("w").tolist() == [[2.0], [2.25]]
    assert d.get_tensor("step") == 6


def test_frozen_and_stripped_graphs_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = str(folder / "model"), str(tmp_path / "f.pb")
    assert as_json(capsys, "graph", "freeze", model, "-o", file)["nodes"] < 12
    again = ["graph", "freeze", f"{folder}/g.pb", "--checkpoint", f"{folder}/a"]
    as_json(capsys, *again, "--output_node_names", "y", "-o", str(tmp_path / "h.pb"))
    as_json(capsys, "graph", "strip", file, "-o", str(tmp_path / "s.pbtxt"))
    as_json(capsys, "audit", str(tmp_path / "s.pbtxt"))
    for name in ("f.pb", "h.pb"):
        proto = tf.GraphDef.FromString((tmp_path / name).read_bytes())
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(proto, name="")
            assert sess.run("y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[3.0]]
    assert "CheckNumerics" not in (tmp_path / "s.pbtxt").read_text()


def test_freezing_for_sparse_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        w = tf.get_variable("w", initializer=3.0)
        y = tf.SparseTensor([[0], [3]], x * w, [5])
        sess.run(w.initializer)
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": y})
    file = str(tmp_path / "f.pb")
    as_json(capsys, "graph", "freeze", str(tmp_path / "m"), "-o", file)
    graph_def = tf.GraphDef.FromString(Path(file).read_bytes())
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        values = sess.graph.get_operation_by_name(y.values.op.name).outputs[0]
        assert sess.run(values, {"x:0": [1.0, 2.0]}).tolist() == [3.0, 6.0]
        for part in (y.indices, y.dense_shape):
            sess.graph.get_operation_by_name(part.op.name)


@pytest.mark.parametrize("action", ["freeze", "strip"])
def test_unknown_outputs_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    line = ["graph", action, f"{folder}/g.pb", "-o", str(tmp_path / "o.pb")]
    if action == "freeze":
        line += ["--checkpoint", f"{folder}/a"]
    assert main([*line, "--output_node_names", "y:0"]) == 1
    assert "there is no node 'y:0'" in capsys.readouterr().err
    assert not (tmp_path / "o.pb").exists()


def test_constants_beside_a_graph_stay_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.get_variable("v", initializer=[1.0])
        tf.add(x @ tf.constant([[1.0], [2.0]], name="w"), v, name="y")
        sess.run(v.initializer)
        tf.train.Saver().save(sess, str(tmp_path / "c"))
        path = large_graph.write_large_graph(graph, tmp_path / "g.pb", 1)
    made = ["--output_node_names", "y", "-o"]
    frozen, stripped = str(tmp_path / "f.pb"), str(tmp_path / "s.pb")
    assert as_json(capsys, "graph", "summary", path)["constant_bytes"] >= 8
    point = ["--checkpoint", str(tmp_path / "c")]
    as_json(capsys, "graph", "freeze", path, *point, *made, frozen)
    as_json(capsys, "graph", "strip", frozen, *made, stripped)
    for name in (path, frozen, stripped):
        assert as_json(capsys, "audit", name)[0]["will_run"]
    with tf.Graph().as_default(), tf.Session() as sess:
        large_graph.import_large_graph(stripped, name="")
        assert sess.run("y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[4.0]]
    data = tmp_path / "s.pb.constants.data-00000-of-00001"
    data.write_bytes(b"\xff" * data.stat().st_size)
    assert main(["audit", stripped]) == 1
    assert "checksum" in capsys.readouterr().out.lower()


def test_outputs_are_not_overwritten(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["saved-model", "run", str(folder / "model"), "--outdir", str(tmp_path)]
    line += ["--input_exprs", "x=[[1.0, 1.0]]"]
    assert main(line) == 0
    path = tmp_path / "y.npy"
    assert capsys.readouterr().out == (
        f"Result for output key y:\n[[3.]]\nOutput y is saved to {path}\n"
    )
    assert np.load(path).tolist() == [[3.0]]
    assert main(line) == 1
    assert "already exists" in capsys.readouterr().err
    assert main([*line, "--overwrite"]) == 0
