"""TensorFlow Serving's REST calls on a running server."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.protos.serving import predict_pb2

if TYPE_CHECKING:
    from tests.serving.servers import Served

PREDICT = "/v1/models/half:predict"


@pytest.mark.parametrize(
    ("path", "body", "answer"),
    [
        (PREDICT, {"instances": [1, 2.0, 5]}, {"predictions": [3.5, 4.0, 5.5]}),
        (PREDICT, {"instances": [{"x": 1}]}, {"predictions": [3.5]}),
        (PREDICT, {"inputs": [1, 2]}, {"outputs": [3.5, 4.0]}),
        (PREDICT, {"inputs": {"x": [1]}}, {"outputs": [3.5]}),
        ("/v1/models/half/versions/1:predict", {"inputs": [1]}, {"outputs": [2.5]}),
        ("/V1/Models/half/labels/stable:Predict", {"inputs": [1]}, {"outputs": [2.5]}),
        ("/v1/models/half/labels/canary:predict", {"inputs": [1]}, {"outputs": [3.5]}),
        (
            "/v1/models/half:regress",
            {"signature_name": "regress", "examples": [{"x": 1.0}, {"x": [2.0]}]},
            {"results": [3.5, 4.0]},
        ),
        (
            "/v1/models/half:regress",
            {
                "signature_name": "regress",
                "context": {"x": 2.0},
                "examples": [{"x2": 1.0}, {"x": 4.0}],
            },
            {"results": [5.0, 5.0]},
        ),
        (
            "/v1/models/half:classify",
            {"signature_name": "classify", "examples": [{"x": 1.0}]},
            {"results": [[["low", 3.5], ["high", 4.5]]]},
        ),
        (
            "/v1/models/moody:predict",
            {
                "instances": [
                    {"x": [1, 2], "names": "ä"},
                    {"x": [3, 4], "names": {"b64": "/w=="}},
                ]
            },
            {
                "predictions": [
                    {"names_bytes": {"b64": "w6Q="}, "total": 3.0},
                    {"names_bytes": {"b64": "/w=="}, "total": 7.0},
                ]
            },
        ),
        (
            "/v1/models/moody:predict",
            {"inputs": {"x": [[1, 2]], "names": ["n"]}},
            {"outputs": {"names_bytes": [{"b64": "bg=="}], "total": [3.0]}},
        ),
        (
            "/v1/models/dtypes:predict",
            {"signature_name": "string", "inputs": [["a"], ["b"]]},
            {"outputs": [[["a"], ["b"]], [["a"], ["b"]]]},
        ),
    ],
)
def test_answers(served: Served, path: str, body: Any, answer: Any) -> None:
    assert served.rest(path, body) == (200, answer)


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/v1/models/none:predict", {"instances": [1]}, 404, "Latest(none)"),
        (
            "/v1/models/half/versions/9:predict",
            {"instances": [1]},
            404,
            "Servable not found for request: Specific(half, 9)",
        ),
        (
            "/v1/models/half/labels/none:predict",
            {"instances": [1]},
            400,
            "Unrecognized servable version label: none",
        ),
        (PREDICT, b"", 400, "JSON Parse error: The document is empty"),
        (PREDICT, b"{", 400, "JSON Parse error"),
        (PREDICT, b"\xff", 400, "JSON Parse error"),
        (PREDICT, b"[" * 100_000, 400, "JSON Parse error"),
        (PREDICT, b'{"inputs": ' + b"1" * 5000 + b"}", 400, "JSON Parse error"),
        (PREDICT, [1], 400, "JSON Value: [1] Is not object"),
        (PREDICT, {}, 400, "Missing 'inputs' or 'instances' key"),
        (PREDICT, {"inputs": [1], "instances": [1]}, 400, "expecting only one of"),
        (PREDICT, {"instances": 1}, 400, "Expecting 'instances' to be an list/array"),
        (PREDICT, {"instances": []}, 400, "No values in 'instances' array"),
        (PREDICT, {"instances": [True]}, 400, "Type: True is not of expected type"),
        (PREDICT, {"instances": [None]}, 400, "Type: Null is not of expected type"),
        (PREDICT, {"instances": [[1], 2]}, 400, "Failed to process element: 1"),
        (PREDICT, {"instances": [{"z": 1}]}, 400, "does not have named input: z"),
        (PREDICT, {"instances": [{}]}, 400, "keys must be equal to: x"),
        (PREDICT, {"instances": [{"x": 1}, 1]}, 400, "Expecting object but got value"),
        (PREDICT, {"instances": [1, {"x": 1}]}, 400, "but got object at item 1"),
        (PREDICT, {"inputs": {"z": [1]}}, 400, "Missing named input: x"),
        (PREDICT, {"inputs": [[1], [1, 2]]}, 400, "list at unexpected size: 2"),
        (PREDICT, {"signature_name": 1, "inputs": [1]}, 400, "must be a string value"),
        (
            PREDICT,
            {"signature_name": "none", "inputs": [1]},
            400,
            'Serving signature name: "none" not found in signature def',
        ),
        (
            PREDICT,
            {"signature_name": "odd", "inputs": [1]},
            500,
            "Expected prediction signature method_name to be one of",
        ),
        (
            "/v1/models/half:regress",
            {"examples": [{"x": 1.0}]},
            400,
            "Expected regression signature method_name",
        ),
        (
            "/v1/models/half:classify",
            {"signature_name": "regress", "examples": [{"x": 1.0}]},
            400,
            "Expected classification signature method_name",
        ),
        ("/v1/models/half:classify", {}, 400, "key 'examples' is expected"),
        ("/v1/models/half:classify", {"examples": 1}, 400, "to be an list/array"),
        ("/v1/models/half:classify", {"examples": []}, 400, "an empty array"),
        ("/v1/models/half:classify", {"examples": [1]}, 400, "must be JSON object"),
        (
            "/v1/models/half:classify",
            {"examples": [{"x": [1, "a"]}]},
            400,
            "Unexpected element type in feature: x expecting type: int64",
        ),
        (
            "/v1/models/half:classify",
            {"examples": [{"x": [[1]]}]},
            400,
            "has element with unexpected JSON type: Array",
        ),
        (
            "/v1/models/half:regress",
            {"signature_name": "regress", "examples": [{"y": 1.0}]},
            400,
            "x",
        ),
        (
            "/v1/models/moody:predict",
            {"inputs": {"x": [[1, 2]], "names": [{"b64": "?"}]}},
            400,
            "Unable to base64 decode",
        ),
        (
            "/v1/models/moody:predict",
            {"inputs": {"x": [[1, 2]], "names": [{"c64": "?"}]}},
            400,
            "not formatted correctly for base64 data",
        ),
        ("/v1/models/moody:predict", {"inputs": [1]}, 400, "expecting an object"),
        ("/v1/models/moody:predict", {"instances": [1]}, 400, "list of objects"),
        (
            "/v1/models/dtypes:predict",
            {"signature_name": "int8", "inputs": [200]},
            400,
            "is not of expected type: int8",
        ),
        (
            "/v1/models/dtypes:predict",
            {"signature_name": "int32", "inputs": [1.5]},
            400,
            "Type: Number is not of expected type: int32",
        ),
        (
            "/v1/models/dtypes:predict",
            {"signature_name": "complex64", "inputs": [1]},
            501,
            "Conversion of JSON Value",
        ),
        ("/v1/models/half:train", {}, 400, "Malformed request: POST"),
        ("/v1/nothing", None, 400, "Malformed request: GET /v1/nothing"),
        ("/v1/models", None, 400, "Missing model name in request."),
        ("/v1/models/none", None, 404, "Could not find any versions of model none"),
        ("/v1/models/half/versions/9", None, 404, "Could not find version 9 of model"),
        (f"/v1/models/half/versions/{2**70}", None, 400, "to numeric"),
        ("/v1/models/none/metadata", None, 404, "Latest(none)"),
    ],
)
def test_errors(served: Served, path: str, body: Any, status: int, error: str) -> None:
    found, answer = served.rest(path, body)
    assert (found, list(answer)) == (status, ["error"])
    assert error in answer["error"]


@pytest.mark.parametrize(
    ("dtype", "values", "answer"),
    [
        ("float32", "[0.1, 1, NaN, -Infinity]", "[0.1, 1.0, NaN, -Infinity]"),
        ("float64", "[0.1, 1e300, Infinity]", "[0.1, 1e+300, Infinity]"),
        ("float16", "[0.5, 1]", "[0.5, 1.0]"),
        ("bfloat16", "[0.5]", "[0.5]"),
        ("bool", "[true, false]", "[true, false]"),
        ("int8", "[-128, 127]", "[-128, 127]"),
        ("uint8", "[255]", "[255]"),
        ("int64", "[-9223372036854775808]", "[-9223372036854775808]"),
        ("uint64", "[18446744073709551615]", "[18446744073709551615]"),
        ("string", '["\\u00e4", {"b64": "YWI"}]', '["ä", "ab"]'),
        ("string", '[{"b64": "/w=="}]', '[{"b64": "/w=="}]'),
        ("float32", "[]", "[]"),
        ("float32", "[[], []]", "[[], []]"),
        ("int32", "7", "7"),
    ],
)
def test_numbers(served: Served, dtype: str, values: str, answer: str) -> None:
    body = f'{{"signature_name": "{dtype}", "inputs": {values}}}'.encode()
    status, content, _ = served.raw("/v1/models/dtypes:predict", body)
    assert status == 200, content
    expected = f'{{\n    "outputs": [{answer}, {answer}]\n}}'
    assert content.decode() == expected


def test_bodies_are_as_tensorflow_serving_writes_them(served: Served) -> None:
    _, content, headers = served.raw(PREDICT, {"instances": [1, 2]})
    assert content == b'{\n    "predictions": [3.5, 4.0\n    ]\n}'
    assert headers["content-type"] == "application/json"
    body = {"instances": [{"x": [1, 2], "names": "n"}]}
    _, content, _ = served.raw("/v1/models/moody:predict", body)
    lines = content.decode().splitlines()
    assert lines[1:3] == ['    "predictions": [', "        {"]


def test_status_and_metadata(served: Served) -> None:
    _, status = served.rest("/v1/models/half")
    fine = {"error_code": "OK", "error_message": ""}
    assert status["model_version_status"] == [
        {"version": str(v), "state": "AVAILABLE", "status": fine} for v in (2, 1)
    ]
    _, status = served.rest("/v1/models/half/labels/stable")
    assert [s["version"] for s in status["model_version_status"]] == ["1"]
    _, found = served.rest("/v1/models/half/versions/1/metadata")
    assert found["model_spec"] == {"name": "half", "signature_name": "", "version": "1"}
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert signatures["serving_default"]["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert signatures["classify"]["method_name"] == "tensorflow/serving/classify"


def test_bodies_may_be_messages_or_compressed(served: Served) -> None:
    request = predict_pb2.PredictRequest()
    request.inputs["x"].CopyFrom(make_tensor_proto(np.float32([1.0])))
    status, content, headers = served.raw(
        PREDICT, request.SerializeToString(), content_type="application/x-protobuf"
    )
    assert (status, headers["content-type"]) == (200, "application/x-protobuf")
    response = predict_pb2.PredictResponse.FromString(content)
    assert make_ndarray(response.outputs["y"]).tolist() == [3.5]
    status, _ = served.rest(PREDICT, b"\xff", content_type="application/x-protobuf")
    assert status == 400
    packed = gzip.compress(json.dumps({"inputs": [1]}).encode())
    assert served.rest(PREDICT, packed, content_encoding="gzip") == (
        200,
        {"outputs": [3.5]},
    )
    for wrong, encoding in ((packed[:-9], "gzip"), (b"no", "gzip"), (packed, "br")):
        assert served.rest(PREDICT, wrong, content_encoding=encoding)[0] == 400


def test_a_large_tensor(served: Served) -> None:
    image = np.random.default_rng(0).random((8, 16, 3), np.float32)
    body = {"signature_name": "float32", "inputs": image.tolist()}
    _, answer = served.rest("/v1/models/dtypes:predict", body)
    assert np.array_equal(np.float32(answer["outputs"]), [image, image])


def test_raw_bytes_survive(served: Served) -> None:
    data = bytes(range(256))
    body = {
        "signature_name": "string",
        "inputs": {"b64": base64.urlsafe_b64encode(data).decode()},
    }
    _, answer = served.rest("/v1/models/dtypes:predict", body)
    assert base64.b64decode(answer["outputs"][0]["b64"]) == data


def test_health(served: Served) -> None:
    assert served.rest("/v1/health/live") == (200, {"live": True})
    assert served.rest("/v1/health/ready") == (200, {"ready": True})
    assert served.rest("/v1/health/other")[0] == 404
    assert served.rest("/nothing")[0] == 404
