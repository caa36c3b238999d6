"""Real clients of model servers, with real TensorFlow 2.21: run by its Python.

    python serving_client.py FOLDER GRPC_PORT REST_PORT

It exports models into FOLDER/tf2 and FOLDER/half, waits until the server has them, asks
it by TensorFlow Serving's stubs and Triton's clients, and compares with what TensorFlow
computes itself. It prints {check: "" or what is wrong}.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

DTYPES = (
    *("half", "float32", "float64", "bfloat16", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("complex64", "complex128", "qint8", "quint8"),
)
CHECKS: dict[str, Callable[[], None]] = {}


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


# --- models --------------------------------------------------------------------------


class Model(tf.Module):
    """Tables, parsing, ragged and sparse values, loops, several signatures."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        words = folder / "words.txt"
        words.write_text("a\nbb\nccc\n")
        self.asset = tf.saved_model.Asset(str(words))
        initializer = tf.lookup.TextFileInitializer(
            self.asset,
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        self.table = tf.lookup.StaticHashTable(initializer, -1)
        # Sums of these are exact in any order.
        weights = np.float32([[0.5, 0.25], [1.5, -2.0], [0.125, 4.0]])
        self.weights = tf.Variable(weights)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def linear(self, x: Any) -> Any:
        y = tf.matmul(x, self.weights)
        return {"y": y, "top": tf.argmax(y, 1), "p_bytes": tf.as_string(y)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def words(self, text: Any) -> Any:
        ragged = tf.strings.split(text)
        ids = tf.ragged.map_flat_values(self.table.lookup, ragged)
        return {"ids": ids.to_tensor(-2), "counts": ragged.row_lengths()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "examples")])
    def parse(self, examples: Any) -> Any:
        found = tf.io.parse_example(
            examples,
            {
                "x": tf.io.FixedLenFeature([3], tf.float32),
                "ids": tf.io.VarLenFeature(tf.int64),
            },
        )
        dense = tf.sparse.to_dense(found["ids"])
        return {"y": tf.matmul(found["x"], self.weights), "ids": dense}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, "n")])
    def loop(self, n: Any) -> Any:
        total = tf.constant(0)
        for i in tf.range(n):
            if i % 2 == 0:
                total += i
        return {"total": total}


def export_tf2(folder: Path) -> tuple[Any, dict[str, dict[str, Any]]]:
    """The signatures of the exported model, loaded by TensorFlow; their inputs."""
    model = Model(folder)
    signatures = {
        "serving_default": model.linear,
        "words": model.words,
        "parse": model.parse,
        "loop": model.loop,
    }
    for name in DTYPES:
        spec = tf.TensorSpec(None, tf.as_dtype(name), "x")
        signatures[name] = tf.function(
            lambda x: {"y": tf.identity(x)}
        ).get_concrete_function(spec)
    target = str(folder / "tf2" / "1")
    tf.saved_model.save(model, target, signatures)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1, 2, 3])
    example.features.feature["ids"].int64_list.value.extend([7, 8])
    other = tf.train.Example()
    other.features.feature["x"].float_list.value.extend([0, 1, 0])
    inputs = {
        "serving_default": {"x": np.float32([[1, 2, 3], [4, 5, 6]])},
        "words": {"text": np.array([b"a ccc", b"", b"bb x a"])},
        "parse": {
            "examples": np.array(
                [example.SerializeToString(), other.SerializeToString()], dtype=object
            )
        },
        "loop": {"n": np.int32(9)},
    }
    for name in DTYPES:
        if name == "string":
            value: Any = np.array([[b"a", b"\xff"], [b"", b"x" * 300]])
        elif name in ("qint8", "quint8"):
            continue
        else:
            value = np.arange(6).reshape(2, 3).astype(tf.as_dtype(name).as_numpy_dtype)
        inputs[name] = {"x": value}
    return tf.saved_model.load(target).signatures, inputs


def export_half(folder: Path) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        examples = v1.placeholder(tf.string, [None])
        x = tf.io.parse_example(
            examples, {"x": tf.io.FixedLenFeature([1], tf.float32)}
        )["x"]
        a = v1.Variable(0.5)
        y = a * x + 2.0
        classes = tf.tile([["low", "high"]], [tf.shape(x)[0], 1])
        info = v1.saved_model.build_tensor_info
        build = v1.saved_model.build_signature_def
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder / "half" / "3"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "regress": build(
                    {"inputs": info(examples)},
                    {"outputs": info(y)},
                    "tensorflow/serving/regress",
                ),
                "classify": build(
                    {"inputs": info(examples)},
                    {"classes": info(classes), "scores": info(tf.concat([y, -y], 1))},
                    "tensorflow/serving/classify",
                ),
            },
        )
        builder.save()


# --- TensorFlow Serving --------------------------------------------------------------

FOLDER, GRPC_PORT, REST_PORT = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CHANNEL = grpc.insecure_channel(f"127.0.0.1:{GRPC_PORT}")
STUB = prediction_service_pb2_grpc.PredictionServiceStub(CHANNEL)
MODELS = model_service_pb2_grpc.ModelServiceStub(CHANNEL)
SIGNATURES, INPUTS = export_tf2(FOLDER)
export_half(FOLDER)


def _wait(name: str) -> None:
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = name
    end = time.time() + 60
    while time.time() < end:
        try:
            found = MODELS.GetModelStatus(request, timeout=30).model_version_status
            if any(
                s.state == get_model_status_pb2.ModelVersionStatus.AVAILABLE
                for s in found
            ):
                return
            if found and all(
                s.state == get_model_status_pb2.ModelVersionStatus.END for s in found
            ):
                raise AssertionError(str(found))
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
        time.sleep(0.1)
    raise AssertionError(f"{name} did not become available")


def _expected(key: str) -> dict[str, Any]:
    found = SIGNATURES[key](**{n: tf.constant(v) for n, v in INPUTS[key].items()})
    return {name: value.numpy() for name, value in found.items()}


def _same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:
        assert found.tolist() == expected.tolist(), (found, expected)


@check
def available() -> None:
    _wait("tf2")
    _wait("half")


@check
def predict_is_what_tensorflow_computes() -> None:
    for key, values in INPUTS.items():
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "tf2"
        request.model_spec.signature_name = key
        for name, value in values.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
        response = STUB.Predict(request, timeout=30)
        expected = _expected(key)
        assert set(response.outputs) == set(expected), key
        for name, value in expected.items():
            try:
                _same(tf.make_ndarray(response.outputs[name]), value)
            except AssertionError as error:
                raise AssertionError(f"{key}.{name}: {error}") from None


@check
def quantized_tensors() -> None:
    for name, number in (("qint8", 11), ("quint8", 12)):
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "tf2"
        request.model_spec.signature_name = name
        proto = request.inputs["x"]
        proto.dtype = number
        proto.tensor_shape.dim.add().size = 3
        proto.tensor_content = bytes([1, 2, 3])
        found = STUB.Predict(request, timeout=30).outputs["y"]
        assert found.dtype == number, found
        assert found.tensor_content == bytes([1, 2, 3]) or list(found.int_val) == [
            1,
            2,
            3,
        ]


def _examples(request: Any) -> Any:
    for value in (1.0, 2.0):
        example = request.input.example_list.examples.add()
        example.features.feature["x"].float_list.value.append(value)
    return request


def _of_half(request: Any, key: str) -> Any:
    request.model_spec.name = "half"
    request.model_spec.signature_name = key
    return _examples(request)


@check
def regress() -> None:
    response = STUB.Regress(
        _of_half(regression_pb2.RegressionRequest(), "regress"), timeout=30
    )
    assert [r.value for r in response.result.regressions] == [2.5, 3.0]
    assert response.model_spec.version.value == 3


@check
def classify() -> None:
    response = STUB.Classify(
        _of_half(classification_pb2.ClassificationRequest(), "classify"), timeout=30
    )
    found = [
        [(c.label, c.score) for c in row.classes]
        for row in response.result.classifications
    ]
    assert found == [[("low", 2.5), ("high", -2.5)], [("low", 3.0), ("high", -3.0)]]


@check
def multi_inference() -> None:
    request = _examples(inference_pb2.MultiInferenceRequest())
    for method in ("regress", "classify"):
        task = request.tasks.add(method_name=f"tensorflow/serving/{method}")
        task.model_spec.name, task.model_spec.signature_name = "half", method
    first, second = STUB.MultiInference(request, timeout=30).results
    assert first.regression_result.regressions[1].value == 3.0
    assert second.classification_result.classifications[0].classes[0].label == "low"


@check
def metadata() -> None:
    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = "tf2"
    request.metadata_field.append("signature_def")
    response = STUB.GetModelMetadata(request, timeout=30)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert set(INPUTS) <= set(found.signature_def)
    assert (
        found.signature_def["words"].inputs["text"].dtype == tf.string.as_datatype_enum
    )


@check
def errors() -> None:
    def fails(model: str, key: str, **values: Any) -> tuple[str, str]:
        request = predict_pb2.PredictRequest()
        request.model_spec.name = model
        request.model_spec.signature_name = key
        for name, value in values.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
        try:
            STUB.Predict(request, timeout=30)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        raise AssertionError("it did not fail")

    x = np.float32([[1, 2, 3]])
    assert fails("none", "", x=x) == (
        "NOT_FOUND",
        "Servable not found for request: Latest(none)",
    )
    assert fails("tf2", "none", x=x) == (
        "FAILED_PRECONDITION",
        'Serving signature key "none" not found.',
    )
    assert fails("tf2", "", x=x, z=x) == (
        "INVALID_ARGUMENT",
        "input size does not match signature: 2!=1 len({x,z}) != len({x}). Sent "
        "extra: {z}. Missing but required: {}.",
    )
    assert fails("tf2", "", x=np.float64(x))[0] == "INVALID_ARGUMENT"
    assert fails("tf2", "", x=x[:, :2])[0] == "INVALID_ARGUMENT"


@check
def another_config() -> None:
    request = model_management_pb2.ReloadConfigRequest()
    for name in ("tf2", "half"):
        config = request.config.model_config_list.config.add()
        config.name, config.base_path = name, str(FOLDER / name)
        config.model_platform = "tensorflow"
    config.version_labels["best"] = 3
    response = MODELS.HandleReloadConfigRequest(request, timeout=30)
    assert response.status.error_code == 0, response
    labelled = _of_half(regression_pb2.RegressionRequest(), "regress")
    labelled.model_spec.version_label = "best"
    assert STUB.Regress(labelled, timeout=30).model_spec.version.value == 3


@check
def health_and_reflection() -> None:
    from google.protobuf.descriptor_pool import DescriptorPool
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
        ProtoReflectionDescriptorDatabase,
    )

    found = health_pb2_grpc.HealthStub(CHANNEL).Check(
        health_pb2.HealthCheckRequest(), timeout=30
    )
    assert found.status == health_pb2.HealthCheckResponse.SERVING
    database = ProtoReflectionDescriptorDatabase(CHANNEL)
    assert "tensorflow.serving.PredictionService" in database.get_services()
    pool = DescriptorPool(database)
    service = pool.FindServiceByName("tensorflow.serving.PredictionService")
    assert service.FindMethodByName("Predict").input_type.fields_by_name["model_spec"]


# --- Triton --------------------------------------------------------------------------

TRITON = {
    **{"half": "FP16", "float32": "FP32", "float64": "FP64"},
    **{"bool": "BOOL", "string": "BYTES"},
    **{f"int{bits}": f"INT{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UINT{bits}" for bits in (8, 16, 32, 64)},
}


def _ask_triton(module: Any, client: Any, **options: Any) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("tf2")
    assert not client.is_model_ready("none") if options.get("http") else True
    for key, datatype in TRITON.items():
        value = INPUTS[key]["x"]
        if datatype == "BYTES":
            value = value.astype(object)
        given = module.InferInput("x", list(value.shape), datatype)
        given.set_data_from_numpy(value)
        result = client.infer(
            "tf2", [given], parameters={"signature_name": key}, request_id="7"
        )
        _same(result.as_numpy("y"), value)
    x = INPUTS["serving_default"]["x"]
    given = module.InferInput("x", list(x.shape), "FP32")
    given.set_data_from_numpy(x)
    wanted = [module.InferRequestedOutput("y"), module.InferRequestedOutput("top")]
    result = client.infer("tf2", [given], outputs=wanted, model_version="1")
    for name in ("y", "top"):
        _same(result.as_numpy(name), _expected("serving_default")[name])
    try:
        client.infer(
            "tf2",
            [module.InferInput("z", [1], "FP32").set_data_from_numpy(np.float32([1]))],
        )
    except Exception as error:
        text = str(error)
    else:
        text = "it did not fail"
    assert "unexpected input 'z'" in text, text


@check
def triton_grpc() -> None:
    import tritonclient.grpc as module

    client = module.InferenceServerClient(f"127.0.0.1:{GRPC_PORT}")
    found = client.get_model_metadata("tf2", as_json=True)
    assert found["inputs"] == [
        {"name": "x", "datatype": "FP32", "shape": ["-1", "3"]}
    ], found
    assert client.get_server_metadata().name == "tensorloom"
    assert {m.name for m in client.get_model_repository_index().models} == {
        "tf2",
        "half",
    }
    _ask_triton(module, client)
    config = client.get_model_config("tf2", as_json=True)["config"]
    assert config["platform"] == "tensorflow_savedmodel"
    assert config["input"] == [
        {"name": "x", "data_type": "TYPE_FP32", "dims": ["-1", "3"]}
    ], config
    found = client.get_inference_statistics("tf2", as_json=True)["model_stats"]
    assert int(found[0]["inference_stats"]["success"]["count"]) > 10, found
    client.unload_model("half")
    index = client.get_model_repository_index().models
    assert {m.name for m in index if m.state == "READY"} == {"tf2"}, index
    client.load_model("half")
    assert client.is_model_ready("half")


@check
def triton_http() -> None:
    import tritonclient.http as module

    client = module.InferenceServerClient(f"127.0.0.1:{REST_PORT}")
    found = client.get_model_metadata("tf2")
    assert found["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}], (
        found
    )
    assert {m["name"] for m in client.get_model_repository_index()} == {"tf2", "half"}
    _ask_triton(module, client, http=True)
    config = client.get_model_config("tf2")
    assert config["input"][0]["dims"] == [-1, 3], config
    (found,) = client.get_inference_statistics("tf2")["model_stats"]
    assert found["inference_stats"]["fail"]["count"] > 0, found
    client.unload_model("half")
    assert len(client.get_inference_statistics()["model_stats"]) == 1
    client.load_model("half")
    assert client.is_model_ready("half")
    x = INPUTS["serving_default"]["x"]
    given = module.InferInput("x", list(x.shape), "FP32")
    given.set_data_from_numpy(x, binary_data=False)
    wanted = [module.InferRequestedOutput("y", binary_data=False)]
    for algorithm in (None, "gzip", "deflate"):
        result = client.infer(
            "tf2", [given], outputs=wanted, request_compression_algorithm=algorithm
        )
        _same(result.as_numpy("y"), _expected("serving_default")["y"])


def main() -> None:
    found = {}
    for name, function in CHECKS.items():
        try:
            function()
            found[name] = ""
        except Exception:
            found[name] = traceback.format_exc()
    print(json.dumps(found))


main()
