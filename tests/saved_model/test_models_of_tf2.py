"""SavedModels of TensorFlow 2 are loaded, run and frozen, with TensorFlow's numbers."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.inspect.audit import audit
from tensorloom.protos.saved_model_pb2 import SavedModel
from tests.saved_model import models_of_tf2

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    directory = tmp_path_factory.mktemp("models")
    return directory, models_of_tf2.unpack(directory)


@pytest.mark.parametrize("name", models_of_tf2.NAMES)
def test_signatures_give_the_numbers(
    models: tuple[Path, dict[str, Any]], name: str
) -> None:
    directory, answers = models
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(directory / name))
        for key, (inputs, expected) in answers[name].items():
            signature = meta.signature_def[key]
            fetches = {k: info.name for k, info in signature.outputs.items()}
            feeds = {signature.inputs[k].name: v for k, v in inputs.items()}
            for output, value in sess.run(fetches, feeds).items():
                models_of_tf2.check(value, expected[output], output)


@pytest.mark.parametrize("name", ["linear", "control", "grad"])
def test_frozen_they_give_the_numbers(
    models: tuple[Path, dict[str, Any]], name: str
) -> None:
    directory, answers = models
    inputs, expected = answers[name]["serving_default"]
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(directory / name))
        signature = meta.signature_def["serving_default"]
        outputs = {info.name for info in signature.outputs.values()}
        frozen = tf.graph_util.convert_variables_to_constants(
            sess,
            sess.graph.as_graph_def(),
            sorted({output.partition(":")[0] for output in outputs}),
        )
    assert not [n for n in frozen.node if n.op == "VarHandleOp"]
    with tf.Session(graph=tf.Graph()) as sess:
        tf.import_graph_def(frozen, name="")
        fetches = {k: info.name for k, info in signature.outputs.items()}
        feeds = {signature.inputs[k].name: v for k, v in inputs.items()}
        for output, value in sess.run(fetches, feeds).items():
            models_of_tf2.check(value, expected[output], output)


@pytest.mark.parametrize("name", models_of_tf2.NAMES)
def test_functions_that_nobody_calls_may_be_wrong(
    models: tuple[Path, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    """They do no harm, and go with the graph when it is written again."""
    directory, answers = models
    path = tmp_path / name
    shutil.copytree(directory / name, path)
    model = SavedModel.FromString((path / "saved_model.pb").read_bytes())
    library = model.meta_graphs[0].graph_def.library
    for op in ("Unheard", "damaged"):
        library.function.add().signature.name = op
        library.function[-1].node_def.add(name="n", op=op, input=["gone"])
    (path / "saved_model.pb").write_bytes(model.SerializeToString())
    found = audit(str(path))
    assert found.will_run
    assert [f.count for f in found.findings if f.subject == "functions"] == [2]
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(path))
        key, (inputs, expected) = next(iter(answers[name].items()))
        signature = meta.signature_def[key]
        feeds = {signature.inputs[k].name: v for k, v in inputs.items()}
        fetches = {k: info.name for k, info in signature.outputs.items()}
        for output, value in sess.run(fetches, feeds).items():
            models_of_tf2.check(value, expected[output], output)
        written = tf.train.export_meta_graph(graph=sess.graph).graph_def.library
    kept = {f.signature.name: f for f in written.function}
    assert kept["Unheard"] == library.function[-2]
    assert kept["damaged"] == library.function[-1]


def test_what_changes_a_variable_is_not_frozen(
    models: tuple[Path, dict[str, Any]],
) -> None:
    with tf.Session(graph=tf.Graph()) as sess:
        tf.saved_model.load(sess, ["serve"], str(models[0] / "stateful"))
        names = ["StatefulPartitionedCall"]
        with pytest.raises(ValueError, match=r"AssignAddVariableOp.*in function"):
            tf.graph_util.convert_variables_to_constants(
                sess, sess.graph.as_graph_def(), names
            )


@pytest.mark.parametrize("name", models_of_tf2.NAMES)
def test_they_pass_the_audit(models: tuple[Path, dict[str, Any]], name: str) -> None:
    found = audit(str(models[0] / name))
    assert found.kind == "SavedModel"
    assert found.will_run, found.findings


def _with_handles_that_nothing_restores(directory: Path) -> None:
    """What Keras 3 makes: saving and restoring functions have handles of their own."""
    file = directory / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    (meta,) = model.meta_graphs
    nodes = {node.name: node for node in meta.graph_def.node}
    restoring = nodes[meta.saver_def.restore_op_name]
    handles = [nodes[n] for n in restoring.input if nodes[n].op == "VarHandleOp"]
    assert handles
    for handle in handles:
        other = meta.graph_def.node.add()
        other.CopyFrom(handle)
        other.name = f"Other/{handle.name}"
        other.attr["shared_name"].s = other.name.encode()
        for number, name in enumerate(restoring.input):
            if name == handle.name:
                restoring.input[number] = other.name
    file.write_bytes(model.SerializeToString())


@pytest.mark.parametrize("scope", [None, "a/b"])
@pytest.mark.parametrize("name", ["linear", "stateful"])
def test_variables_that_the_restoring_function_leaves_out(
    models: tuple[Path, dict[str, Any]], tmp_path: Path, name: str, scope: str | None
) -> None:
    directory, answers = models
    path = tmp_path / name
    shutil.copytree(directory / name, path)
    _with_handles_that_nothing_restores(path)
    begin = f"{scope}/" if scope else ""
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(path), import_scope=scope)
        for key, (inputs, expected) in answers[name].items():
            signature = meta.signature_def[key]
            fetches = {k: begin + info.name for k, info in signature.outputs.items()}
            feeds = {begin + signature.inputs[k].name: v for k, v in inputs.items()}
            for output, value in sess.run(fetches, feeds).items():
                models_of_tf2.check(value, expected[output], output)


@pytest.mark.parametrize("field", ["inputs", "objects", "checkpoint"])
def test_objects_that_do_not_fit_stay_unset(
    models: tuple[Path, dict[str, Any]], tmp_path: Path, field: str
) -> None:
    """Numbers of a damaged message lead to no other variable's value."""
    path = tmp_path / "linear"
    shutil.copytree(models[0] / "linear", path)
    _with_handles_that_nothing_restores(path)
    file = path / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    objects = model.meta_graphs[0].object_graph_def
    for function in objects.concrete_functions.values():
        numbers = function.bound_inputs
        if field == "inputs":
            numbers[:] = [number + 10**6 for number in numbers]
        elif field == "objects":
            numbers[:] = [0 for _ in numbers]
    if field == "checkpoint":
        for node in objects.nodes:
            if node.HasField("variable"):
                node.variable.name += "x"
    file.write_bytes(model.SerializeToString())
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(path))
        signature = meta.signature_def["serving_default"]
        inputs, _ = models[1]["linear"]["serving_default"]
        feeds = {signature.inputs[k].name: v for k, v in inputs.items()}
        outputs = [info.name for info in signature.outputs.values()]
        with pytest.raises(tf.errors.FailedPreconditionError, match="does not exist"):
            sess.run(outputs, feeds)
