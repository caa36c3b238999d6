"""Builder and loader: what is written, read, and refused."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.protos import saved_model_pb2
from tensorloom.saved_model.loader import SavedModelLoader
from tensorloom.storage import Mirror

utils = tf.saved_model.signature_def_utils


def export(directory: Path, **kwargs: Any) -> Any:
    """Exports w * x with w = 3 and a vocabulary; gives the builder."""
    vocabulary = directory.parent / "vocab.txt"
    vocabulary.write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=3.0)
        y = tf.multiply(x, w, name="y")
        path = tf.constant(str(vocabulary), name="path")
        contents = tf.read_file(path, name="contents")
        local = tf.get_local_variable("local", initializer=0)
        ready = tf.assign(local, 7, name="ready").op
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(directory))
        signature = utils.predict_signature_def({"x": x}, {"y": y, "c": contents})
        arguments = {
            "tags": ["serve"],
            "signature_def_map": {"serving_default": signature},
            "assets_collection": [path],
            "main_op": ready,
        }
        builder.add_meta_graph_and_variables(sess, **(arguments | kwargs))
    return builder


def run(directory: Path, scope: str | None = None) -> dict[str, Any]:
    prefix = f"{scope}/" if scope else ""
    with tf.Session(graph=tf.Graph()) as sess:
        tf.saved_model.load(sess, ["serve"], directory, import_scope=scope)
        names = {name: f"{prefix}{name}:0" for name in ("y", "local")}
        result: dict[str, Any] = sess.run(names, {f"{prefix}x:0": [1.0, 2.0]})
        result["path"] = sess.run(f"{prefix}path:0")
        return result


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("scope", [None, "inner"])
def test_round_trip(tmp_path: Path, as_text: bool, scope: str | None) -> None:
    path = export(tmp_path / "model").save(as_text)
    name = "saved_model.pbtxt" if as_text else "saved_model.pb"
    assert path == str(tmp_path / "model" / name).encode()
    found = run(tmp_path / "model", scope)
    assert found["y"].tolist() == [3.0, 6.0]
    assert found["local"] == 7  # the main op ran
    names = {p.relative_to(tmp_path / "model") for p in tmp_path.glob("model/**/*")}
    assert {Path("assets/vocab.txt"), Path("variables/variables.index")} <= names


def test_it_appears_whole(tmp_path: Path) -> None:
    builder = export(tmp_path / "1")
    assert not (tmp_path / "1").exists()
    extra = tmp_path / "1" / "assets.extra"
    extra.mkdir(parents=True)
    (extra / "note").write_text("mine")
    builder.save()
    assert (extra / "note").read_text() == "mine"
    assert run(tmp_path / "1")["y"].tolist() == [3.0, 6.0]
    assert sorted(os.listdir(tmp_path)) == ["1", "vocab.txt"]


def test_nothing_is_left_of_one_that_is_not_saved(tmp_path: Path) -> None:
    builder = export(tmp_path / "1")
    assert len(os.listdir(tmp_path)) == 2
    del builder
    gc.collect()
    assert os.listdir(tmp_path) == ["vocab.txt"]


def test_other_file_systems() -> None:
    directory = "memory://models/7"
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.identity(x * tf.get_variable("w", initializer=3.0), name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, directory, {"x": x}, {"y": y})
    assert tf.saved_model.maybe_saved_model_directory(directory)
    with tf.Session(graph=tf.Graph()) as sess:
        tf.saved_model.load(sess, ["serve"], directory)
        assert sess.run("y:0", {"x:0": 2.0}) == 6.0


def test_a_mirror_takes_over(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    with Mirror(str(tmp_path / "first"), str(tmp_path / "second")) as mirror:
        export(tmp_path / "first" / "1").save()
        mirror.flush(60)
        names = [p.name for p in (tmp_path / "second").iterdir()]
        assert names == ["1"]
        os.rename(tmp_path / "first", tmp_path / "lost")
        assert run(tmp_path / "first" / "1")["y"].tolist() == [3.0, 6.0]


def test_more_meta_graphs(tmp_path: Path) -> None:
    builder = export(tmp_path / "model")
    with tf.Graph().as_default():
        tf.get_variable("w", initializer=0.0)
        tf.get_local_variable("local", initializer=0)
        builder.add_meta_graph(["serve", "gpu"], clear_devices=True)
    builder.save()
    loader = SavedModelLoader(tmp_path / "model")
    assert len(loader.saved_model.meta_graphs) == 2
    with pytest.raises(RuntimeError, match=r"available_tags: .*'gpu', 'serve'"):
        loader.get_meta_graph_def_from_tags(["tpu"])


def test_assets_of_one_name(tmp_path: Path) -> None:
    files = []
    for folder, text in (("a", "1"), ("b", "2"), ("c", "1")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "v.txt"
        file.write_text(text)
        files.append(str(file))
    with tf.Graph().as_default(), tf.Session() as sess:
        paths = [tf.constant(file) for file in files]
        tf.get_variable("w", initializer=3.0)
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=paths)
        builder.save()
    found = {p.name: p.read_text() for p in (tmp_path / "model/assets").iterdir()}
    assert found == {"v.txt": "1", "v.txt_1": "2"}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("..", ValueError),
        ("a/.", ValueError),
        ("a", errors.InvalidArgumentError),
        ("none", errors.NotFoundError),
        ("file\0x", errors.InvalidArgumentError),
        ("n" * 5000, errors.InvalidArgumentError),
    ],
)
def test_assets_that_are_no_files(
    path: str, error: type[Exception], tmp_path: Path
) -> None:
    """Nothing is left of an export that cannot be."""
    (tmp_path / "a").mkdir()
    with tf.Graph().as_default(), tf.Session() as sess:
        asset = tf.constant(f"{tmp_path}/{path}")
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        with pytest.raises(error):
            builder.add_meta_graph_and_variables(
                sess, ["serve"], assets_collection=[asset]
            )
        del builder
    gc.collect()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_an_asset_with_a_long_name(tmp_path: Path) -> None:
    (tmp_path / ("ü" * 127)).write_text("x")
    with tf.Graph().as_default(), tf.Session() as sess:
        asset = tf.constant(str(tmp_path / ("ü" * 127)))
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=[asset])
        builder.save()
    assert (tmp_path / "model" / "assets" / ("ü" * 127)).read_text() == "x"


def _not_an_op(tmp_path: Path) -> Any:
    export(tmp_path / "model", main_op="ready")


def _no_info(tmp_path: Path) -> Any:
    info = tf.TensorInfo(name="x:0")
    signature = utils.build_signature_def({"x": info}, {}, "m")
    export(tmp_path / "model", signature_def_map={"a": signature})


def _reserved(tmp_path: Path) -> Any:
    signature = utils.build_signature_def()
    export(tmp_path / "m", signature_def_map={"__saved_model_init_op": signature})


def _twice(tmp_path: Path) -> Any:
    export(tmp_path / "model").add_meta_graph_and_variables(None, [])


def _too_early(tmp_path: Path) -> Any:
    tf.saved_model.Builder(str(tmp_path / "model")).add_meta_graph([])


def _not_empty(tmp_path: Path) -> Any:
    (tmp_path / "file").write_text("")
    tf.saved_model.Builder(str(tmp_path))


@pytest.mark.parametrize(
    ("program", "kind", "message"),
    [
        (_not_an_op, TypeError, "main_op needs to be an Operation"),
        (_no_info, AssertionError, "dtype field set"),
        (_reserved, KeyError, "reserved for initialization"),
        (_twice, AssertionError, "already been saved"),
        (_too_early, AssertionError, "has not been saved yet"),
        (_not_empty, AssertionError, "isn't empty"),
    ],
)
def test_wrong_uses(tmp_path: Path, program: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        program(tmp_path)


# --- signatures ----------------------------------------------------------------------


def test_signatures() -> None:
    with tf.Graph().as_default():
        text = tf.placeholder(tf.string, [None], name="text")
        number = tf.placeholder(tf.float32, [None, 2], name="number")
        sparse = tf.sparse.placeholder(tf.float32, [3, 4], name="sparse")
        regress = utils.regression_signature_def(text, number)
        assert regress.method_name == "tensorflow/serving/regress"
        classify = utils.classification_signature_def(text, text, None)
        predict = utils.predict_signature_def({"s": sparse}, {"n": number})
        for signature in (regress, classify, predict):
            assert utils.is_valid_signature(signature)
        predict.method_name = "mine"
        assert not utils.is_valid_signature(predict)
        info = predict.inputs["s"]
        assert info.coo_sparse.values_tensor_name == sparse.values.name
        again = tf.saved_model.utils.get_tensor_from_tensor_info(info)
        assert again.indices is sparse.indices
        with pytest.raises(ValueError, match="must be a string Tensor"):
            utils.regression_signature_def(number, number)
        with pytest.raises(ValueError, match="must be a float Tensor"):
            utils.classification_signature_def(text, None, text)
        with pytest.raises(ValueError, match="cannot be None or empty"):
            utils.predict_signature_def({}, {"n": number})


def test_main_ops() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=3.0)
        sess.run(tf.saved_model.main_op.main_op())
        assert sess.run(w) == 3.0
        restore = tf.no_op("restore")
        both = tf.saved_model.main_op_with_restore(restore)
        assert both.type == "NoOp"


def test_constants() -> None:
    assert tf.saved_model.tag_constants.SERVING == tf.saved_model.SERVING == "serve"
    assert tf.saved_model.constants.ASSETS_KEY == "saved_model_assets"
    key = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    assert key == "serving_default"


def test_the_message_names_no_package_of_ours(tmp_path: Path) -> None:
    export(tmp_path / "model").save()
    data = (tmp_path / "model" / "saved_model.pb").read_bytes()
    message = saved_model_pb2.SavedModel.FromString(data)
    items = message.meta_graphs[0].collection_def["saved_model_assets"].any_list.value
    assert items[0].type_url == "type.googleapis.com/tensorflow.AssetFileDef"
