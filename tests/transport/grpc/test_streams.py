"""Connections that are streams of gRPC messages: what sockets do not have."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.protos.worker_pb2 import TaskInfo
from tensorloom.transport.grpc import stream as grpc_stream
from tensorloom.transport.grpc import stream_connection
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.grpc.server import GrpcServer
from tensorloom.transport.grpc.stream import GrpcStream, StreamEnded
from tensorloom.transport.grpc.stream_server import StreamServer, new_endpoint
from tensorloom.transport.negotiated import NegotiatedChannel
from tensorloom.transport.sockets.channel import SocketChannel
from tests.transport.sockets.test_sockets import KEY, RUN, Service, answers_of

TASK = "/job:a/replica:0/task:0"


class Task:
    """A task that is reached by streams alone."""

    def __init__(self) -> None:
        self.service = Service()
        self.endpoint = new_endpoint()
        streams = StreamServer(self.endpoint, answers_of(self.service))
        self.server = GrpcServer({}, "127.0.0.1:0", streams=streams)
        self.server.start()
        self.grpc = GrpcChannel(f"127.0.0.1:{self.server.port}")
        self.channel = SocketChannel(
            self.endpoint, TASK, open_stream=self.grpc.open_stream
        )

    def stop(self) -> None:
        self.service.release.set()
        self.server.stop()


@pytest.fixture
def task() -> Iterator[Task]:
    task = Task()
    yield task
    task.channel.close()
    task.grpc.close()
    task.stop()


def test_this_grpcio_has_what_streams_need() -> None:
    assert grpc_stream.is_supported()


def test_without_streams_there_are_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> None:
        raise AttributeError("no such operation")

    monkeypatch.setattr(GrpcStream, "__init__", missing)
    grpc_stream.is_supported.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="slower.*no such operation"):
            assert not grpc_stream.is_supported()
        channel = NegotiatedChannel("127.0.0.1:1")
        channel.negotiate(TaskInfo(endpoint=[new_endpoint()], task=TASK))
        assert channel.values is None
        channel.close()
    finally:
        grpc_stream.is_supported.cache_clear()


def test_an_exchange_needs_no_other_thread(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine: a stream that was idle for a while is asked first.
    monkeypatch.setattr(stream_connection, "_FRESH_S", 60.0)
    task.channel.call_values(RUN, b"", [])
    before = set(threading.enumerate())
    for _ in range(20):
        task.channel.call_values(RUN, b"", [np.int64(1)])
    assert set(threading.enumerate()) <= before


def test_many_threads_have_streams_of_their_own(task: Task) -> None:
    found: list[int] = []

    def call(number: int) -> None:
        for _ in range(20):
            _, (value,) = task.channel.call_values(RUN, b"", [np.int64(number)])
            found.append(int(value) - 2 * number)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [0] * 160


@pytest.mark.parametrize("sizes", [[10], [5_000_000], [10, 5_000_000, 20]])
def test_what_is_pushed_arrives_in_order(task: Task, sizes: list[int]) -> None:
    for step, size in enumerate(sizes):
        task.channel.push(step, [(KEY, np.full(size, step, np.uint8), False)])
    while len(task.service.pushed) < len(sizes):
        assert task.service.heard.wait(60)
        task.service.heard.clear()
    for step, size in enumerate(sizes):
        found, ((_, value, _),) = task.service.pushed[step]
        assert (found, len(value), int(value[-1])) == (step, size, step)


def test_a_stream_that_was_idle_is_asked_first(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_connection, "_FRESH_S", 0.0)
    for _ in range(3):
        assert task.channel.call_values(RUN, b"h", [])[0] == b"h"
        task.channel.push(1, [(KEY, np.int64(1), False)])


def test_a_task_that_went_is_found_before_a_call(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_connection, "_FRESH_S", 0.0)
    # One that takes long to say that it is gone would be taken for one that is there.
    monkeypatch.setattr(stream_connection, "_ANSWER_S", 60.0)
    task.channel.call_values(RUN, b"", [])
    task.channel.push(1, [(KEY, np.int64(1), False)])
    task.stop()
    with pytest.raises(stream_connection.NotConnected):
        task.channel.call_values(RUN, b"", [])
    with pytest.raises(stream_connection.NotConnected):
        task.channel.push(2, [(KEY, np.int64(1), False)])


def test_who_does_not_read_hears_of_a_hangup(task: Task) -> None:
    reply = task.channel.begin_values(RUN, b"wait", [])
    gone = threading.Event()
    reply.watch(gone.set)
    task.server.stop()
    assert gone.wait(60)
    with pytest.raises(errors.UnavailableError):
        reply.take()


def test_who_comes_late_gets_the_reply(task: Task) -> None:
    reply = task.channel.begin_values(RUN, b"wait", [np.int64(4)])
    reply.watch(lambda: pytest.fail("it is there"))
    time.sleep(2.5 * stream_connection._LATE_S)  # another thread reads ahead now
    task.service.release.set()
    assert reply.take() == (b"wait", [8])
    assert task.channel.call_values(RUN, b"h", [])[0] == b"h"


def test_a_late_reader_is_cancelled(task: Task) -> None:
    reply = task.channel.begin_values(RUN, b"wait", [])
    reply.watch(lambda: None)
    assert task.service.began.wait(60)
    time.sleep(2.5 * stream_connection._LATE_S)
    threading.Timer(0.1, reply.cancel).start()
    with pytest.raises(errors.CancelledError):
        reply.take()
    assert task.service.cancelled.wait(60)


@pytest.fixture
def echo() -> Iterator[GrpcStream]:
    """A stream on which everything comes back."""

    class Router(grpc.GenericRpcHandler):
        def service(self, details: Any) -> Any:
            return grpc.stream_stream_rpc_method_handler(lambda sent, _: sent)

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Router(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    stream = GrpcStream(channel, None)
    yield stream
    stream.close()
    channel.close()
    server.stop(None).wait()


def test_many_may_send_while_one_receives(echo: GrpcStream) -> None:
    def send(letter: bytes) -> None:
        for _ in range(50):
            echo.send(letter)
            echo.wait_sent()

    senders = [threading.Thread(target=send, args=(b"%d" % i,)) for i in range(4)]
    for sender in senders:
        sender.start()
    received = [echo.receive() for _ in range(200)]
    for sender in senders:
        sender.join()
    assert sorted(received) == sorted([b"0", b"1", b"2", b"3"] * 50)


def test_an_end_wakes_who_receives(echo: GrpcStream) -> None:
    threading.Timer(0.1, echo.cancel).start()
    with pytest.raises(StreamEnded, match="Locally cancelled"):
        echo.receive()
    with pytest.raises(StreamEnded):
        echo.send(b"!")
    with pytest.raises(StreamEnded):
        echo.wait_sent()


def test_tensors_of_a_step_come_as_they_are_asked_for(task: Task) -> None:
    found: dict[str, Any] = {}
    done = threading.Event()

    def receiver(key: str) -> Any:
        def take(value: Any, is_dead: bool, error: Any) -> None:
            found[key] = value, is_dead, error
            if len(found) == 40:
                done.set()

        return take

    for step in range(20):
        task.channel.recv_tensors(step, [f"a{step}", f"b{step}"], receiver)
    assert done.wait(60)
    assert all(list(found[f"a{i}"][0]) == [i] * 3 for i in range(20))
