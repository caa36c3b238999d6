"""A model that TensorFlow 1.15 exports, served here: its own session's results."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorloom.framework.types import tensor_proto
from tensorloom.protos.serving.predict_pb2 import PredictRequest, PredictResponse
from tests.peer.peers import python_of
from tests.serving.servers import Served, start

pytestmark = pytest.mark.peer
SCRIPT = Path(__file__).with_name("serving_export.py")
SIGNATURES = ["serving_default", "tables", "examples", "sparse", "ragged", "loop"]


def _bytes(value: Any) -> Any:
    """Base64, and text, as bytes."""
    if isinstance(value, dict):
        return base64.b64decode(value["b64"])
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return [_bytes(element) for element in value]
    return value


def _by_rest(served: Served, key: str, inputs: Any) -> dict[str, Any]:
    body = {"signature_name": key, "inputs": inputs}
    status, answer = served.rest("/v1/models/tf1:predict", body)
    assert status == 200, answer
    outputs = answer["outputs"]
    servable = served.server.manager.available()["tf1"][0]
    names = list(servable.signatures[key].outputs)
    named = outputs if len(names) > 1 else {names[0]: outputs}
    return {name: _bytes(value) for name, value in named.items()}


def _by_grpc(served: Served, key: str, inputs: Any) -> dict[str, Any]:
    request = PredictRequest()
    request.model_spec.name = "tf1"
    request.model_spec.signature_name = key
    servable = served.server.manager.available()["tf1"][0]
    for name, slot in servable.signatures[key].inputs.items():
        value = np.array(_bytes(inputs[name]), slot.dtype.as_numpy_dtype)
        request.inputs[name].CopyFrom(tensor_proto.make_tensor_proto(value))
    path = "/tensorflow.serving.PredictionService/Predict"
    response = served.call(path, request, PredictResponse)
    return {
        name: tensor_proto.make_ndarray(proto).tolist()
        for name, proto in response.outputs.items()
    }


def test_a_model_of_1_15(tmp_path: Path) -> None:
    python = python_of("1.15")
    if python is None:
        pytest.skip("no TensorFlow 1.15: make peer")
    done = subprocess.run(
        [python, SCRIPT, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    expected = json.loads((tmp_path / "expected.json").read_text())
    assert list(expected) == SIGNATURES
    served = start(tmp_path, model_name="tf1", model_base_path=str(tmp_path / "tf1"))
    try:
        for key, (inputs, outputs) in expected.items():
            wanted = {name: _bytes(value) for name, value in outputs.items()}
            assert _by_rest(served, key, inputs) == wanted, key
            assert _by_grpc(served, key, inputs) == wanted, key
    finally:
        served.server.stop()
