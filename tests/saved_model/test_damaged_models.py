"""Damaged and hostile SavedModels: an error that names the file, no crash, no hang."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.inspect.audit import audit
from tensorloom.protos import saved_model_pb2
from tests.saved_model.test_saved_model import export, run

# What a reader may raise for a damaged file; all of them say which.
CLEAN = (errors.OpError, OSError, ValueError, RuntimeError)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported") / "model"
    export(directory).save()
    return directory


def changed(model: Path, directory: Path, change: Any) -> Path:
    """A copy of the model whose message is changed."""
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(model, directory)
    file = directory / "saved_model.pb"
    message = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    change(message.meta_graphs[0])
    file.write_bytes(message.SerializeToString())
    return directory


@pytest.mark.parametrize(
    "name", ["../vocab.txt", "/etc/passwd", "a/../../b", "", "..", "a//b", "x\0y"]
)
def test_assets_outside_of_the_directory(
    model: Path, tmp_path: Path, name: str
) -> None:
    def change(meta: Any) -> None:
        asset = meta.asset_file_def.add(filename=name)
        asset.tensor_info.name = "path:0"

    copy = changed(model, tmp_path / "copy", change)
    with pytest.raises(errors.InvalidArgumentError, match=r"saved_model.pb.*leads out"):
        run(copy)
    assert not audit(str(copy)).will_run


def _unknown_op(meta: Any) -> None:
    for node in meta.graph_def.node[:2]:
        node.op = "NoSuchOp"


def _unknown_attrs(meta: Any) -> None:
    for node in meta.graph_def.node:
        if node.op == "Mul":
            node.attr["newer"].i = 3
        if node.op == "Placeholder":
            node.attr["other"].s = b"x"


def _recursive(meta: Any) -> None:
    function = meta.graph_def.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    function.node_def.add(name="again", op="f").input.append("x")
    function.ret["y"] = "again:y:0"
    meta.graph_def.node.add(name="call", op="f").input.append("x")


def _cycle(meta: Any) -> None:
    for node in meta.graph_def.node:
        if node.op == "Mul":
            node.input[0] = node.name


def _no_init_op(meta: Any) -> None:
    del meta.collection_def["saved_model_main_op"]
    info = meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"]
    info.name = "nowhere"


def _two_init_ops(meta: Any) -> None:
    meta.collection_def["saved_model_main_op"].node_list.value.append("x")


def _bad_variable(meta: Any) -> None:
    values = meta.collection_def["variables"].bytes_list.value
    values[0] = values[0][:-3]


def _unknown_asset(meta: Any) -> None:
    meta.asset_file_def.add(filename="v").tensor_info.name = "nowhere:0"


def _wrong_saver(meta: Any) -> None:
    meta.saver_def.filename_tensor_name = "x"


def _no_restoring_op(meta: Any) -> None:
    meta.saver_def.restore_op_name = "nowhere"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_wrong_saver, "'x' refers to an Operation"),
        (_no_restoring_op, "nowhere"),
        (_unknown_op, "NoSuchOp"),
        (_unknown_attrs, "newer"),
        (_cycle, "."),
        (_no_init_op, "nowhere"),
        (_two_init_ops, "exactly one"),
        (_bad_variable, "."),
        (_unknown_asset, "nowhere"),
    ],
)
def test_malformed_messages(
    model: Path, tmp_path: Path, change: Any, message: str
) -> None:
    copy = changed(model, tmp_path / "copy", change)
    with pytest.raises(CLEAN, match=message) as raised:
        run(copy)
    assert str(copy / "saved_model.pb") in str(raised.value)


def test_all_that_is_unknown_is_told_at_once(model: Path, tmp_path: Path) -> None:
    copy = changed(model, tmp_path / "copy", _unknown_attrs)
    with pytest.raises(ValueError) as raised:
        run(copy)
    text = str(raised.value)
    assert "producer has version 134" in text
    assert "op Mul has no attr 'newer' (it is i: 3)" in text
    assert "op Placeholder has no attr 'other'" in text
    subjects = {finding.subject for finding in audit(str(copy)).findings}
    assert {"Mul.newer", "Placeholder.other"} <= subjects


def test_defaults_of_a_newer_producer_are_dropped(model: Path, tmp_path: Path) -> None:
    def change(meta: Any) -> None:
        _unknown_attrs(meta)
        for op in meta.meta_info_def.stripped_op_list.op:
            if op.name == "Mul":
                op.attr.add(name="newer", type="int").default_value.i = 3
            if op.name == "Placeholder":
                op.attr.add(name="other", type="string").default_value.s = b"x"

    copy = changed(model, tmp_path / "copy", change)
    assert run(copy)["y"].tolist() == [3.0, 6.0]
    assert audit(str(copy)).will_run


def test_recursive_functions(model: Path, tmp_path: Path) -> None:
    copy = changed(model, tmp_path / "copy", _recursive)
    audit(str(copy))
    with tf.Session(graph=tf.Graph()) as sess, pytest.raises(CLEAN):
        _load_and_call(sess, copy)


def _load_and_call(sess: Any, directory: Path) -> None:
    tf.saved_model.load(sess, ["serve"], str(directory))
    sess.run("call:0", {"x:0": [1.0]})


def test_lost_files(model: Path, tmp_path: Path) -> None:
    copy = changed(model, tmp_path / "copy", lambda meta: None)
    (copy / "variables" / "variables.index").unlink()
    with pytest.raises(ValueError, match="copy/variables/variables"):
        run(copy)
    assert not audit(str(copy)).will_run
    (copy / "saved_model.pb").unlink()
    with pytest.raises(OSError, match=r"does not exist at: .*copy"):
        run(copy)


@settings(max_examples=60)
@given(st.data())
def test_bytes_changed_anywhere(
    model: Path, tmp_path: Path, data: st.DataObject
) -> None:
    copy = changed(model, tmp_path / "copy", lambda meta: None)
    file = copy / "saved_model.pb"
    contents = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        contents = contents[: data.draw(st.integers(0, len(contents) - 1))]
    for _ in range(data.draw(st.integers(1, 4))):
        if contents:
            at = data.draw(st.integers(0, len(contents) - 1))
            contents[at] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(contents)
    with contextlib.suppress(*CLEAN):
        run(copy)
    with contextlib.suppress(errors.OpError):
        audit(str(copy))
