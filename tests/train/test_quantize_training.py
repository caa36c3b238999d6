"""`tf.train.do_quantize_training_on_graphdef`; graphs are compared in tests/peer."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf


def test_ranges_are_trained_and_saved(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [3.0]])
    tf.matmul(x, w, name="product")
    initializer = tf.global_variables_initializer().name
    saver_def = tf.train.Saver().as_saver_def()
    graph_def = tf.train.do_quantize_training_on_graphdef(
        tf.get_default_graph().as_graph_def(), 8
    )
    path = str(tmp_path / "c")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        sess.run(initializer)
        sess.run("product:0", {"x:0": [[-2.0, 6.0]]})
        assert sess.run("x/Max/Variable:0") == 6.0
        sess.run("product:0", {"x:0": [[-2.0, 16.0]]})
        assert sess.run("x/Max/Variable:0") == pytest.approx(6.01)
        assert sess.run("w/read/Min/Variable:0") == 1.0
        tf.train.Saver(saver_def=saver_def).save(sess, path)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        tf.train.Saver(saver_def=saver_def).restore(sess, path)
        assert sess.run("x/Max/Variable:0") == pytest.approx(6.01)


@pytest.mark.parametrize("bits", [0, 64])
def test_bits(bits: int) -> None:
    with pytest.raises(tf.errors.OutOfRangeError, match=r"range \[1, 63\]"):
        tf.train.do_quantize_training_on_graphdef(tf.GraphDef(), bits)


def test_many_unknown_inputs() -> None:
    for _ in range(2):
        tf.matmul(
            tf.placeholder(tf.float32, [1, 1]), tf.placeholder(tf.float32, [1, 1])
        )
    with pytest.raises(tf.errors.UnimplementedError, match="unknown op: Placeholder_2"):
        tf.train.do_quantize_training_on_graphdef(
            tf.get_default_graph().as_graph_def(), 8
        )
