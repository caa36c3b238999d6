"""The Graph Transform Tool's transforms make of a graph what TensorFlow 1.15's do."""

from __future__ import annotations

import pickle
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.tools.graph_transforms import TransformGraph
from tensorloom.tools.graph_transforms.transform_graph import TRANSFORMS
from tests.peer.deploy.cases import CASES, ERRORS
from tests.peer.peers import python_of

RECORDER = Path(__file__).with_name("transform_recorder.py")
# TensorFlow's names of constants that it computed count up in the process.
COMPUTED = re.compile(r"/_\d+__cf__\d+")


@cache
def _recorded(folder: Path) -> tuple[dict[str, Any], dict[str, str | None]]:
    python = python_of("1.15")
    if python is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    file = folder / "transforms.pickle"
    made = subprocess.run([python, RECORDER, file], capture_output=True, cwd=folder)
    assert made.returncode == 0, made.stderr.decode()[-3000:]
    found: tuple[dict[str, Any], dict[str, str | None]] = pickle.loads(
        file.read_bytes()
    )
    return found


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Any], dict[str, str | None]]:
    return _recorded(tmp_path_factory.getbasetemp())


def _canonical(name: str) -> str:
    return COMPUTED.sub("", name).removesuffix(":0")


def _nodes(graph_def: Any) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    return [
        (
            _canonical(node.name),
            node.op,
            tuple(_canonical(name) for name in node.input),
            tuple(sorted(name for name in node.attr if name != "_output_shapes")),
        )
        for node in graph_def.node
    ]


def _values(graph_def: Any, record: Any, init: str | None) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        if init:
            sess.run(init)
        return [sess.run(f"{name}:0", record["feeds"]) for name in record["outputs"]]


@pytest.mark.parametrize("name", CASES)
def test_graph(name: str, recorded: tuple[dict[str, Any], Any]) -> None:
    record = recorded[0][name]
    _, transforms, options = CASES[name]
    before = tf.GraphDef.FromString(record["before"])
    ours = TransformGraph(before, record["inputs"], record["outputs"], transforms)
    theirs = tf.GraphDef.FromString(record["after"])
    found, expected = _nodes(ours), _nodes(theirs)
    if options.get("ordered", True) and not options.get("folded"):
        assert found == expected
    if options.get("named", True):
        assert sorted(found) == sorted(expected)
    assert sorted(one[1] for one in found) == sorted(one[1] for one in expected)
    if "values" in record:
        tolerance = options.get("tolerance", 1e-5)
        values = _values(ours, record, options.get("init"))
        for value, wanted in zip(values, record["values"], strict=True):
            np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, recorded: tuple[Any, dict[str, str | None]]) -> None:
    before = tf.GraphDef.FromString(recorded[0]["defaults"]["before"])
    error = None
    try:
        TransformGraph(before, ["same"], ["y"], [ERRORS[name]])
    except tf.errors.OpError as raised:
        error = type(raised).__name__
    assert error == recorded[1][name]


def test_every_transform_is_compared() -> None:
    compared = {
        re.split(r"\W", text.strip())[0]
        for _, transforms, _ in CASES.values()
        for text in transforms
    }
    assert TRANSFORMS.keys() - compared == {"freeze_requantization_ranges"}
