"""Frozen models of TensorFlow 1.15 are exported, and give its values elsewhere."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.deploy import examples, exporting, frozen_model, optimizing
from tensorloom.deploy.runner import Runner
from tests.peer.peers import python_of

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

RECORDER = Path(__file__).with_name("exported_recorder.py")
WRITERS = {"onnx": exporting.to_onnx, "torchscript": exporting.to_torchscript}
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    python = python_of("1.15")
    if python is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    folder = tmp_path_factory.mktemp("exported")
    file = folder / "models.pickle"
    made = subprocess.run([python, RECORDER, file], capture_output=True, cwd=folder)
    assert made.returncode == 0, made.stderr.decode()[-3000:]
    found: dict[str, Any] = pickle.loads(file.read_bytes())
    return found


def test_models_are_exported(recorded: dict[str, Any], tmp_path: Path) -> None:
    different = []
    for name, record in recorded.items():
        graph = tf.GraphDef.FromString(record["graph"])
        model = frozen_model.of_graph_def(
            graph, [*record["feeds"]], [*record["values"]]
        )
        given = examples.Examples([record["feeds"]])
        with Runner(optimizing.transformed(model)) as runner:
            for key, value in runner.run(record["feeds"]).items():
                np.testing.assert_allclose(
                    value, record["values"][key], rtol=1e-4, atol=1e-5, err_msg=name
                )
        for to, write in WRITERS.items():
            try:
                written = write(model, str(tmp_path / "model"), given, 1e-5)
                assert written.differences.keys() == record["values"].keys()
            except tf.errors.OpError as error:
                different.append(f"{name} as {to}: {error.message}")
    assert not different, "\n".join(different)
