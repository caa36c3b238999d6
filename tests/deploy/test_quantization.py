"""Models in fewer bits: smaller files, and outputs that stay near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.deploy import comparison, examples, frozen_model
from tensorloom.deploy.quantization import (
    calibration,
    eight_bits,
    pruning,
    short_floats,
)
from tensorloom.deploy.runner import Runner
from tests.deploy import models


def _network() -> tuple[dict[str, Any], dict[str, Any]]:
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 16, 3, padding="same", use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(y))
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.separable_conv2d(y, 16, 3, padding="same", activation=tf.nn.relu6)
    y = tf.layers.dense(tf.layers.flatten(y), 32, activation=tf.nn.relu)
    return {"x": x}, {"y": tf.layers.dense(y, 5)}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A SavedModel, and examples with labels."""
    folder = tmp_path_factory.mktemp("network")
    path = models.saved(folder, _network)
    x = np.random.default_rng(3).standard_normal((40, 8, 8, 3)).astype(np.float32)
    with Runner(frozen_model.load(path)) as runner:
        labels = runner.run({"x": x})["y"].argmax(-1)
    np.savez(folder / "data.npz", x=x, labels=labels)
    return path, str(folder / "data.npz")


@pytest.mark.parametrize(
    ("arguments", "share", "ops"),
    [
        (["float16"], 0.6, set()),
        pytest.param(["bfloat16"], 0.6, set(), marks=pytest.mark.slow),
        pytest.param(["dynamic"], 0.45, {"_Int8MatMul"}, marks=pytest.mark.slow),
        *(
            pytest.param(
                ["int8", "--calibration", "{data}", "--calibration-method", method],
                0.45,
                {"_Int8MatMul", "_Int8Conv2D", "_Int8DepthwiseConv2d"},
                marks=() if method == "entropy" else pytest.mark.slow,
            )
            for method in calibration.METHODS
        ),
    ],
)
def test_models_are_smaller(
    network: tuple[str, str],
    arguments: list[str],
    share: float,
    ops: set[str],
    tmp_path: Path,
) -> None:
    source, data = network
    output = str(tmp_path / "small.pb")
    given = [text.format(data=data) for text in arguments]
    command = ["optimize", source, "-o", output, "--data", data, "--quantize", *given]
    limits = ["--labels", "labels", "--min-accuracy", "0.85"]
    assert main([*command, *limits]) == 0
    small, large = frozen_model.load(output), frozen_model.load(source)
    assert {n.op for n in small.graph_def.node if n.op.startswith("_")} == ops
    assert small.graph_def.ByteSize() < share * large.graph_def.ByteSize()
    # A batch of a size that nobody has tried.
    x = models.values(3, 8, 8, 3)
    with Runner(small) as first, Runner(large) as second:
        found, expected = first.run({"x": x}), second.run({"x": x})
    (found_y,), (expected_y,) = found.values(), expected.values()
    assert comparison.difference(expected_y, found_y) < 0.2


def test_what_is_lost_is_refused(
    network: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, data = network
    output = tmp_path / "small"
    command = ["optimize", source, "-o", str(output), "--quantize"]
    assert main([*command, "int8"]) == 1
    assert "give examples (--calibration" in capsys.readouterr().err
    tight = [*command, "dynamic", "--max-difference", "1e-6"]
    assert main(tight) == 1
    assert "--max-difference" in capsys.readouterr().err
    assert main([*command, "float16", "--calibration", data]) == 1
    assert "--calibration is for" in capsys.readouterr().err
    assert not output.exists()


def test_small_weights_become_zero(network: tuple[str, str], tmp_path: Path) -> None:
    source, data = network
    output = str(tmp_path / "pruned.pb")
    command = ["optimize", source, "-o", output, "--data", data, "--labels", "labels"]
    assert main([*command, "--prune", "0.2", "--max-difference", "0.5"]) == 0
    weights = [
        tf.make_ndarray(node.attr["value"].tensor)
        for node in frozen_model.load(output).graph_def.node
        if node.op == "Const"
    ]
    (largest,) = (one for one in weights if one.shape == (256, 32))
    assert np.count_nonzero(largest == 0) == int(0.2 * largest.size)
    model = frozen_model.load(source)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected one from 0"):
        pruning.pruned(model, 1.5)


def test_ranges_of_examples() -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, [None], name="x"), name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    draws = np.random.default_rng(1).standard_normal(20000).astype(np.float32)
    values = np.concatenate([draws, np.float32([50.0])])
    given = examples.Examples([{"x": part} for part in np.array_split(values, 3)])
    ends = {
        method: calibration.measured(model, ["y"], given, method)["y"]
        for method in calibration.METHODS
    }
    assert ends["min_max"] == (draws.min(), 50.0)
    for method in ("percentile", "entropy"):
        low, high = ends[method]
        assert -6.0 < low < -2.5
        assert 2.5 < high < 6.0
    assert calibration.measured(model, ["y"], examples.Examples([{"x": []}]), "entropy")
    wrong = examples.Examples([{"x": [np.nan]}])
    with pytest.raises(tf.errors.InvalidArgumentError, match="infinite values or NaN"):
        calibration.measured(model, ["y"], wrong, "min_max")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no method"):
        calibration.measured(model, ["y"], given, "guess")


@pytest.mark.parametrize(
    ("ends", "steps"),
    [
        ((0.0, 255.0), (1.0, 0)),
        ((-1.0, 1.55), (0.01, 100)),
        ((2.0, 25.5), (0.1, 0)),
        ((-25.5, -1.0), (0.1, 255)),
        ((0.0, 0.0), (1.0, 0)),
    ],
)
def test_steps(ends: tuple[float, float], steps: tuple[float, int]) -> None:
    scale, zero = eight_bits.steps_of(ends)
    assert scale == pytest.approx(steps[0])
    assert zero == steps[1]


def _trained() -> None:
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 16, 3, activation=tf.nn.relu, name="first")
    y = tf.layers.conv2d(y, 16, 3, activation=tf.nn.relu, name="second")
    tf.layers.dense(tf.layers.flatten(y), 10, name="third")


@pytest.mark.slow
def test_trained_ranges_are_used(tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "model")
    x = models.values(8, 8, 8, 3)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(2)
        _trained()
        tf.contrib.quantize.create_training_graph(graph)
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run("third/BiasAdd:0", {"x:0": x})
        tf.train.Saver().save(sess, checkpoint)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        _trained()
        tf.contrib.quantize.create_eval_graph(graph)
        tf.train.Saver().restore(sess, checkpoint)
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["third/BiasAdd"]
        )
    model = frozen_model.of_graph_def(frozen, outputs=["third/BiasAdd"])
    given = examples.Examples([{"x": x}])
    small = eight_bits.integers(model, given)
    ops = [node.op for node in small.graph_def.node]
    assert ops.count("_Int8Conv2D") == 2
    assert ops.count("_Int8MatMul") == 1
    # Between the first layers nobody rounds twice; before the third is a Reshape.
    left = [node.name for node in small.graph_def.node if node.op[:9] == "FakeQuant"]
    assert left == ["second/act_quant/FakeQuantWithMinMaxVars"]
    found = comparison.compare(model, small, given, times=1)
    assert max(found.differences.values()) < 0.05


def test_large_weights_stay_floats() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        large = np.full([64, 2], 1e6, np.float32)
        tf.matmul(x, tf.constant(large), name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    for dtype, is_short in ((tf.float16, False), (tf.bfloat16, True)):
        small = short_floats.short_floats(model, dtype)
        assert ("Cast" in {node.op for node in small.graph_def.node}) is is_short
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, [2], name="x"), name="y")
    empty = frozen_model.of_graph_def(graph.as_graph_def())
    with pytest.raises(tf.errors.InvalidArgumentError, match="no layer"):
        eight_bits.integers(empty, None)
