"""PredictionService and ModelService, as their clients see them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest

from tensorloom.framework.types.dtypes import as_dtype
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.protos.serving import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    predict_pb2,
    regression_pb2,
)
from tests.serving import models

if TYPE_CHECKING:
    from tests.serving.servers import Served

SERVICE = "/tensorflow.serving.PredictionService/"
PREDICT = SERVICE + "Predict"
MODELS = "/tensorflow.serving.ModelService/"


def _predict(
    model: str, signature: str = "", version: Any = None, **inputs: Any
) -> Any:
    request: Any = predict_pb2.PredictRequest()
    request.model_spec.name = model
    request.model_spec.signature_name = signature
    if isinstance(version, str):
        request.model_spec.version_label = version
    elif version is not None:
        request.model_spec.version.value = version
    for name, value in inputs.items():
        request.inputs[name].CopyFrom(make_tensor_proto(value))
    return request


def _examples(request: Any, *values: float) -> Any:
    for value in values:
        example = request.input.example_list.examples.add()
        example.features.feature["x"].float_list.value.append(value)
    return request


@pytest.mark.parametrize("name", models.DTYPES)
def test_every_dtype_comes_back(served: Served, name: str) -> None:
    dtype = as_dtype(name)
    if name == "string":
        value = np.array([[b"a", b"\xff"], [b"", b"longer"]], dtype=object)
    else:
        value = np.arange(6).reshape(2, 3).astype(dtype.np_dtype)
    for given in (value, value[:0], value[0], value[0, 0]):
        array = np.array(given, dtype=value.dtype)
        request = _predict("dtypes", name)
        request.inputs["x"].CopyFrom(make_tensor_proto(array))
        response = served.call(PREDICT, request, predict_pb2.PredictResponse)
        found = response.outputs["y"]
        assert found.dtype == dtype.as_datatype_enum
        assert np.array_equal(make_ndarray(found), np.stack([array, array]))


def test_outputs_are_typed_lists(served: Served) -> None:
    request = _predict("half", x=np.float32([1, 2]))
    response = served.call(PREDICT, request, predict_pb2.PredictResponse)
    assert list(response.outputs["y"].float_val) == [3.5, 4.0]
    assert not response.outputs["y"].tensor_content
    spec = response.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == (
        "half",
        2,
        "serving_default",
    )


@pytest.mark.parametrize(("version", "answer"), [(1, 2.5), ("stable", 2.5), (2, 3.5)])
def test_versions_and_labels(served: Served, version: Any, answer: float) -> None:
    request = _predict("half", version=version, x=np.float32([1]))
    response = served.call(PREDICT, request, predict_pb2.PredictResponse)
    assert list(response.outputs["y"].float_val) == [answer]


def test_output_filter(served: Served) -> None:
    request = _predict("moody", x=np.float32([[1, 2]]), names=[b"n"])
    request.output_filter.append("total")
    response = served.call(PREDICT, request, predict_pb2.PredictResponse)
    assert list(response.outputs) == ["total"]


X = np.float32([1.0])


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (_predict(""), "INVALID_ARGUMENT", "ModelSpec has no name specified."),
        (_predict("none", x=X), "NOT_FOUND", "Servable not found for request: Latest("),
        (_predict("half", "", 9, x=X), "NOT_FOUND", "Specific(half, 9)"),
        (
            _predict("half", "", "none", x=X),
            "INVALID_ARGUMENT",
            "Unrecognized servable version label: none",
        ),
        (
            _predict("half", "none", x=X),
            "FAILED_PRECONDITION",
            'Serving signature key "none" not found.',
        ),
        (_predict("half", "odd", x=X), "INTERNAL", "Expected prediction signature"),
        (
            _predict("half"),
            "INVALID_ARGUMENT",
            "input size does not match signature: 0!=1 len({}) != len({x}). Sent "
            "extra: {}. Missing but required: {x}.",
        ),
        (_predict("half", x=X, z=X), "INVALID_ARGUMENT", "Sent extra: {z}."),
        (_predict("half", z=X), "INVALID_ARGUMENT", "Signature input alias: x"),
        (
            _predict("half", x=np.float64([1.0])),
            "INVALID_ARGUMENT",
            "to be float but double is provided",
        ),
        (
            _predict("moody", "rows", x=np.float32([[1, 2], [101, 1]])),
            "INVALID_ARGUMENT",
            "too high",
        ),
    ],
)
def test_predict_errors(served: Served, request_: Any, code: str, message: str) -> None:
    found = served.fails(PREDICT, request_, predict_pb2.PredictResponse)
    assert found[0] == code
    assert message in found[1]


@pytest.mark.parametrize("size", [2**40, 2**27])
def test_tensors_that_do_not_hold_what_they_say(served: Served, size: int) -> None:
    request = _predict("half", x=X)
    request.inputs["x"].tensor_shape.dim[0].size = size
    code, message = served.fails(PREDICT, request, predict_pb2.PredictResponse)
    assert (code, "tensor parsing error: x" in message) == ("INVALID_ARGUMENT", True)


def test_wrong_filters(served: Served) -> None:
    for names, message in (
        (["z"], "output tensor alias not found in signature: z"),
        (["y", "y"], "duplicate output tensor alias: y"),
    ):
        request = _predict("half", x=X)
        request.output_filter.extend(names)
        found = served.fails(PREDICT, request, predict_pb2.PredictResponse)
        assert found[0] == "INVALID_ARGUMENT"
        assert message in found[1]


def test_bytes_that_are_no_message(served: Served) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{served.server.grpc_port}") as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary(PREDICT)(b"\xff\xff", timeout=30)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary(SERVICE + "Nothing")(b"", timeout=30)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_deadline_ends_the_step(served: Served) -> None:
    request = _predict("moody", "rows", x=np.float32([[-1, 1]]))
    with pytest.raises(grpc.RpcError) as caught:
        served.call(PREDICT, request, predict_pb2.PredictResponse, timeout=0.2)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    request = _predict("moody", "rows", x=np.float32([[1, 1]]))
    served.call(PREDICT, request, predict_pb2.PredictResponse)


def test_examples(served: Served) -> None:
    request: Any = regression_pb2.RegressionRequest()
    request.model_spec.name = "half"
    request.model_spec.signature_name = "regress"
    response = served.call(
        SERVICE + "Regress", _examples(request, 1, 2), regression_pb2.RegressionResponse
    )
    assert [r.value for r in response.result.regressions] == [3.5, 4.0]
    assert response.model_spec.signature_name == "regress"
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name = "half"
    request.model_spec.signature_name = "classify"
    response = served.call(
        SERVICE + "Classify",
        _examples(request, 1),
        classification_pb2.ClassificationResponse,
    )
    (found,) = response.result.classifications
    assert [(c.label, c.score) for c in found.classes] == [("low", 3.5), ("high", 4.5)]


def test_several_heads_at_once(served: Served) -> None:
    request: Any = inference_pb2.MultiInferenceRequest()
    for name, method in (("regress", models.REGRESS), ("classify", models.CLASSIFY)):
        task = request.tasks.add(method_name=method)
        task.model_spec.name, task.model_spec.signature_name = "half", name
    path = SERVICE + "MultiInference"
    response = served.call(
        path, _examples(request, 1), inference_pb2.MultiInferenceResponse
    )
    first, second = response.results
    assert first.regression_result.regressions[0].value == 3.5
    assert second.classification_result.classifications[0].classes[1].label == "high"
    assert second.model_spec.version.value == 2
    wrong = inference_pb2.MultiInferenceRequest()
    wrong.CopyFrom(request)
    wrong.tasks[1].CopyFrom(wrong.tasks[0])
    for change, message in (
        (wrong, "Duplicate evaluation of signature: regress"),
        (inference_pb2.MultiInferenceRequest(), "has no tasks"),
    ):
        found = served.fails(path, change, inference_pb2.MultiInferenceResponse)
        assert found[0] == "INVALID_ARGUMENT"
        assert message in found[1]
    request.tasks[1].method_name = "somebody/else"
    code, message = served.fails(path, request, inference_pb2.MultiInferenceResponse)
    assert (code, message) == (
        "UNIMPLEMENTED",
        "Unsupported signature method_name: somebody/else",
    )
    request.tasks[1].model_spec.name = "moody"
    code, message = served.fails(path, request, inference_pb2.MultiInferenceResponse)
    assert "must access the same model name" in message


def test_no_examples(served: Served) -> None:
    request: Any = regression_pb2.RegressionRequest()
    request.model_spec.name = "half"
    request.model_spec.signature_name = "regress"
    found = served.fails(
        SERVICE + "Regress", request, regression_pb2.RegressionResponse
    )
    assert found == ("INVALID_ARGUMENT", "Input is empty.")
    request.model_spec.signature_name = "none"
    _, message = served.fails(
        SERVICE + "Regress", _examples(request, 1), regression_pb2.RegressionResponse
    )
    assert message == "No signature was found with the name: none"


def test_metadata(served: Served) -> None:
    request: Any = get_model_metadata_pb2.GetModelMetadataRequest()
    response_class: Any = get_model_metadata_pb2.GetModelMetadataResponse
    path = SERVICE + "GetModelMetadata"
    request.model_spec.name = "half"
    _, message = served.fails(path, request, response_class)
    assert "at least one metadata_field" in message
    request.metadata_field.append("signature_def")
    response = served.call(path, request, response_class)
    found: Any = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert set(found.signature_def) == {"serving_default", "regress", "classify", "odd"}
    request.metadata_field.append("weights")
    _, message = served.fails(path, request, response_class)
    assert message == "Metadata field weights is not supported"


def test_status(served: Served) -> None:
    request: Any = get_model_status_pb2.GetModelStatusRequest()
    response_class: Any = get_model_status_pb2.GetModelStatusResponse
    path = MODELS + "GetModelStatus"
    assert served.fails(path, request, response_class)[1] == "Missing ModelSpec"
    request.model_spec.name = "half"
    response = served.call(path, request, response_class)
    found = [(s.version, s.state) for s in response.model_version_status]
    assert found == [(2, 30), (1, 30)]
    request.model_spec.name = "none"
    assert served.fails(path, request, response_class) == (
        "NOT_FOUND",
        "Could not find any versions of model none",
    )


def test_another_config(start_server: Callable[..., Served], tmp_path: Path) -> None:
    models.half_plus(tmp_path / "a", 1)
    models.half_plus(tmp_path / "b", 3)
    served = start_server(model_name="a", model_base_path=str(tmp_path / "a"))
    path = MODELS + "HandleReloadConfigRequest"
    request: Any = model_management_pb2.ReloadConfigRequest()
    response_class: Any = model_management_pb2.ReloadConfigResponse
    code, message = served.fails(path, request, response_class)
    assert "Only ModelConfigList is currently supported" in message
    config = request.config.model_config_list.config.add(
        name="b", base_path=str(tmp_path / "b"), model_platform="tensorflow"
    )
    loads = "/tensorflow/cc/saved_model/load_attempt_count"
    request.metric_names.extend([loads, "/no/such/metric"])
    response = served.call(path, request, response_class)
    assert response.status.error_code == 0
    assert [m.name for m in response.metric] == [loads, "/no/such/metric"]
    assert all(m.int64_value_increase >= 0 for m in response.metric)
    answer = served.call(PREDICT, _predict("b", x=X), predict_pb2.PredictResponse)
    assert answer.model_spec.version.value == 3
    assert (
        served.fails(PREDICT, _predict("a", x=X), predict_pb2.PredictResponse)[0]
        == "NOT_FOUND"
    )
    config.version_labels["stable"] = 9
    code, message = served.fails(path, request, response_class)
    assert code == "FAILED_PRECONDITION"
    assert message == (
        "Request to assign label to version 9 of model b, which is not currently "
        "available for inference"
    )
    config.model_platform = "torch"
    code, message = served.fails(path, request, response_class)
    assert message == "Model b requests unsupported platform torch"
