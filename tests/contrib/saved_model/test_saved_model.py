"""`tf.contrib.saved_model`: its reader, and what it refuses."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import tensorloom as tf

reader = importlib.import_module(
    "tensorloom.contrib.saved_model.python.saved_model.reader"
)


@pytest.mark.parametrize("as_text", [False, True])
def test_tags_of_a_model(tmp_path: Path, as_text: bool) -> None:
    builder = tf.saved_model.Builder(str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(1.0)
        session.run(variable.initializer)
        builder.add_meta_graph_and_variables(session, ["a", "b"])
        builder.add_meta_graph(["c"])
    path = str(tmp_path / "model")
    builder.save(as_text=as_text)
    assert reader.get_saved_model_tag_sets(path) == [["a", "b"], ["c"]]
    assert len(reader.read_saved_model(path).meta_graphs) == 2


def test_no_model_and_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        reader.get_saved_model_tag_sets(str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"zzzzz")
    with pytest.raises(OSError, match="Cannot parse file"):
        reader.read_saved_model(str(tmp_path))


def test_models_of_keras_are_refused() -> None:
    with pytest.raises(RuntimeError, match="simple_save"):
        tf.contrib.saved_model.save_keras_model(None, "path")
    with pytest.raises(RuntimeError, match="load_keras_model"):
        tf.contrib.saved_model.load_keras_model("path")
    with pytest.raises(TypeError):
        tf.contrib.saved_model.load_keras_model()
