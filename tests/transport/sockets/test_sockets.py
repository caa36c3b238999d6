"""Calls between tensorloom's tasks on sockets, with and without shared memory."""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.grpc.server import GrpcServer
from tensorloom.transport.grpc.stream_server import StreamServer, new_endpoint
from tensorloom.transport.memory.shared_memory import MIN_BYTES
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets.channel import SocketChannel
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.sockets.frame_answers import Caller, FrameAnswers
from tensorloom.transport.sockets.server import SocketServer
from tensorloom.transport.wire import frames, packing, value_methods
from tensorloom.transport.wire.methods import worker_methods

RUN = value_methods.RUN_GRAPH
DEVICE = "/job:%s/replica:0/task:%d/device:CPU:0"
KEY = f"{DEVICE % ('b', 1)};0000000000000001;{DEVICE % ('a', 0)};edge;0:0"


class Service:
    """A peer that doubles what it gets."""

    def __init__(self) -> None:
        self.began = threading.Event()  # a call that waits
        self.release = threading.Event()
        self.cancelled = threading.Event()
        self.pushed: list[tuple[int, Sequence[value_methods.Sent]]] = []
        self.failures: list[tuple[int, errors.OpError]] = []
        self.lost: list[str] = []
        self.heard = threading.Event()

    def run(self, header: bytes, values: list[Any], call: Any) -> tuple[bytes, Any]:
        if header == b"fail":
            raise errors.NotFoundError(None, None, "no such thing")
        if header == b"wait":
            call.on_cancel(self.cancelled.set)
            self.began.set()
            self.release.wait(60)
        return header, [value * 2 for value in values]

    def get_status(self, request: Any, call: Any) -> Any:
        response = worker_methods()["GetStatus"].response()
        response.device_attributes.add(name="device")
        return response

    def send_tensors(self, step_id: int, keys: Any, push: Any) -> None:
        for key in reversed(keys):
            error = errors.AbortedError(None, None, "gone") if key == "bad" else None
            push(step_id, key, np.full(3, step_id), key == "dead", error)

    def take_pushed(self, step_id: int, tensors: Sequence[value_methods.Sent]) -> None:
        self.pushed.append((step_id, tensors))
        self.heard.set()

    def take_failure(self, step_id: int, error: errors.OpError) -> None:
        self.failures.append((step_id, error))
        self.heard.set()

    def lose_pusher(self, task: str) -> None:
        self.lost.append(task)
        self.heard.set()


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture(params=["unix", "tcp", "grpc"])
def channel(request: Any, service: Service) -> Iterator[SocketChannel]:
    if request.param == "grpc":
        yield from stream_channel(service)
        return
    listener, endpoint = (
        socket_address.listen_locally()
        if request.param == "unix"
        else socket_address.listen_on("127.0.0.1")
    )
    server = make_server(listener, service)
    channel = SocketChannel(endpoint, "/job:a/replica:0/task:0", b"word")
    yield channel
    service.release.set()
    channel.close()
    server.stop()


def stream_channel(service: Service) -> Iterator[SocketChannel]:
    endpoint = new_endpoint()
    streams = StreamServer(endpoint, answers_of(service))
    server = GrpcServer({}, "127.0.0.1:0", streams=streams)
    server.start()
    grpc_channel = GrpcChannel(f"127.0.0.1:{server.port}")
    name = "/job:a/replica:0/task:0"
    channel = SocketChannel(endpoint, name, open_stream=grpc_channel.open_stream)
    yield channel
    service.release.set()
    channel.close()
    grpc_channel.close()
    server.stop()


def answers_of(service: Service) -> FrameAnswers:
    return FrameAnswers(
        {worker_methods()["GetStatus"]: service.get_status},
        {RUN: service.run},
        service.send_tensors,
        service,
    )


def make_server(listener: socket.socket, service: Service) -> SocketServer:
    server = SocketServer(listener, answers_of(service), b"word")
    server.start()
    return server


@pytest.mark.parametrize("size", [0, 1, 1000, MIN_BYTES, 3_000_000])
def test_values_go_and_come(channel: SocketChannel, size: int) -> None:
    array = np.arange(size, dtype=np.float32)
    for _ in range(3):
        header, (doubled, number) = channel.call_values(RUN, b"h", [array, np.int64(4)])
        assert header == b"h"
        assert number == 8
        np.testing.assert_array_equal(doubled, array * 2)
        doubled += 1  # it is the receiver's own


def test_kept_results_stay_as_they_are(channel: SocketChannel) -> None:
    kept = [
        channel.call_values(RUN, b"", [np.full(MIN_BYTES, i, np.uint8)])[1][0]
        for i in range(20)
    ]
    assert [int(array[-1]) for array in kept] == [2 * i for i in range(20)]


def test_messages(channel: SocketChannel) -> None:
    method = worker_methods()["GetStatus"]
    response = channel.call(method, method.request())
    assert response.device_attributes[0].name == "device"
    with pytest.raises(errors.UnimplementedError):
        channel.call(worker_methods()["Logging"], worker_methods()["Logging"].request())


def test_errors_cross(channel: SocketChannel) -> None:
    with pytest.raises(errors.NotFoundError, match="no such thing"):
        channel.call_values(RUN, b"fail", [])
    assert channel.call_values(RUN, b"still", [])[0] == b"still"


def test_a_slow_call_does_not_hold_up_others(
    channel: SocketChannel, service: Service
) -> None:
    reply = channel.begin_values(RUN, b"wait", [np.ones(2)])
    assert channel.call_values(RUN, b"quick", [])[0] == b"quick"
    service.release.set()
    np.testing.assert_array_equal(reply.take()[1][0], [2, 2])


def test_hanging_up_cancels_the_call(channel: SocketChannel, service: Service) -> None:
    reply = channel.begin_values(RUN, b"wait", [])
    assert service.began.wait(60)
    reply.cancel()
    assert service.cancelled.wait(60)
    with pytest.raises(errors.CancelledError):
        reply.take()


def test_a_limit(channel: SocketChannel, service: Service) -> None:
    with pytest.raises(errors.DeadlineExceededError, match=r"within 0\.1 s"):
        channel.call_values(RUN, b"wait", [], timeout_s=0.1)
    # gRPC may have thrown away a call that the task had no time to take.
    assert not service.began.wait(1) or service.cancelled.wait(60)


def test_a_call_that_is_read_after_its_caller_hung_up(service: Service) -> None:
    current, written = Caller(), []
    current.cancel()
    service.release.set()
    frame = frames.Frame(frames.VALUES, 0, RUN, b"wait", np.empty(0, np.uint8))
    answers_of(service).answer(frame, current, lambda *a, **_: written.append(a), print)
    assert service.cancelled.is_set()
    assert written == [(frames.REPLY,)]
    assert not current.is_calling


def test_tensors_come_in_any_order(channel: SocketChannel) -> None:
    got: dict[str, Any] = {}
    all_there = threading.Event()

    def taker(key: str) -> Any:
        def take(value: Any, is_dead: bool, error: Any) -> None:
            got[key] = value, is_dead, error
            if len(got) == 3:
                all_there.set()

        return take

    channel.recv_tensors(7, ["a", "dead", "bad"], taker)
    assert all_there.wait(60)
    assert got["a"][0].tolist() == [7, 7, 7]
    assert not got["a"][1]
    assert got["dead"][1]
    assert isinstance(got["bad"][2], errors.AbortedError)


def test_pushes(channel: SocketChannel, service: Service) -> None:
    channel.push(5, [(KEY, np.ones(2), False), ("", np.int32(3), True)])
    assert service.heard.wait(60)
    step_id, tensors = service.pushed[0]
    assert step_id == 5
    assert [(key, value.tolist(), is_dead) for key, value, is_dead in tensors] == [
        (KEY, [1, 1], False),
        ("", 3, True),
    ]
    service.heard.clear()
    channel.push_failure(6, errors.DataLossError(None, None, "lost"))
    assert service.heard.wait(60)
    assert isinstance(service.failures[0][1], errors.DataLossError)


def test_who_says_nothing_right_is_not_heard(service: Service) -> None:
    listener, endpoint = socket_address.listen_locally()
    server = make_server(listener, service)
    try:
        with pytest.raises(errors.UnauthenticatedError):
            SocketChannel(endpoint, "task", b"wrong").call_values(RUN, b"", [])
        stranger = socket_address.connect(endpoint, 5)
        stranger.sendall(os.urandom(64))
        assert stranger.recv(100) == b""  # hung up, without an answer
        stranger.close()
        good = SocketChannel(endpoint, "task", b"word")
        assert good.call_values(RUN, b"x", [])[0] == b"x"
        good.close()
    finally:
        server.stop()


def test_an_endpoint_that_is_gone() -> None:
    listener, endpoint = socket_address.listen_locally()
    listener.close()
    with pytest.raises(NotConnected):
        SocketChannel(endpoint, "task").call_values(RUN, b"", [])


def test_a_server_that_stops_says_so_to_who_waits(service: Service) -> None:
    listener, endpoint = socket_address.listen_locally()
    server = make_server(listener, service)
    channel = SocketChannel(endpoint, "/job:a/replica:0/task:0", b"word")
    reply = channel.begin_values(RUN, b"wait", [])
    lost = threading.Event()
    reply.watch(lost.set)
    assert service.began.wait(60)
    server.stop()
    assert lost.wait(60)
    with pytest.raises(errors.UnavailableError, match="/job:a/replica:0/task:0"):
        reply.take()
    service.release.set()
    channel.close()


def listener_at(endpoint: str) -> socket.socket:
    """A new listener at an endpoint whose server is stopping."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deadline = time.monotonic() + 60
    while True:
        try:
            listener.bind("\0" + endpoint.split("@")[1])
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    listener.listen()
    return listener


def test_connections_that_were_closed_while_idle(service: Service) -> None:
    listener, endpoint = socket_address.listen_locally()
    server = make_server(listener, service)
    channel = SocketChannel(endpoint, "/job:a/replica:0/task:0", b"word")
    replies = [channel.begin_values(RUN, b"", [np.ones(2)]) for _ in range(3)]
    for reply in replies:
        reply.take()
    server.stop()
    server = make_server(listener_at(endpoint), service)
    reply = channel.begin_values(RUN, b"", [np.ones(2)])
    np.testing.assert_array_equal(reply.take()[1][0], [2, 2])
    for _ in range(3):  # whichever connection it takes
        channel.call_values(RUN, b"", [])
    server.stop()
    with pytest.raises(NotConnected):
        channel.call_values(RUN, b"", [])
    channel.close()


def test_what_calls_at_one_time_leave(channel: SocketChannel) -> None:
    """Their connections are closed when they were not used for a while, but one."""
    replies = [channel.begin_values(RUN, b"", []) for _ in range(4)]
    for reply in replies:
        reply.take()
    channel.close_unused()
    assert len(channel._idle) == 4  # they may be wanted at once
    last = channel._idle[-1]
    for connection in channel._idle:
        connection.idle_since -= 2 * threads.IDLE_SECONDS
    channel.close_unused()
    assert channel._idle == [last]
    channel.call_values(RUN, b"", [])
    assert channel._idle == [last]


def test_a_reply_that_came_before_it_was_given_up(channel: SocketChannel) -> None:
    for _ in range(3):
        reply = channel.begin_values(RUN, b"", [np.ones(2)])
        time.sleep(0.05)  # it is there
        reply.cancel()
        with suppress(errors.CancelledError):
            reply.take()
        np.testing.assert_array_equal(
            channel.call_values(RUN, b"", [np.ones(2)])[1][0], [2, 2]
        )


@pytest.mark.parametrize("header", [b"well", b"fail"])
def test_what_is_done_after_the_reply(service: Service, header: bytes) -> None:
    def run(header: bytes, values: list[Any], call: Any) -> tuple[bytes, Any]:
        call.after_reply(lambda: service.release.wait(60) and service.heard.set())
        if header == b"fail":
            raise errors.NotFoundError(None, None, "no such thing")
        return header, []

    service.run = run  # type: ignore[method-assign]
    listener, endpoint = socket_address.listen_locally()
    server = make_server(listener, service)
    channel = SocketChannel(endpoint, "task", b"word")
    reply = channel.begin_values(RUN, header, [])
    with suppress(errors.NotFoundError):
        assert reply.take() == (header, [])
    assert not service.heard.is_set()
    service.release.set()
    assert service.heard.wait(60)
    channel.close()
    server.stop()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_no_descriptor_is_left(service: Service) -> None:
    def used() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    def once() -> None:
        listener, endpoint = socket_address.listen_locally()
        server = make_server(listener, service)
        channel = SocketChannel(endpoint, "task", b"word")
        for _ in range(3):
            channel.call_values(RUN, b"", [np.ones(MIN_BYTES)])
        channel.push(1, [(KEY, np.ones(MIN_BYTES), False)])
        channel.close()
        server.stop()

    once()
    service.pushed.clear()
    before = used()
    for _ in range(5):
        once()
    service.pushed.clear()
    deadline = time.monotonic() + 60
    # Each time would leave one; threads of other tests may open some meanwhile.
    while used() >= before + 5 and time.monotonic() < deadline:
        service.pushed.clear()  # the last ones came late
        time.sleep(0.05)
    assert used() < before + 5


@pytest.mark.parametrize(
    "content",
    [
        b"\xff" * 64,
        frames._HEAD.pack(frames.CALL, 0, 0, 2**31, 0),
        bytes([frames.CALL | frames.SHARED]) + b"\0" * 63,
    ],
)
def test_malformed_frames(content: bytes) -> None:
    a, b = socket.socketpair()
    a.sendall(content)
    a.close()
    reader = frames.FrameReader(b)
    with pytest.raises((errors.InvalidArgumentError, frames.Closed)):
        _ = [reader.read() for _ in range(len(content))]
    b.close()


def test_a_task_hears_who_pushes_no_more(
    channel: SocketChannel, service: Service
) -> None:
    channel.push_failure(1, errors.DataLossError(None, None, "shows no name"))
    for step_id in range(3):
        channel.push(step_id, [(KEY, np.ones(3), False)])
        if channel.endpoint.startswith("unix:"):  # there nothing gets lost
            continue
        assert service.pushed, "between machines the first is acknowledged"
    deadline = time.monotonic() + 60
    while len(service.pushed) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not service.lost
    channel.close()
    while not service.lost and time.monotonic() < deadline:
        time.sleep(0.01)
    assert service.lost == ["/job:b/replica:0/task:1"]


@pytest.mark.parametrize("key", ["no key", "/job:/task:x;1;/job:a/task:0;e;0:0"])
def test_a_push_that_names_no_task(service: Service, key: str) -> None:
    body, _ = packing.pack([np.ones(3)])
    header = value_methods.STEP_ID.pack(1)
    header += value_methods.packed_keys([(key, None, False)])
    frame = frames.Frame(
        frames.VALUES,
        0,
        value_methods.PUSH,
        header,
        np.frombuffer(b"".join(body), "u1"),
    )
    with pytest.raises(errors.InvalidArgumentError):
        answers_of(service).answer(frame, Caller(), _ignore, _ignore)
    assert not service.pushed


def _ignore(*_: Any, **__: Any) -> None:
    pass
