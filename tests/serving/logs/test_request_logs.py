"""Logged requests: which, where, and that a log is a warm-up file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.protos.serving import (
    inference_pb2,
    model_management_pb2,
    predict_pb2,
    prediction_log_pb2,
)
from tensorloom.serving.logs import record_files
from tensorloom.serving.logs.log_options import is_below
from tensorloom.serving.logs.record_files import RecordFiles
from tests.serving import models
from tests.serving.servers import Served, write_config

StartServer = Callable[..., Served]
SERVICE = "/tensorflow.serving.PredictionService/"
RELOAD = "/tensorflow.serving.ModelService/HandleReloadConfigRequest"
HALF = "/v1/models/half:predict"
BODY = {"inputs": [1.0]}


def _config(prefix: Path, rate: float = 1.0) -> str:
    return (
        f'logging_config {{ log_collector_config {{ type: "tfrecord" '
        f'filename_prefix: "{prefix}" }} sampling_config {{ sampling_rate: {rate} }} }}'
    )


def _start(start_server: StartServer, base: Path, extra: str, **options: Any) -> Served:
    models.half_plus(base / "half", 1)
    return start_server(
        model_config_file=write_config(base, "half", extra=extra), **options
    )


def _logged(directory: Path) -> list[Any]:
    files = sorted(directory.glob("*.tfrecord"))
    return [
        prediction_log_pb2.PredictionLog.FromString(record)
        for file in files
        for record in tf.python_io.tf_record_iterator(str(file))
    ]


def _count(served: Served, text: str) -> str:
    page = served.raw("/monitoring/prometheus/metrics")[1].decode()
    return next((line for line in page.splitlines() if text in line), "")


def _ask_all(served: Served) -> None:
    """A request of each kind, and one that fails."""
    request: Any = predict_pb2.PredictRequest()
    request.model_spec.name = "half"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32([2])))
    served.call(SERVICE + "Predict", request, predict_pb2.PredictResponse)
    assert served.rest(HALF, BODY)[0] == 200
    assert served.rest(HALF, {"inputs": ["no number"]})[0] == 400
    tensor = {"name": "x", "datatype": "FP32", "shape": [1], "data": [3.0]}
    assert served.rest("/v2/models/half/infer", {"inputs": [tensor]})[0] == 200
    for kind in ("classify", "regress"):
        body = {"signature_name": kind, "examples": [{"x": 1.0}]}
        assert served.rest(f"/v1/models/half:{kind}", body)[0] == 200
    several: Any = inference_pb2.MultiInferenceRequest()
    several.input.example_list.examples.add().features.feature[
        "x"
    ].float_list.value.append(4.0)
    for kind in ("classify", "regress"):
        task = several.tasks.add(method_name=f"tensorflow/serving/{kind}")
        task.model_spec.name, task.model_spec.signature_name = "half", kind
    response = inference_pb2.MultiInferenceResponse
    served.call(SERVICE + "MultiInference", several, response)


@pytest.mark.slow
def test_a_log_is_a_warm_up_file(start_server: StartServer, tmp_path: Path) -> None:
    served = _start(start_server, tmp_path, _config(tmp_path / "logs" / "half"))
    _ask_all(served)
    logs = _logged(tmp_path / "logs")
    assert [log.WhichOneof("log_type") for log in logs] == [
        *["predict_log"] * 3,
        *("classify_log", "regress_log", "multi_inference_log"),
    ]
    for log, x in zip(logs, (2.0, 1.0, 3.0), strict=False):
        request, response = log.predict_log.request, log.predict_log.response
        assert tf.make_ndarray(request.inputs["x"]).tolist() == [x]
        assert tf.make_ndarray(response.outputs["y"]).tolist() == [x / 2 + 2]
    metadata = logs[1].log_metadata
    assert metadata.model_spec.name == "half"
    assert metadata.model_spec.version.value == 1
    assert metadata.model_spec.signature_name == "serving_default"
    assert metadata.sampling_config.sampling_rate == 1.0
    assert list(metadata.saved_model_tags) == ["serve"]
    assert metadata.timestamp_secs > 0
    count = ':tensorflow:serving:request_log_count{model_name="half",status_code="OK"}'
    assert _count(served, count).endswith(" 6.0")

    (file,) = (tmp_path / "logs").glob("*.tfrecord")
    models.half_plus(tmp_path / "again" / "half", 1)
    extra = tmp_path / "again" / "half" / "1" / "assets.extra"
    extra.mkdir()
    shutil.copy(file, extra / "tf_serving_warmup_requests")
    path = str(tmp_path / "again" / "half")
    again = start_server(model_name="half", model_base_path=path)
    assert _count(again, "model_warmup_latency_count{").endswith(" 1.0")


@pytest.mark.slow
def test_a_sample(start_server: StartServer, tmp_path: Path) -> None:
    served = _start(start_server, tmp_path, _config(tmp_path / "logs" / "h", 0.5))
    served.server._logs._random.seed(1)
    for _ in range(40):
        assert served.rest(HALF, BODY)[0] == 200
    assert 8 < len(_logged(tmp_path / "logs")) < 32


def test_a_log_that_cannot_be_written(
    start_server: StartServer, tmp_path: Path
) -> None:
    (tmp_path / "logs").write_text("no directory")
    served = _start(start_server, tmp_path, _config(tmp_path / "logs" / "half"))
    assert served.rest(HALF, BODY) == (200, {"outputs": [2.5]})
    line = _count(served, "request_log_count{")
    assert line.endswith(" 1.0")
    assert 'status_code="OK"' not in line


def test_callers_say_what_is_logged(start_server: StartServer, tmp_path: Path) -> None:
    own = tmp_path / "own"
    served = _start(
        start_server,
        tmp_path,
        _config(tmp_path / "logs" / "half"),
        request_log_directory=str(own),
    )
    request: Any = model_management_pb2.ReloadConfigRequest()
    response_class: Any = model_management_pb2.ReloadConfigResponse
    config = request.config.model_config_list.config.add(
        name="half", base_path=str(tmp_path / "half"), model_platform="tensorflow"
    )
    logging = config.logging_config
    logging.log_collector_config.type = "tfrecord"
    logging.sampling_config.sampling_rate = 1.0

    def reload(prefix: Path) -> None:
        logging.log_collector_config.filename_prefix = str(prefix)
        served.call(RELOAD, request, response_class)
        assert served.rest(HALF, BODY)[0] == 200

    reload(tmp_path / "logs" / "half")  # as it is
    reload(own / "half")
    assert (len(_logged(tmp_path / "logs")), len(_logged(own))) == (1, 1)
    assert list(served.server._logs._files) == [str(own / "half")]
    logging.log_collector_config.filename_prefix = str(own / ".." / "half")
    code, message = served.fails(RELOAD, request, response_class)
    assert (code, "callers may have that done below" in message) == (
        "PERMISSION_DENIED",
        True,
    )
    logging.log_collector_config.type = "kafka"
    code, message = served.fails(RELOAD, request, response_class)
    assert (code, "Factory for type: kafka" in message) == ("NOT_FOUND", True)
    config.ClearField("logging_config")
    served.call(RELOAD, request, response_class)
    assert served.rest(HALF, BODY)[0] == 200
    assert len(_logged(own)) == 1


def test_files_are_no_longer_than_a_warm_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "MOST_RECORDS", 2)
    files = RecordFiles(str(tmp_path / "a" / "r"))
    for number in range(5):
        files.write(json.dumps(number).encode())
    files.close()
    found = sorted((tmp_path / "a").iterdir())
    read = [list(tf.python_io.tf_record_iterator(str(f))) for f in found]
    assert read == [[b"0", b"1"], [b"2", b"3"], [b"4"]]
    with pytest.raises(errors.OpError):
        RecordFiles(str(found[0] / "r")).write(b"")


@pytest.mark.parametrize(
    ("prefix", "directory", "is_there"),
    [
        ("/logs/a", "/logs", True),
        ("/logs/a/b", "/logs/", True),
        ("/logs-2/a", "/logs", False),
        ("/logs/../a", "/logs", False),
        ("/logs/a", "", False),
        ("memory://logs/a", "memory://logs", True),
        ("memory://logs/a", "/logs", False),
        ("/logs/a", "memory://logs", False),
    ],
)
def test_is_below(prefix: str, directory: str, is_there: bool) -> None:
    assert is_below(prefix, directory) == is_there


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "out").symlink_to(tmp_path)
    assert not is_below(str(tmp_path / "own" / "out" / "a"), str(tmp_path / "own"))
