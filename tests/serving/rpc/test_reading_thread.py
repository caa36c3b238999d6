"""Calls that are answered by the thread that reads them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from tensorloom.framework import errors
from tensorloom.protos.serving.model_pb2 import ModelSpec
from tensorloom.serving.calls import tensor_values
from tensorloom.serving.calls.limits import LITTLE_BYTES
from tensorloom.serving.rpc.grpc_server import GrpcServer
from tensorloom.serving.rpc.service import Method
from tensorloom.serving.security.api_keys import ApiKeys

if TYPE_CHECKING:
    from tensorloom.serving.observe.observer import Call

PATH = "/tests.Service/Tell"


class _Service:
    """Answers with the name of its thread; what it does is the request's name."""

    def __init__(self) -> None:
        self.began, self.cancelled = threading.Event(), threading.Event()
        self.may_end = threading.Event()
        self.call: Call | None = None

    def methods(self) -> dict[str, Method]:
        return {PATH: Method(ModelSpec, self._of_grpcio, begin=self._answer)}

    def _of_grpcio(self, request: Any, call: Call) -> Any:
        return ModelSpec(name="by grpcio")

    async def _answer(self, request: Any, call: Call) -> Any:
        self.call = call
        if request.name == "wrong":
            raise errors.NotFoundError(None, None, "not there " + "x" * 2000)
        if request.name == "broken":
            raise KeyError("ours")
        if request.name in ("leave", "wait"):
            await call.limits.leave_thread()
        if request.name == "wait":
            call.limits.cancellation.register(self.cancelled.set)
            self.began.set()
            assert self.may_end.wait(30)
        return ModelSpec(name=str(threading.get_ident()))


@contextmanager
def _started(*keys: str, **options: Any) -> Iterator[tuple[_Service, Any, GrpcServer]]:
    """(the service, what calls it, its server)."""
    service = _Service()
    server = GrpcServer(
        service.methods(), ["127.0.0.1:0"], ApiKeys(list(keys)), **options
    )
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        method = channel.unary_unary(
            PATH, lambda r: r.SerializeToString(), ModelSpec.FromString
        )
        try:
            yield service, method, server
        finally:
            service.may_end.set()
            server.stop()


def _call(method: Any, name: str = "", **options: Any) -> str:
    found: str = method(ModelSpec(name=name), timeout=30, **options).name
    return found


def _code(method: Any, name: str = "", **options: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as caught:
        _call(method, name, **options)
    return caught.value.code().name, caught.value.details()


def test_a_call_leaves_the_thread_when_it_has_to() -> None:
    with _started() as (service, method, _):
        reader = _call(method)
        assert [_call(method) for _ in range(3)] == [reader] * 3
        assert _call(method, "leave") != reader
        assert _call(method, "x" * LITTLE_BYTES) != reader
        assert _call(method) == reader
        assert service.call is not None
        assert 0 < (service.call.limits.rest_s() or 0) < 40
        assert service.call.peer.startswith("ipv4:127.0.0.1:")
        assert method(ModelSpec()).name == reader
        assert service.call.limits.deadline is None


def test_errors() -> None:
    with _started() as (_, method, server):
        code, message = _code(method, "wrong")
        assert code == "NOT_FOUND"
        assert message.startswith("not there xxx")
        assert message.endswith("...TRUNCATED")
        assert _code(method, "broken")[0] == "INTERNAL"
        with grpc.insecure_channel(f"127.0.0.1:{server.ports[0]}") as channel:
            call = channel.unary_unary(PATH)
            with pytest.raises(grpc.RpcError) as caught:
                call(b"\xff\xff", timeout=30)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            none: list[bytes] = []
            empty = channel.stream_unary(PATH)
            with pytest.raises(grpc.RpcError) as caught:
                empty(iter(none), timeout=30)
            assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
            other = channel.unary_unary("/tests.Service/None")
            with pytest.raises(grpc.RpcError) as caught:
                other(b"", timeout=30)
            assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert _call(method)


@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_a_caller_that_goes_ends_its_call(how: str) -> None:
    with _started() as (service, method, _):
        future = method.future(
            ModelSpec(name="wait"), timeout=30 if how == "cancel" else 1
        )
        assert service.began.wait(30)
        if how == "cancel":
            future.cancel()
        assert service.cancelled.wait(30)
        assert _call(method)  # others go on
        service.may_end.set()


def test_keys() -> None:
    with _started("secret") as (_, method, _):
        assert _code(method)[0] == "UNAUTHENTICATED"
        assert _call(method, metadata=(("x-api-key", "secret"),))


def test_no_more_calls_than_may_be() -> None:
    with _started(most_calls=1) as (service, method, _):
        future = method.future(ModelSpec(name="wait"), timeout=30)
        assert service.began.wait(30)
        assert _code(method)[0] == "RESOURCE_EXHAUSTED"
        service.may_end.set()
        future.result(30)
        assert all(_call(method) for _ in range(3))


def test_a_stop_waits_for_calls() -> None:
    with _started() as (service, method, server):
        future = method.future(ModelSpec(name="wait"), timeout=30)
        assert service.began.wait(30)
        stopping = threading.Thread(target=server.stop, args=(30.0,))
        stopping.start()
        service.may_end.set()
        assert future.result(30).name
        stopping.join(30)
        assert not stopping.is_alive()


@pytest.mark.parametrize("missing", ["_request_call", "_REQUEST_CALL_TAG"])
def test_another_grpcio_answers_itself(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grpc import _server

    with monkeypatch.context() as patch:  # grpcio needs it for itself, later
        patch.delattr(_server, missing)
        with pytest.warns(RuntimeWarning, match="small calls are slower"):
            server = GrpcServer(_Service().methods(), ["127.0.0.1:0"], ApiKeys([]))
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        method = channel.unary_unary(
            PATH, lambda r: r.SerializeToString(), ModelSpec.FromString
        )
        assert _call(method) == "by grpcio"
    server.stop()


@pytest.mark.parametrize(
    ("shape", "is_little"),
    [((), True), ((3, 0, 1 << 40), True), ((128, 128), True), ((1 << 20, 1), False)],
)
def test_what_a_tensor_claims(shape: tuple[int, ...], is_little: bool) -> None:
    from tensorloom.protos.tensor_pb2 import TensorProto

    proto: Any = TensorProto(float_val=[1.0])
    for size in shape:
        proto.tensor_shape.dim.add().size = size
    assert tensor_values.is_little(proto) is is_little
