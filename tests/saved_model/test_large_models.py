"""SavedModels whose constants are too large for a message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.saved_model import builder


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(builder, "_MAX_CONSTANT_BYTES", 1000)
    path = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 512], name="x")
        table = np.arange(512 * 600, dtype=np.float32).reshape(512, 600)
        w = tf.constant(table, name="scope/w")
        v = tf.get_variable("v", initializer=2.0)
        y = tf.matmul(x, w) * v + tf.constant(1.0)
        sess.run(tf.global_variables_initializer())
        writer = tf.saved_model.Builder(str(path))
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        writer.add_meta_graph_and_variables(sess, ["serve"], {"s": signature})
        writer.add_meta_graph(["other"], {"s": signature})
        writer.save()
    return path


@pytest.mark.parametrize("tag", ["serve", "other"])
@pytest.mark.parametrize("scope", [None, "inside"])
def test_round_trip(model: Path, tag: str, scope: str | None) -> None:
    assert (model / "saved_model.pb").stat().st_size < 20000
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, [tag], str(model), import_scope=scope)
        signature = meta.signature_def["s"]
        prefix = f"{scope}/" if scope else ""
        x = np.ones((1, 512), np.float32)
        found = sess.run(
            prefix + signature.outputs["y"].name,
            {prefix + signature.inputs["x"].name: x},
        )
        table = np.arange(512 * 600, dtype=np.float32).reshape(512, 600)
        np.testing.assert_allclose(found, 2 * (x @ table) + 1, rtol=1e-5)
        # What is loaded can be exported once more.
        x = sess.graph.get_tensor_by_name(prefix + "x:0")
        tf.saved_model.simple_save(sess, str(model) + tag, {"x": x}, {"y": x})


def test_lost_constants(model: Path) -> None:
    (model / "saved_model.pb.constants.index").unlink()
    with tf.Session(graph=tf.Graph()) as sess, pytest.raises(errors.NotFoundError):
        tf.saved_model.load(sess, ["serve"], str(model))
