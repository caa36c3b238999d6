"""A server as a whole: versions replaced, configs followed, limits kept."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.protos.serving import prediction_log_pb2
from tensorloom.serving.manager import memory
from tensorloom.serving.manager.model_config import read_config_file
from tensorloom.serving.manager.model_states import State
from tensorloom.serving.model_server import ModelServer
from tensorloom.serving.options import ServerOptions
from tests.serving import models
from tests.serving.servers import Served, write_config

StartServer = Callable[..., Served]
BODY = {"inputs": [1]}


def _wait(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def _wait_ended(served: Served, model: str, version: int) -> None:
    states = served.server.manager.states

    def has_ended() -> bool:
        found = states.versions(model).get(version)
        return found is not None and found.state is State.END

    _wait(has_ended)


def _half(start_server: StartServer, tmp_path: Path, **options: Any) -> Served:
    models.half_plus(tmp_path / "half", 1)
    return start_server(
        model_name="half",
        model_base_path=str(tmp_path / "half"),
        file_system_poll_wait_seconds=0.02,
        **options,
    )


@pytest.mark.slow
def test_versions_are_replaced_under_load(
    start_server: StartServer, tmp_path: Path
) -> None:
    served = _half(start_server, tmp_path, enable_batching=True)
    stop, failed = threading.Event(), []
    seen: set[float] = set()

    def ask() -> None:
        while not stop.is_set():
            status, answer = served.rest("/v1/models/half:predict", BODY)
            if status == 200:
                seen.add(answer["outputs"][0])
            else:
                failed.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for version in range(2, 5):
        models.half_plus(tmp_path / "half", version, float(version))
        _wait(lambda: version + 0.5 in seen)  # noqa: B023 - it is called here
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
    assert seen == {2.5, 3.5, 4.5}
    assert sorted(served.server.manager.available()["half"][0].signatures)


def test_a_broken_version_leaves_the_old_one(
    start_server: StartServer, tmp_path: Path
) -> None:
    served = _half(start_server, tmp_path)
    broken = tmp_path / "half" / "2"
    broken.mkdir()
    (broken / "saved_model.pb").write_bytes(b"\xff damaged")
    _wait_ended(served, "half", 2)
    _, found = served.rest("/v1/models/half/versions/2")
    (entry,) = found["model_version_status"]
    assert entry["state"] == "END"
    assert "saved_model.pb" in entry["status"]["error_message"]
    assert served.rest("/v1/models/half:predict", BODY) == (200, {"outputs": [2.5]})


def test_a_config_file_is_followed(start_server: StartServer, tmp_path: Path) -> None:
    models.half_plus(tmp_path / "a", 1)
    models.half_plus(tmp_path / "b", 1)
    config = write_config(tmp_path, "a")
    served = start_server(
        model_config_file=config, model_config_file_poll_wait_seconds=0.02
    )
    assert served.rest("/v1/models/b:predict", BODY)[0] == 404
    Path(config).write_text("nonsense")
    time.sleep(0.1)
    assert served.rest("/v1/models/a:predict", BODY)[0] == 200
    write_config(tmp_path, "b", extra='version_labels { key: "best" value: 1 }')
    _wait(lambda: served.rest("/v1/models/b/labels/best:predict", BODY)[0] == 200)
    _wait(lambda: served.rest("/v1/models/a:predict", BODY)[0] == 404)


def test_a_model_that_cannot_be_loaded_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "m" / "1").mkdir(parents=True)
    options = ServerOptions(
        port=-1,
        model_name="m",
        model_base_path=str(tmp_path / "m"),
        max_num_load_retries=0,
    )
    server = ModelServer(options)
    with pytest.raises(errors.UnknownError) as caught:
        server.start(20)
    server.stop()
    assert "1 model(s) did not become available: {{{name: m version: 1}" in (
        caught.value.message
    )
    assert "Could not find SavedModel .pb or .pbtxt at" in caught.value.message


def test_it_is_ready_when_its_models_are(tmp_path: Path) -> None:
    options = ServerOptions(
        port=-1,
        rest_api_port=-1,
        model_name="half",
        model_base_path=str(tmp_path / "half"),
        file_system_poll_wait_seconds=0.02,
    )
    server = ModelServer(options)
    served = Served(server, tmp_path)
    assert not server.start(0.05)
    assert served.rest("/v1/health/live")[0] == 200
    assert served.rest("/v1/health/ready") == (503, {"ready": False})
    server.stop()


def test_frozen_graphs(start_server: StartServer, tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.add(tf.matmul(x, tf.constant([[1.0], [2.0]])), 1.0, name="scores")
    folder = tmp_path / "frozen" / "7"
    folder.mkdir(parents=True)
    (folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    served = start_server(model_name="frozen", model_base_path=str(tmp_path / "frozen"))
    body = {"instances": [[1, 1], [0, 2]]}
    assert served.rest("/v1/models/frozen:predict", body) == (
        200,
        {"predictions": [[4.0], [5.0]]},
    )
    _, found = served.rest("/v1/models/frozen/metadata")
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["outputs"]["scores"]["dtype"] == "DT_FLOAT"


def _warm_up_file(version: Path, *logs: Any) -> None:
    folder = version / "assets.extra"
    folder.mkdir()
    path = str(folder / "tf_serving_warmup_requests")
    with tf.python_io.TFRecordWriter(path) as writer:
        for log in logs:
            writer.write(log.SerializeToString())


def test_warm_up(start_server: StartServer, tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    log: Any = prediction_log_pb2.PredictionLog()
    request = log.predict_log.request
    request.model_spec.name = "half"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32([1])))
    _warm_up_file(tmp_path / "half" / "1", log)
    served = start_server(model_name="half", model_base_path=str(tmp_path / "half"))
    page = served.raw("/monitoring/prometheus/metrics")[1].decode()
    assert ":tensorflow:serving:model_warmup_latency_count" in page
    models.half_plus(tmp_path / "half", 2)
    request.model_spec.signature_name = "none"
    _warm_up_file(tmp_path / "half" / "2", log)
    _wait_ended(served, "half", 2)
    assert 'Serving signature key "none" not found' in (
        served.server.manager.states.versions("half")[2].error_message
    )
    assert served.rest("/v1/models/half:predict", BODY)[0] == 200


def test_ops_that_reach_files_are_refused(
    start_server: StartServer, tmp_path: Path
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        name = tf.placeholder(tf.string, [], name="name")
        content = tf.read_file(name, name="content")
        signature = models._signature({"name": name}, {"c": content}, models.PREDICT)
        models.save(session, tmp_path / "m" / "1", {"serving_default": signature})
    options = {"model_name": "m", "model_base_path": str(tmp_path / "m")}
    with pytest.raises(errors.UnknownError, match="of op ReadFile, which this server"):
        start_server(**options)
    served = start_server(**options, allow_ops="ReadFile")
    (tmp_path / "f").write_text("text")
    body = {"inputs": str(tmp_path / "f")}
    assert served.rest("/v1/models/m:predict", body) == (200, {"outputs": "text"})


def test_tables_from_files_are_served(
    start_server: StartServer, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one\ntwo\n")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_file(str(words))
        word = tf.placeholder(tf.string, [None], name="word")
        found = table.lookup(word)
        session.run(tf.tables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "m" / "1"))
        signature = models._signature({"w": word}, {"i": found}, models.PREDICT)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            signature_def_map={"serving_default": signature},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
    words.unlink()
    served = start_server(model_name="m", model_base_path=str(tmp_path / "m"))
    assert served.rest("/v1/models/m:predict", {"inputs": ["two", "no"]}) == (
        200,
        {"outputs": [1, -1]},
    )


def test_limits_of_requests(start_server: StartServer, tmp_path: Path) -> None:
    models.moody(tmp_path / "moody")
    served = start_server(
        model_name="moody",
        model_base_path=str(tmp_path / "moody"),
        max_request_bytes=10_000,
        rest_api_timeout_in_ms=300,
        max_concurrent_requests_per_model=1,
    )
    path = "/v1/models/moody:predict"

    def body(value: float, **more: Any) -> Any:
        return {"signature_name": "rows", "inputs": [[value, 1]], **more}

    status, answer = served.rest(path, body(1, more="x" * 20_000))
    assert (status, "this server takes 10000" in answer["error"]) == (429, True)
    endless = threading.Thread(target=lambda: served.rest(path, body(-1)))
    endless.start()
    servable = served.server.manager.available()["moody"][0]
    _wait(lambda: servable.holders)
    status, answer = served.rest(path, body(1))
    assert (status, "as many as it may" in answer["error"]) == (429, True)
    endless.join()
    _wait(lambda: not servable.holders)
    assert served.rest(path, body(1)) == (200, {"outputs": [2.0]})
    status, answer = served.rest(path, body(-1))
    assert status == 504
    _wait(lambda: not servable.holders)


def test_a_caller_that_sends_half_a_body(
    start_server: StartServer, tmp_path: Path
) -> None:
    served = _half(start_server, tmp_path, rest_api_timeout_in_ms=200)
    address = ("127.0.0.1", served.server.rest_port or 0)
    with socket.create_connection(address, timeout=20) as slow:
        slow.sendall(b"POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\n")
        slow.sendall(b"Content-Length: 100\r\n\r\n{")
        assert b" 504 " in slow.recv(1000)
    assert served.rest("/v1/models/half:predict", BODY)[0] == 200


@pytest.mark.slow
def test_memory_comes_back(start_server: StartServer, tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    models.half_plus(tmp_path / "large", 1, size=64 << 20)
    config = write_config(tmp_path, "half")
    served = start_server(model_config_file=config)
    core = served.server.core
    memory.give_back()
    before = memory.resident_bytes()
    core.reload(read_config_file(write_config(tmp_path, "half", "large")))
    assert memory.resident_bytes() > before + (60 << 20)
    core.reload(read_config_file(write_config(tmp_path, "half")))
    _wait_ended(served, "large", 1)
    memory.give_back()
    assert memory.resident_bytes() < before + (16 << 20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "are empty"),
        ({"batching_parameters_file": "f"}, "without setting"),
        ({"version_transition": "none"}, "must be one of availability, resource"),
        ({"deny_ops": "NoSuchOp"}, "There is no op 'NoSuchOp' to deny"),
        ({"grpc_channel_arguments": "grpc.x"}, "is no name=value"),
    ],
)
def test_wrong_options(tmp_path: Path, options: Any, message: str) -> None:
    path = str(tmp_path) if options else ""
    with pytest.raises(ValueError, match=message):
        ModelServer(ServerOptions(port=-1, model_base_path=path, **options))


def test_an_address_that_is_taken(start_server: StartServer, tmp_path: Path) -> None:
    served = _half(start_server, tmp_path)
    base = str(tmp_path / "half")
    for port in ("port", "rest_api_port"):
        taken: Any = {"port": -1, "rest_api_port": -1}
        taken[port] = getattr(
            served.server, "grpc_port" if port == "port" else "rest_port"
        )
        with pytest.raises(errors.UnknownError, match="Cannot listen"):
            ModelServer(ServerOptions(model_base_path=base, **taken))


def test_connections_are_kept(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.server.rest_port)
    started = time.monotonic()
    for _ in range(20):
        connection.request("GET", "/v1/models/half")
        assert connection.getresponse().read()
    connection.close()
    assert time.monotonic() - started < 2


def test_methods_of_signatures_need_not_fit(
    start_server: StartServer, tmp_path: Path
) -> None:
    served = _half(start_server, tmp_path)
    body = {"signature_name": "odd", "inputs": [1]}
    assert served.rest("/v1/models/half:predict", body) == (200, {"outputs": [2.5]})
    body = {"signature_name": "regress", "examples": [{"x": 1.0}]}
    status, answer = served.rest("/v1/models/half:classify", body)
    assert (status, "to contain at least one of" in answer["error"]) == (400, True)
