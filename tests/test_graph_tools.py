"""freeze_graph, optimize_for_inference and inspect_checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.tools import (
    freeze_graph,
    inspect_checkpoint,
    optimize_for_inference_lib,
    saved_model_utils,
    strip_unused_lib,
)


def _train(folder: Path) -> tuple[str, str]:
    """Writes a small model; returns the paths of its graph and checkpoint."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        tf.matmul(x, w, name="y")
        sess.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(sess, str(folder / "model"))
        graph = tf.train.write_graph(sess.graph, str(folder), "graph.pb", as_text=False)
    return graph, checkpoint


def _run(graph_def: Any, fetch: str, feeds: dict[str, Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run(fetch, feeds)


def _freeze(graph: Any, checkpoint: Any, output: Any, **more: Any) -> Any:
    options: dict[str, Any] = {"output_node_names": "y", **more}
    return freeze_graph.freeze_graph(
        input_graph=graph,
        input_saver=None,
        input_binary=True,
        input_checkpoint=checkpoint,
        restore_op_name="save/restore_all",
        filename_tensor_name="save/Const:0",
        output_graph=output,
        clear_devices=True,
        initializer_nodes="",
        **options,
    )


def test_freezing(tmp_path: Path) -> None:
    graph, checkpoint = _train(tmp_path)
    output = tmp_path / "frozen.pb"
    frozen = _freeze(graph, checkpoint, str(output))
    assert frozen == tf.GraphDef.FromString(output.read_bytes())
    assert _run(frozen, "y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[3.0]]
    meta = _freeze(None, checkpoint, None, input_meta_graph=f"{checkpoint}.meta")
    assert _run(meta, "y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[3.0]]


def test_freezing_a_saved_model(tmp_path: Path) -> None:
    folder = str(tmp_path / "saved")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, tf.get_variable("w", initializer=3.0), name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": y})
    assert saved_model_utils.get_saved_model_tag_sets(folder) == [["serve"]]
    with pytest.raises(RuntimeError, match=r"it has \['serve'\]"):
        saved_model_utils.get_meta_graph_def(folder, "train")
    with pytest.raises(OSError, match="does not exist"):
        saved_model_utils.read_saved_model(str(tmp_path))
    frozen = _freeze(None, None, None, input_saved_model_dir=folder)
    assert _run(frozen, "y:0", {"x:0": [1.0, 2.0]}).tolist() == [3.0, 6.0]


def test_what_cannot_be_frozen(tmp_path: Path) -> None:
    graph, checkpoint = _train(tmp_path)
    with pytest.raises(ValueError, match="doesn't exist"):
        _freeze(graph, str(tmp_path / "absent"), None)
    with pytest.raises(ValueError, match="output_node_names"):
        _freeze(graph, checkpoint, None, output_node_names="")
    with pytest.raises(OSError, match="does not exist"):
        _freeze(str(tmp_path / "absent.pb"), checkpoint, None)
    frozen = str(tmp_path / "frozen.pb")
    _freeze(graph, checkpoint, frozen)
    with pytest.raises(ValueError, match="cannot freeze a graph twice"):
        _freeze(frozen, checkpoint, None)


@pytest.mark.parametrize("depthwise", [False, True])
def test_batch_normalization_is_folded(depthwise: bool) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        weights = np.arange(1.0, 5.0, dtype=np.float32).reshape(1, 1, 2, 2)
        convolution = tf.nn.depthwise_conv2d_native if depthwise else tf.nn.conv2d
        made = convolution(x, tf.constant(weights), [1, 1, 1, 1], "SAME")
        count = 4 if depthwise else 2
        values = [np.arange(1.0, count + 1).astype(np.float32) * k for k in range(1, 5)]
        normalized, _, _ = tf.nn.fused_batch_norm(
            made, *values, epsilon=0.1, is_training=False
        )
        tf.identity(normalized, name="y")
    graph_def = graph.as_graph_def()
    feeds = {"x:0": np.ones((1, 4, 4, 2))}
    expected = _run(graph_def, "y:0", feeds)
    folded = optimize_for_inference_lib.optimize_for_inference(
        graph_def, ["x"], ["y"], tf.float32.as_datatype_enum
    )
    assert "BiasAdd" in {node.op for node in folded.node}
    assert not {n.op for n in folded.node} & {"FusedBatchNorm", "FusedBatchNormV3"}
    np.testing.assert_allclose(_run(folded, "y:0", feeds), expected, rtol=1e-5)


def test_resizing_and_padding_are_fused() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 2, 2, 1], name="x")
        resized = tf.image.resize_bilinear(x, [4, 4])
        padded = tf.pad(resized, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
        weights = tf.constant(np.arange(4.0, dtype=np.float32).reshape(2, 2, 1, 1))
        tf.nn.conv2d(padded, weights, [1, 1, 1, 1], "VALID", name="y")
    graph_def = graph.as_graph_def()
    fused = optimize_for_inference_lib.fuse_resize_and_conv(graph_def, ["y"])
    ops = [node.op for node in fused.node]
    assert "FusedResizeAndPadConv2D" in ops
    assert not {"MirrorPad", "ResizeBilinear", "Conv2D"} & set(ops)
    feeds = {"x:0": [[[[1.0], [2.0]], [[3.0], [4.0]]]]}
    np.testing.assert_allclose(
        _run(fused, "y:0", feeds), _run(graph_def, "y:0", feeds), rtol=1e-5
    )


def test_stripping() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.add(tf.constant(1.0, name="c"), 1.0, name="a")
        tf.negative(a, name="y")
        tf.negative(a, name="unused")
    graph_def = graph.as_graph_def()
    left = strip_unused_lib.strip_unused(graph_def, ["a"], ["y"], 1)
    assert [(n.name, n.op) for n in left.node] == [("a", "Placeholder"), ("y", "Neg")]
    with pytest.raises(ValueError, match="refer to a Tensor"):
        strip_unused_lib.strip_unused(graph_def, ["a:0"], ["y"], 1)
    with pytest.raises(KeyError, match="absent"):
        strip_unused_lib.strip_unused(graph_def, ["absent"], ["y"], 1)


def test_inspecting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, checkpoint = _train(tmp_path)
    inspect_checkpoint.print_tensors_in_checkpoint_file(checkpoint, "", True)
    said = capsys.readouterr().out
    assert "tensor_name:  w\n[[1.]\n [2.]]\n" in said
    assert "# Total number of params: 2" in said
    inspect_checkpoint.print_tensors_in_checkpoint_file(
        checkpoint, "w", False, count_exclude_pattern="w"
    )
    assert "# Excluding 1 tensors (2 params)" in capsys.readouterr().out
    inspect_checkpoint.print_tensors_in_checkpoint_file(checkpoint + ".index", "", True)
    assert "prefix" in capsys.readouterr().out
