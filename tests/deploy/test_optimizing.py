"""`tensorloom optimize` and `freeze`: what is written gives the same outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.deploy import comparison, examples, frozen_model, optimizing
from tensorloom.deploy.runner import Runner
from tests.deploy import models


def _outputs(path: str, inputs: dict[str, Any]) -> dict[str, Any]:
    with Runner(frozen_model.load(path)) as runner:
        return runner.run(inputs)


def _same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def convolutional(tmp_path_factory: pytest.TempPathFactory) -> str:
    return models.saved(tmp_path_factory.mktemp("cnn"), models.convolutional)


def test_normalization_is_folded(
    convolutional: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "small")
    assert main(["optimize", convolutional, "-o", output]) == 0
    shown = capsys.readouterr().out
    assert "difference of logits" in shown
    assert "time of a batch" in shown
    ops = {node.op for node in frozen_model.load(output).graph_def.node}
    assert not ops & {"FusedBatchNormV3", "Identity", "ReadVariableOp"}
    data = {"x": models.values(3, 8, 8, 3)}
    _same(_outputs(output, data), _outputs(convolutional, data))


@pytest.mark.parametrize(
    "suffix", [".pb", pytest.param(".pbtxt", marks=pytest.mark.slow), ""]
)
def test_tables_stay(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = models.saved(tmp_path, models.words)
    data = {"words": np.array([["a", "the", "x", "b"]], object)}
    expected = _outputs(source, data)
    for command in ("freeze", "optimize"):
        output = str(tmp_path / f"{command}{suffix}")
        assert main([command, source, "-o", output]) == 0
        found = _outputs(output, data)
        np.testing.assert_allclose(*found.values(), *expected.values(), rtol=1e-5)


def test_assets_come_along(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("the\na\n")
    source, output = str(tmp_path / "saved"), str(tmp_path / "small")
    with tf.Graph().as_default(), tf.Session() as sess:
        path = tf.constant(str(vocabulary))
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        table = tf.contrib.lookup.index_table_from_file(path, default_value=7)
        x = tf.placeholder(tf.string, [None], name="x")
        y = table.lookup(x)
        sess.run(tf.tables_initializer())
        builder = tf.saved_model.Builder(source)
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            sess,
            ["serve"],
            {"serving_default": signature},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
    vocabulary.unlink()
    assert main(["optimize", source, "-o", output]) == 0
    words = np.array(["a", "x", "the"], object)
    assert _outputs(output, {"x": words})["y"].tolist() == [1, 7, 0]


def test_what_differs_is_not_written(
    convolutional: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small"
    data = tmp_path / "data.npz"
    x = models.values(6, 8, 8, 3)
    with Runner(frozen_model.load(convolutional)) as runner:
        labels = runner.run({"x": x})["scores"].argmax(-1)
    np.savez(data, x=x, labels=labels)
    arguments = [
        *("optimize", convolutional, "-o", str(output), "--data", str(data)),
        *("--labels", "labels", "--answer", "scores"),
        *("--transforms", "fold_constants round_weights(num_steps=3)"),
    ]
    assert main(arguments) == 1
    assert "--max-difference" in capsys.readouterr().err
    assert not output.exists()
    limits = ["--max-difference", "10", "--min-accuracy", "1.1"]
    assert main([*arguments, *limits]) == 1
    assert "--min-accuracy" in capsys.readouterr().err
    assert main([*arguments, *limits[:2], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["before"]["accuracy"] == 1.0
    assert shown["examples"] == str(data)
    assert output.exists()
    assert main([*arguments, *limits[:2]]) == 1
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--signature", "absent"], "no signature 'absent'"),
        (["--outputs", "absent"], "no node 'absent"),
        (["--transforms", "absent"], "not recognized"),
        (["--labels", "y"], "--labels names an array"),
        (["--data", "{folder}/wrong.npz"], "no array 'x'"),
    ],
)
def test_mistakes(
    convolutional: str,
    tmp_path: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.savez(tmp_path / "wrong.npz", z=np.zeros(3))
    given = [text.format(folder=tmp_path) for text in arguments]
    output = tmp_path / "small"
    assert main(["optimize", convolutional, "-o", str(output), *given]) != 0
    assert message in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        ([1.0, -2.0], [1.0, -1.5], 0.25),
        ([1.0, np.nan], [1.0, np.nan], 0.0),
        ([1.0, np.inf], [1.0, np.inf], 0.0),
        ([1.0, 2.0], [1.0, np.nan], np.inf),
        ([1.0], [1.0, 2.0], np.inf),
        ([1, 2, 3, 4], [1, 2, 3, 5], 0.25),
        ([], [], 0.0),
    ],
)
def test_differences(expected: Any, found: Any, difference: float) -> None:
    assert comparison.difference(expected, found) == difference


def test_variables_without_values_are_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.get_variable("w", [2]), name="y")
    path = tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="variables"):
        frozen_model.load(path)


def test_a_graph_says_what_is_fed() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        n = tf.placeholder_with_default(2, [], name="n")
        tf.reduce_sum(x * tf.cast(n, tf.float32), 1, name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    assert dict(model.inputs) == {"x": "x:0", "n": "n:0"}
    assert dict(model.outputs) == {"y": "y:0"}
    (first, _) = examples.made_up(model).batches
    assert first["x"].shape == (4, 2)
    small = optimizing.transformed(model)
    found = optimizing.compared(model, small)
    assert found.differences == {"y": 0.0}
