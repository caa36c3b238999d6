"""Callers that are slow, hang up or mean harm, and models that do not end."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tensorloom.protos.serving.predict_pb2 import PredictRequest, PredictResponse
from tests.serving import models
from tests.serving.servers import Served, rows_request, start, write_config

PREDICT = "/tensorflow.serving.PredictionService/Predict"
HALF = "/v1/models/half:predict"
MOODY = "/v1/models/moody:predict"
BODY = {"inputs": [1.0]}
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def batching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`half` and `moody`; two requests of one row make a batch, none runs before."""
    base = tmp_path_factory.mktemp("faults")
    models.half_plus(base / "half", 1)
    models.moody(base / "moody")
    (base / "moody" / "1" / "batching_params.pbtxt").write_text(
        "max_batch_size { value: 2 } batch_timeout_micros { value: 600000000 }"
    )
    found = start(
        base,
        model_config_file=write_config(base, "half", "moody"),
        enable_batching=True,
        enable_per_model_batching_parameters=True,
        max_request_bytes=MOST_BYTES,
        rest_api_timeout_in_ms=600_000,
    )
    yield found
    found.server.stop(0.5)


def _wait(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def _answers(served: Served) -> bool:
    return served.rest(HALF, BODY) == (200, {"outputs": [2.5]})


# --- callers that hang up ------------------------------------------------------------


def test_callers_that_hang_up_end_their_batch(batching: Served) -> None:
    import grpc

    servable = batching.server.manager.available()["moody"][0]
    with grpc.insecure_channel(f"127.0.0.1:{batching.server.grpc_port}") as channel:
        method = channel.unary_unary(
            PREDICT, PredictRequest.SerializeToString, PredictResponse.FromString
        )
        # Neither has a deadline; the batch would run for ever.
        calls = [method.future(rows_request(v)) for v in (-1.0, 1.0)]
        _wait(lambda: servable.holders == 2 and not servable.waiting())
        assert _answers(batching)
        for call in calls:
            call.cancel()
        _wait(lambda: not servable.holders)


def test_who_stays_gets_the_answer(batching: Served) -> None:
    """A caller leaves while its batch waits for more; the batch runs without it."""
    servable = batching.server.manager.available()["moody"][0]
    with _connection(batching) as gone:
        body = b'{"signature_name": "rows", "inputs": [[-1.0, 1.0]]}'
        head = f"POST {MOODY} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n"
        gone.sendall(head.encode() + b"\r\n" + body)
        _wait(servable.waiting)
    # It is looked for after a second: the cancellation may come before the batch is
    # full, and then its endless row is not run, or after, and then nothing is.
    stay = {"signature_name": "rows", "inputs": [[1.0, 1.0]]}
    _wait(lambda: _is_cancelled(servable))
    assert batching.rest(MOODY, stay) == (200, {"outputs": [2.0]})
    _wait(lambda: not servable.holders)


def _is_cancelled(servable: Any) -> bool:
    batcher = servable.runner.__self__
    waiting = [b for queue in batcher._queues.values() for b in queue._waiting]
    return any(task.is_cancelled for batch in waiting for task in batch.tasks)


def _connection(served: Served) -> socket.socket:
    return socket.create_connection(
        ("127.0.0.1", served.server.rest_port or 0), timeout=120
    )


# --- bodies --------------------------------------------------------------------------


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _nested_variants(depth: int) -> bytes:
    """A `TensorProto` in a variant in a `TensorProto`, and so on."""
    content = b""
    for _ in range(depth):
        content = _field(15, _field(3, content))
    return content


def _tensor_request(tensor: bytes) -> bytes:
    return _field(1, _field(1, b"half")) + _field(
        2, _field(1, b"x") + _field(2, tensor)
    )


def _shape_request(*sizes: int) -> bytes:
    shape = b"".join(_field(2, b"\x08" + _varint(size)) for size in sizes)
    return _tensor_request(b"\x08\x01" + _field(2, shape) + _field(5, b"\0\0\x80\x3f"))


_MESSAGE = {"content_type": "application/x-protobuf"}
_GZIP = {"content_encoding": "gzip"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "error"),
    [
        pytest.param(b"[" * 100_000, {}, 400, "nested too deeply", id="lists"),
        pytest.param(b'{"a":' * 20_000, {}, 400, "nested too deeply", id="objects"),
        pytest.param(
            b'{"instances": ' + b"[" * 900 + b"1" + b"]" * 900 + b"}",
            {},
            400,
            "process element: 0",
            id="ranks",
        ),
        pytest.param(
            b'{"inputs": [1' + b"0" * 100_000 + b"]}", {}, 400, "digits", id="digits"
        ),
        pytest.param(b"\0" * 1000, {}, 400, "JSON Parse error", id="zeros"),
        pytest.param(
            _tensor_request(_nested_variants(5000)),
            _MESSAGE,
            400,
            "is no PredictRequest",
            id="messages",
        ),
        pytest.param(
            b"\x12" + _varint(1 << 62) + b"x",
            _MESSAGE,
            400,
            "is no PredictRequest",
            id="length",
        ),
        pytest.param(
            _shape_request(1 << 40), _MESSAGE, 400, "may not stand for", id="repeated"
        ),
        pytest.param(
            _shape_request(1 << 62, 1 << 62), _MESSAGE, 400, "too many", id="overflow"
        ),
        pytest.param(_shape_request(*[1] * 300), _MESSAGE, 400, "", id="dimensions"),
        pytest.param(
            gzip.compress(b" " * (1 << 24)), _GZIP, 429, "takes 200000", id="gzip"
        ),
        pytest.param(b"x" * (MOST_BYTES + 1), {}, 429, "takes 200000", id="announced"),
    ],
)
def test_bodies_that_mean_harm(
    batching: Served, body: bytes, headers: Any, status: int, error: str
) -> None:
    found, answer = batching.rest(HALF, body, **headers)
    assert (found, error in answer["error"]) == (status, True), answer
    assert _answers(batching)


def test_a_body_without_end(batching: Served) -> None:
    with _connection(batching) as caller:
        head = f"POST {HALF} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        caller.sendall(head.encode())
        part = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(7):
                caller.sendall(part)
        assert b" 429 " in caller.recv(100)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (_tensor_request(_nested_variants(5000)), "INVALID_ARGUMENT"),
        (_shape_request(1 << 40), "INVALID_ARGUMENT"),
        (b"\0" * (MOST_BYTES + 1), "RESOURCE_EXHAUSTED"),
    ],
)
def test_messages_that_mean_harm(batching: Served, content: bytes, code: str) -> None:
    import grpc

    with grpc.insecure_channel(f"127.0.0.1:{batching.server.grpc_port}") as channel:
        method = channel.unary_unary(PREDICT)
        with pytest.raises(grpc.RpcError) as caught:
            method(content, timeout=120)
    assert caught.value.code().name == code
    assert _answers(batching)


# --- models --------------------------------------------------------------------------


def test_a_model_that_runs_for_ever(batching: Served) -> None:
    """Its own callers get what their deadlines say; the others notice nothing."""
    found: list[str] = []

    def call() -> None:
        import grpc

        try:
            batching.call(PREDICT, rows_request(-1.0), PredictResponse, timeout=0.5)
        except grpc.RpcError as error:
            found.append(error.code().name)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    servable = batching.server.manager.available()["moody"][0]
    while any(caller.is_alive() for caller in callers):
        assert _answers(batching)
    assert found == ["DEADLINE_EXCEEDED"] * 4
    _wait(lambda: not servable.holders)
