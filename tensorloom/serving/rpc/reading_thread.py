"""Small calls, answered by the thread that reads them from the network.

grpcio gives each call to another thread, which asks for the message and waits for it.
Handing over and waking cost more than a small step. Here the thread that polls gRPC's
completion queue asks for the message, and answers when it is there. A call that would
hold up others leaves that thread (`CallLimits.leave_thread`), and all other methods are
grpcio's.

What this stands on is no public interface of grpcio: where it is missing,
`answer_small_calls` says so, and grpcio answers everything.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.serving.calls.limits import LITTLE_BYTES, CallLimits
from tensorloom.serving.observe.observer import Call
from tensorloom.serving.rpc.service import cut, deadline_after, headers_of, parser
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    import grpc

    from tensorloom.serving.rpc.service import Begin, Method, Methods
    from tensorloom.serving.security.api_keys import ApiKeys

_logger = logging.getLogger("tensorloom.serving")

#: What grpcio calls with an event: (a call that is over or None, more to call).
_Passed = tuple[Any, tuple[()]]


def answer_small_calls(server: grpc.Server, methods: Methods, keys: ApiKeys) -> bool:
    """Has methods that can `begin` answered so, before the server starts.

    Args:
      server: grpcio's.
      methods: of the server.
      keys: that callers need.

    Returns:
      Whether it could be done with this grpcio.
    """
    try:
        _SmallCalls(methods, keys).take_over(server)
    except (ImportError, AttributeError, TypeError) as error:
        import grpc

        warnings.warn(
            f"With grpcio {grpc.__version__} small calls are slower: they cannot be "
            f"answered by the thread that reads them ({error})",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


class _Operations:
    """What can be asked of gRPC for a call."""

    def __init__(self) -> None:
        from grpc._cython import cygrpc

        self._api = cygrpc
        # One that is not there, or takes something else, is found out now.
        self.hear_end()
        self.receive()
        self.send(b"")
        self.fail(errors.INTERNAL, "")

    def hear_end(self) -> tuple[Any, ...]:
        """Tells of the end of the call, and whether it was cancelled."""
        return (self._api.ReceiveCloseOnServerOperation(0),)

    def receive(self) -> tuple[Any, ...]:
        """Brings the message."""
        return (self._api.ReceiveMessageOperation(0),)

    def send(self, response: bytes) -> tuple[Any, ...]:
        """Answers."""
        return (
            self._api.SendInitialMetadataOperation(None, 0),
            self._api.SendMessageOperation(response, 0),
            self._api.SendStatusFromServerOperation(None, errors.OK, b"", 0),
        )

    def fail(self, code: int, message: str) -> tuple[Any, ...]:
        """Answers with an error."""
        details = message.encode()
        return (
            self._api.SendInitialMetadataOperation(None, 0),
            self._api.SendStatusFromServerOperation(None, code, details, 0),
        )


class _SmallCalls:
    """Takes calls of some methods before grpcio does."""

    def __init__(self, methods: Methods, keys: ApiKeys) -> None:
        self._begins: Mapping[bytes, tuple[Method, Begin]] = {
            path.encode(): (method, method.begin)
            for path, method in methods.items()
            if method.begin is not None
        }
        self._keys = keys
        self._operations = _Operations()
        self._state: Any = None

    def take_over(self, server: Any) -> None:
        """Looks at the server's events first, from now on.

        Raises:
          AttributeError, ImportError, TypeError: this grpcio is made otherwise.
        """
        from grpc import _server as internals
        from grpc._cython import cygrpc

        self._call_came = internals._REQUEST_CALL_TAG
        self._wait_for_another = internals._request_call
        self._is_started = internals._ServerStage.STARTED
        state = self._state = server._state
        if not isinstance(state.completion_queue, cygrpc.CompletionQueue):
            raise TypeError("its queue is of another kind")
        _ = state.lock, state.stage, state.due, state.rpc_states
        _ = state.active_rpc_count, state.maximum_concurrent_rpcs
        take = self._take

        class Queue(cygrpc.CompletionQueue):  # type: ignore[misc]
            def poll(self, *deadline: Any) -> Any:
                event = super().poll(*deadline)
                while take(event):
                    event = None  # what it holds of a call ends before the next one
                    event = super().poll(*deadline)
                return event

        queue = Queue()
        state.server.register_completion_queue(queue)
        state.completion_queue = queue

    def _take(self, event: Any) -> bool:
        """Begins to answer a call; False: grpcio has to, or it is no call."""
        if event.tag is not self._call_came or not event.success:
            return False
        found = self._begins.get(event.call_details.method)
        if found is None:
            return False
        method, begin = found
        headers = headers_of(event.invocation_metadata)
        try:
            self._keys.check(headers)
        except errors.UnauthenticatedError:
            return False  # refused there
        state = self._state
        with state.lock:
            most = state.maximum_concurrent_rpcs
            is_full = most is not None and state.active_rpc_count >= most
            if is_full or state.stage is not self._is_started:
                return False
            call = _SmallCall(self, event, method, begin, headers)
            state.due.remove(self._call_came)
            state.rpc_states.add(call)
            state.active_rpc_count += 1
            self._wait_for_another(state)
        call.start()
        return True

    @property
    def operations(self) -> _Operations:
        """What calls ask for."""
        return self._operations

    def note_answered(self) -> None:
        """A call is answered, or need not be any more."""
        with self._state.lock:
            self._state.active_rpc_count -= 1


class _SmallCall:
    """One call. grpcio's loop calls what waits for its events."""

    def __init__(
        self,
        calls: _SmallCalls,
        event: Any,
        method: Method,
        begin: Begin,
        headers: Mapping[str, str],
    ) -> None:
        self._calls, self._begin = calls, begin
        self._parse = parser(method.request)
        self._rpc, self._path = event.call, event.call_details.method
        rest_s = event.call_details.deadline - time.time()
        self._limits = CallLimits(deadline_after(rest_s), shares_thread=True)
        self._headers = headers
        # Traces are kept in it, also when the call goes on in another thread.
        self._context = contextvars.Context()
        self._lock = threading.Lock()
        self._due = 2  # events: the end, and the message
        self._is_cancelled = self._is_sent = False

    def start(self) -> None:
        """Asks for the message."""
        operations = self._calls.operations
        self._rpc.start_server_batch(operations.hear_end(), self._ended)
        self._rpc.start_server_batch(operations.receive(), self._received)

    # --- events, in the thread that polls --------------------------------------------

    def _ended(self, event: Any) -> _Passed:
        is_cancelled = event.batch_operations[0].cancelled()
        passed = self._passed(is_cancelled)
        if is_cancelled:
            self._limits.cancel()
        return passed

    def _received(self, event: Any) -> _Passed:
        message = event.batch_operations[0].message()
        if message is None:
            text = f'"{self._path.decode()}" requires exactly one request message.'
            operations = self._calls.operations.fail(errors.UNIMPLEMENTED, text)
            self._finish(operations)
        else:
            self._answering = self._answer(message)
            self._go_on()
        return self._passed()

    def _sent(self, event: Any) -> _Passed:
        return self._passed()

    def _passed(self, is_cancelled: bool = False) -> _Passed:
        with self._lock:
            self._due -= 1
            self._is_cancelled |= is_cancelled
            is_over = not self._due and (self._is_cancelled or self._is_sent)
        return (self if is_over else None), ()

    # --- the answer ------------------------------------------------------------------

    def _go_on(self) -> None:
        """Runs the call to its end, or to where it leaves this thread."""
        try:
            self._context.run(self._answering.send, None)
        except StopIteration as end:
            self._finish(self._calls.operations.send(end.value))
        except BaseException as error:
            code, message = status.to_wire(error)
            self._finish(self._calls.operations.fail(code, cut(message)))
        else:
            threads.start(self._go_on)

    async def _answer(self, message: bytes) -> bytes:
        if len(message) > LITTLE_BYTES:
            await self._limits.leave_thread()
        call = Call("GRPC", self._limits, self._headers, self._rpc.peer().decode())
        call.size = len(message)
        response = await self._begin(self._parse(message), call)
        content: bytes = response.SerializeToString()
        return content

    def _finish(self, operations: tuple[Any, ...]) -> None:
        self._calls.note_answered()
        with self._lock:
            if self._is_cancelled:
                return
            self._is_sent = True
            self._due += 1
            try:
                self._rpc.start_server_batch(operations, self._sent)
            except Exception:
                self._due -= 1
                _logger.exception("A response of %r could not be sent", self._path)
                self._rpc.cancel()
