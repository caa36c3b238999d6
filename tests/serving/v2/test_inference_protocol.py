"""The Open Inference Protocol, over HTTP and over gRPC."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest

from tensorloom.protos.serving import grpc_predict_v2_pb2 as v2
from tests.serving import models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.serving.servers import Served

SERVICE = "/inference.GRPCInferenceService/"
INFER = "/v2/models/half/infer"
X = {"name": "x", "datatype": "FP32", "shape": [2], "data": [1, 2]}


def _rest_header(body: Any, tail: bytes) -> tuple[bytes, dict[str, str]]:
    head = json.dumps(body).encode()
    return head + tail, {"Inference_Header_Content_Length": str(len(head))}


def test_the_server(served: Served) -> None:
    status, found = served.rest("/v2")
    assert (status, found["name"]) == (200, "tensorloom")
    assert "binary_tensor_data" in found["extensions"]
    assert served.rest("/v2/health/live") == (200, {"live": True})
    assert served.rest("/v2/health/ready") == (200, {"ready": True})
    assert served.rest("/v2/models/half/ready")[0] == 200
    assert served.rest("/v2/models/half/versions/9/ready")[0] == 503
    assert served.rest("/v2/models/none/ready")[0] == 404
    index = served.rest("/v2/repository/index", {})[1]
    assert {"name": "half", "version": "2", "state": "READY", "reason": ""} in index


def test_a_model(served: Served) -> None:
    _, found = served.rest("/v2/models/moody")
    assert found == {
        "name": "moody",
        "versions": ["1"],
        "platform": "tensorflow_savedmodel",
        "inputs": [
            {"name": "names", "datatype": "BYTES", "shape": [-1]},
            {"name": "x", "datatype": "FP32", "shape": [-1, 2]},
        ],
        "outputs": [
            {"name": "names_bytes", "datatype": "BYTES", "shape": [-1]},
            {"name": "total", "datatype": "FP32", "shape": [-1]},
        ],
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (INFER, 3.5),
        ("/v2/models/half/versions/1/infer", 2.5),
        ("/v2/models/half/versions/stable/infer", 2.5),
    ],
)
def test_json(served: Served, path: str, value: float) -> None:
    _, found = served.rest(path, {"id": "7", "inputs": [X]})
    assert found["id"] == "7"
    assert found["outputs"] == [
        {
            "name": "y",
            "datatype": "FP32",
            "shape": [2],
            "data": [value, value + 0.5],
        }
    ]


def test_tensors_behind_the_json(served: Served) -> None:
    names = b"".join(struct.pack("<I", len(n)) + n for n in (b"a", b"\xff\xfe"))
    values = np.float32([[1, 2], [3, 4]]).tobytes()
    inputs = [
        {
            "name": "names",
            "datatype": "BYTES",
            "shape": [2],
            "parameters": {"binary_data_size": len(names)},
        },
        {
            "name": "x",
            "datatype": "FP32",
            "shape": [2, 2],
            "parameters": {"binary_data_size": len(values)},
        },
    ]
    outputs = [
        {"name": "total"},
        {"name": "names_bytes", "parameters": {"binary_data": True}},
    ]
    body, headers = _rest_header({"inputs": inputs, "outputs": outputs}, names + values)
    status, content, sent = served.raw("/v2/models/moody/infer", body, None, **headers)
    assert status == 200, content
    length = int(sent["inference-header-content-length"])
    first, second = json.loads(content[:length])["outputs"]
    assert first["data"] == [3.0, 7.0]
    assert second["parameters"] == {"binary_data_size": len(names)}
    assert content[length:] == names


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 400, "'inputs' must be a list of objects"),
        ({"inputs": [{**X, "name": "z"}]}, 400, "unexpected input 'z'; the model"),
        ({"inputs": [X, X]}, 400, "input 'x' comes twice"),
        ({"inputs": [{**X, "datatype": "FP64"}]}, 400, "the model wants FP32"),
        ({"inputs": [{**X, "datatype": "FP8"}]}, 400, "unknown datatype 'FP8'"),
        ({"inputs": [{**X, "shape": [3]}]}, 400, "has 2 elements; its shape [3] has 3"),
        ({"inputs": [{**X, "shape": [-1]}]}, 400, "has the shape [-1]"),
        ({"inputs": [{**X, "shape": [2**40] * 3}]}, 400, "too large"),
        ({"inputs": [{**X, "shape": [0, 2**62]}]}, 400, "too large"),
        ({"inputs": [{**X, "shape": [1] * 65}]}, 400, "too large"),
        ({"inputs": [{**X, "shape": 2}]}, 400, "has no shape"),
        ({"inputs": [{**X, "data": None}]}, 400, "has no data"),
        ({"inputs": []}, 400, "Missing but required: {x}."),
        (
            {"inputs": [{**X, "parameters": {"binary_data_size": 8}}]},
            400,
            "input 'x' has 8 bytes; 0 are left",
        ),
        ({"inputs": [X], "outputs": [{"name": "z"}]}, 400, "alias not found"),
        (
            {"inputs": [X], "parameters": {"signature_name": "none"}},
            400,
            'Serving signature key "none" not found.',
        ),
    ],
)
def test_mistakes(served: Served, body: Any, status: int, error: str) -> None:
    found, answer = served.rest(INFER, body)
    assert (found, error in answer["error"]) == (status, True), answer


def test_wrong_lengths(served: Served) -> None:
    body, _ = _rest_header({"inputs": [X]}, b"1234")
    for length in ("9999", "x"):
        found = served.rest(INFER, body, Inference_Header_Content_Length=length)
        assert found[0] == 400
    length = str(len(body) - 4)
    _, answer = served.rest(INFER, body, Inference_Header_Content_Length=length)
    assert answer["error"] == "4 bytes of the body belong to no input"
    assert served.rest("/v2/models/none/infer", {"inputs": [X]})[0] == 404
    assert served.rest("/v2/models/half/train", {})[0] == 404
    assert served.rest(INFER)[0] == 404


def _request(**fields: Any) -> Any:
    request: Any = v2.ModelInferRequest(model_name="half", id="7", **fields)
    request.inputs.add(name="x", datatype="FP32", shape=[2])
    return request


def test_grpc(served: Served) -> None:
    request = _request(raw_input_contents=[np.float32([1, 2]).tobytes()])
    response = served.call(SERVICE + "ModelInfer", request, v2.ModelInferResponse)
    assert (response.id, response.model_version) == ("7", "2")
    assert response.raw_output_contents[0] == np.float32([3.5, 4]).tobytes()
    request = _request(model_version="1")
    request.inputs[0].contents.fp32_contents.extend([1, 2])
    response = served.call(SERVICE + "ModelInfer", request, v2.ModelInferResponse)
    assert list(response.outputs[0].contents.fp32_contents) == [2.5, 3.0]
    assert served.call(
        SERVICE + "ServerReady", v2.ServerReadyRequest(), v2.ServerReadyResponse
    ).ready
    ready: Any = v2.ModelReadyRequest(name="half", version="2")
    assert served.call(SERVICE + "ModelReady", ready, v2.ModelReadyResponse).ready
    about: Any = v2.ModelMetadataRequest(name="half")
    found = served.call(SERVICE + "ModelMetadata", about, v2.ModelMetadataResponse)
    assert list(found.versions) == ["1", "2"]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"raw_input_contents": [b"1234"]}, "INVALID_ARGUMENT", "has 4 bytes"),
        ({"raw_input_contents": [b"1", b"2"]}, "INVALID_ARGUMENT", "and 2 raw_input"),
        ({}, "INVALID_ARGUMENT", "has 0 elements; its shape [2] has 2"),
        ({"model_version": "9"}, "NOT_FOUND", "Specific(half, 9)"),
    ],
)
def test_grpc_mistakes(served: Served, change: Any, code: str, message: str) -> None:
    found = served.fails(
        SERVICE + "ModelInfer", _request(**change), v2.ModelInferResponse
    )
    assert (found[0], message in found[1]) == (code, True), found


def test_a_stream_goes_on_after_an_error(served: Served) -> None:
    fine = _request(raw_input_contents=[np.float32([1, 2]).tobytes()])
    requests = [fine, _request(), fine]
    with grpc.insecure_channel(f"127.0.0.1:{served.server.grpc_port}") as channel:
        stream = channel.stream_stream(
            SERVICE + "ModelStreamInfer",
            v2.ModelInferRequest.SerializeToString,
            v2.ModelStreamInferResponse.FromString,
        )
        found = list(stream(iter(requests), timeout=30))
    assert [bool(r.error_message) for r in found] == [False, True, False]
    assert found[2].infer_response.raw_output_contents


def test_config_and_statistics(
    start_server: Callable[..., Served], tmp_path: Path
) -> None:
    models.half_plus(tmp_path / "half", 1)
    served = start_server(
        model_name="half", model_base_path=str(tmp_path / "half"), enable_batching=True
    )
    expected = {
        "name": "half",
        "platform": "tensorflow_savedmodel",
        "backend": "tensorflow",
        "version_policy": {"latest": {"num_versions": 1}},
        "max_batch_size": 0,
        "input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [-1]}],
        "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [-1]}],
    }
    assert served.rest("/v2/models/half/config") == (200, expected)
    path = f"{SERVICE}ModelConfig"
    request = v2.ModelConfigRequest(name="half", version="1")
    response = served.call(path, request, v2.ModelConfigResponse)
    assert response.config.input[0].data_type == v2.TYPE_FP32
    assert list(response.config.output[0].dims) == [-1]

    for body in ({"inputs": [1.0]}, {"inputs": [1.0, 2.0]}, {"inputs": ["a"]}):
        served.rest("/v1/models/half:predict", body)
    for where in ("/half", "/half/versions/1", ""):
        status, found = served.rest(f"/v2/models{where}/stats")
        (entry,) = found["model_stats"]
        assert (status, entry["name"], entry["version"]) == (200, "half", "1")
        assert (entry["inference_count"], entry["execution_count"]) == (3, 2)
        counts = {k: v["count"] for k, v in entry["inference_stats"].items()}
        assert counts == {
            **{"success": 2, "fail": 1, "queue": 2},
            **{"compute_input": 0, "compute_infer": 2, "compute_output": 0},
        }
        assert [b["batch_size"] for b in entry["batch_stats"]] == [1, 2]
        assert entry["inference_stats"]["success"]["ns"] > 0
    path = f"{SERVICE}ModelStatistics"
    request = v2.ModelStatisticsRequest(name="half")
    response = served.call(path, request, v2.ModelStatisticsResponse)
    assert response.model_stats[0].inference_stats.fail.count == 1
    assert served.rest("/v2/models/none/stats")[0] == 404


def test_models_are_unloaded_and_loaded(
    start_server: Callable[..., Served], tmp_path: Path
) -> None:
    models.half_plus(tmp_path / "half", 1)
    served = start_server(model_name="half", model_base_path=str(tmp_path / "half"))
    path = "/v2/repository/models/half"
    ready = {"ready": True}
    assert len(served.rest("/v2/repository/index", ready)[1]) == 1
    assert served.rest(f"{path}/unload", {})[0] == 200
    assert served.rest("/v1/models/half:predict", {"inputs": [1.0]})[0] == 404
    assert served.rest(f"{path}/unload", {})[0] == 404
    assert served.rest("/v2/repository/index", ready) == (200, [])
    models.half_plus(tmp_path / "half", 2, 3.0)
    load = f"{SERVICE}RepositoryModelLoad"
    request = v2.RepositoryModelLoadRequest(model_name="half")
    served.call(load, request, v2.RepositoryModelLoadResponse)
    assert served.rest("/v1/models/half:predict", {"inputs": [1.0]}) == (
        200,
        {"outputs": [3.5]},
    )
    code, message = served.fails(
        load,
        v2.RepositoryModelLoadRequest(model_name="other"),
        v2.RepositoryModelLoadResponse,
    )
    assert (code, message) == ("NOT_FOUND", "failed to load 'other', no such model")
    overrides = {"parameters": {"config": "{}"}}
    status, answer = served.rest(f"{path}/load", overrides)
    assert (status, "come from their base paths" in answer["error"]) == (501, True)
    unload = f"{SERVICE}RepositoryModelUnload"
    request = v2.RepositoryModelUnloadRequest(model_name="half")
    served.call(unload, request, v2.RepositoryModelUnloadResponse)
    assert served.rest(f"{path}/load", b"")[0] == 200


def test_callers_that_may_not_change_anything(
    start_server: Callable[..., Served], tmp_path: Path
) -> None:
    models.half_plus(tmp_path / "half", 1)
    served = start_server(
        model_name="half",
        model_base_path=str(tmp_path / "half"),
        enable_config_reload=False,
    )
    for what in ("load", "unload"):
        assert served.rest(f"/v2/repository/models/half/{what}", {})[0] == 403
