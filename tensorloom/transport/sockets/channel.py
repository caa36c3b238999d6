"""Calls between tensorloom's tasks, on connected sockets."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport.grpc.stream_connection import StreamConnection
from tensorloom.transport.peers.liveness import watch
from tensorloom.transport.sockets.connection import Connection, NotConnected
from tensorloom.transport.sockets.reply import SocketReply
from tensorloom.transport.tensor_subscriber import TensorDone, TensorSubscriber
from tensorloom.transport.wire import frames, packing, status, value_methods

if TYPE_CHECKING:
    from tensorloom.transport.grpc.stream_connection import Open
    from tensorloom.transport.interface import Done
    from tensorloom.transport.wire.methods import Method
    from tensorloom.transport.wire.value_methods import Sent

_CONNECT_S: Final = 5.0
_UNLIMITED: Final = nullcontext()
# For so long after an acknowledged push between machines others are sent without.
_TRUSTED_S: Final = 1.0

AnyConnection = Connection | StreamConnection


class SocketPending:
    """Implements `interface.PendingCall`."""

    def __init__(self) -> None:
        self.connection: AnyConnection | None = None
        self.is_cancelled = False
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Hangs up."""
        with self._lock:
            self.is_cancelled = True
            if self.connection is not None:
                self.connection.hang_up()

    def use(self, connection: AnyConnection | None) -> None:
        """Takes the connection of the call."""
        with self._lock:
            self.connection = connection
            if self.is_cancelled and connection is not None:
                connection.hang_up()


class SocketChannel:
    """Calls to one endpoint. Thread-safe; keeps idle connections."""

    def __init__(
        self,
        endpoint: str,
        task: str,
        token: bytes = b"",
        open_stream: Open | None = None,
        ask: Callable[[float], bool] | None = None,
    ) -> None:
        """Makes a channel.

        Args:
          endpoint: of the task.
          task: its name, for errors.
          token: what the task wants to hear first.
          open_stream: opens streams of messages, where these are to carry the calls,
            and no sockets.
          ask: whether the task gives a sign of life within so many seconds; None: it is
            asked on another connection.
        """
        self._ask = ask
        self._open_stream = open_stream
        self._endpoint = endpoint
        self._task = task
        self._token = token
        # The last one given back is the next one taken.
        self._idle: list[AnyConnection] = []
        self._lock = threading.Lock()
        self._tensors: TensorSubscriber | None = None
        self._pushes: AnyConnection | None = None
        self._acknowledged = -math.inf  # when the last push was known to have come
        self._push_lock = threading.Lock()
        self._held: list[AnyConnection] = []
        # Connections that a thread waits at.
        self._busy: set[AnyConnection] = set()
        self._is_closed = False
        watch.add(self)

    @property
    def endpoint(self) -> str:
        """Where the calls go."""
        return self._endpoint

    @property
    def has_links(self) -> bool:
        """Whether `SocketReply.link` can be used: within a host."""
        return self._open_stream is None and self._endpoint.startswith("unix:")

    def call(self, method: Method, request: Any, timeout_s: float | None = None) -> Any:
        """Calls a method with messages; see `interface.Channel.call`.

        Raises:
          NotConnected: the endpoint cannot be reached.
        """
        header = method.path.encode() + b"\0" + request.SerializeToString()
        reply = self._exchange(frames.CALL, 0, header, (), timeout_s, None)
        return method.response.FromString(reply.header)

    def call_values(
        self,
        number: int,
        header: bytes,
        values: Sequence[Any],
        timeout_s: float | None = None,
        pending: SocketPending | None = None,
    ) -> tuple[bytes, list[Any]]:
        """Calls a method with values; returns the header and values of the reply.

        Raises:
          NotConnected: the endpoint cannot be reached.
          errors.OpError: as `interface.Channel.call`.
        """
        reply = self._exchange(
            frames.VALUES, number, header, values, timeout_s, pending
        )
        return reply.header, packing.unpack(reply.body) if len(reply.body) else []

    def begin_values(
        self,
        number: int,
        header: bytes,
        values: Sequence[Any],
        sending: Callable[[SocketReply], None] | None = None,
    ) -> SocketReply:
        """Sends a call with values; the reply is taken by who waits for it.

        Args:
          number, header, values: the call.
          sending: gets the reply before the call is sent: sending may take long, and
            `SocketReply.cancel` ends it.

        Raises:
          NotConnected: the endpoint cannot be reached.
          errors.OpError: the call could not be sent.
        """
        body, size = packing.pack(values) if values else ((), 0)
        while True:
            connection, is_idle = self._take()
            reply = SocketReply(self, connection)
            if sending is not None:
                sending(reply)
            try:
                connection.writer.write(frames.VALUES, number, header, body, size)
            except OSError as error:
                if not self._was_closed(connection, is_idle, error):
                    raise self.broken(connection, error) from None
            else:
                return reply

    def hold(self, number: int, header: bytes) -> None:
        """Makes a call whose only reply is that the task hangs up, or is gone.

        The task hears when this process is gone.

        Raises:
          NotConnected: the endpoint cannot be reached.
        """
        connection = self._connect()
        with self._lock:
            self._held.append(connection)
        try:
            connection.writer.write(frames.VALUES, number, header)
        except OSError as error:
            raise NotConnected(str(error)) from None

    def start(
        self,
        method: Method,
        request: Any,
        done: Done,
        timeout_s: float | None = None,
        unreachable: Callable[[], None] | None = None,
    ) -> SocketPending:
        """Calls a method with messages without waiting.

        `unreachable` is called before `done` if nobody listens at the endpoint.
        """
        pending = SocketPending()
        header = method.path.encode() + b"\0" + request.SerializeToString()

        def run() -> None:
            try:
                reply = self._exchange(frames.CALL, 0, header, (), timeout_s, pending)
            except errors.OpError as error:
                done(None, error)
            except NotConnected as error:
                if unreachable is not None:
                    unreachable()
                done(None, self._unavailable(str(error)))
            else:
                done(method.response.FromString(reply.header), None)

        threads.start(run)
        return pending

    def push(self, step_id: int, tensors: Sequence[Sent]) -> None:
        """Sends tensors of a step to the task, without waiting for an answer.

        Raises:
          NotConnected: the endpoint cannot be reached.
          errors.OpError: the connection broke, or a value cannot be sent.
        """
        body, size = packing.pack([value for _, value, _ in tensors])
        header = value_methods.STEP_ID.pack(step_id)
        header += value_methods.packed_keys(tensors)
        self._push(frames.VALUES, header, body, size, 0)

    def push_failure(self, step_id: int, error: errors.OpError) -> None:
        """Tells the task that the sender's part of a step has failed.

        Raises:
          NotConnected, errors.OpError: as `push`.
        """
        code, message = status.to_wire(error)
        header = value_methods.STEP_ID.pack(step_id) + message.encode()
        self._push(frames.ERROR, header, (), 0, code)

    def _push(
        self,
        kind: int,
        header: bytes,
        body: Sequence[packing.Buffer],
        size: int,
        code: int,
    ) -> None:
        with self._push_lock:
            connection = self._pushes
            if connection is None or connection.lost or not connection.is_alive():
                if connection is not None:
                    connection.close()
                connection = self._pushes = self._connect()
                connection.write_only()
                self._acknowledged = math.inf if connection.is_local else -math.inf
            self._busy.add(connection)
            # What a network holds when it breaks is missed by the receiver, which finds
            # its end dead some seconds later: of the steps that wait then. A step that
            # begins later must find this end dead, too.
            is_old = time.monotonic() - self._acknowledged > _TRUSTED_S
            is_asked = is_old and kind == frames.VALUES
            method = value_methods.PUSH_ACKNOWLEDGED if is_asked else value_methods.PUSH
            try:
                connection.writer.write(kind, method, header, body, size, code)
                if is_asked:
                    connection.reader.read()
                    self._acknowledged = time.monotonic()
            except (OSError, frames.Closed) as error:
                self._pushes = None
                raise self.broken(connection, error) from None
            self._busy.discard(connection)

    def recv_tensors(
        self, step_id: int, keys: Sequence[str], done: Callable[[str], TensorDone]
    ) -> None:
        """Asks for tensors of a step; `done(key)` returns the callback of each.

        Raises:
          NotConnected: the endpoint cannot be reached.
        """
        with self._lock:
            subscriber = self._tensors
            if subscriber is None or subscriber.is_broken:
                subscriber = self._tensors = TensorSubscriber(
                    self._connect(), self._task
                )
        subscriber.ask(step_id, keys, done)

    def forget_tensors(self, step_id: int) -> None:
        """Nobody waits any more for the tensors of a step."""
        subscriber = self._tensors
        if subscriber is not None:
            subscriber.forget(step_id)

    def close(self) -> None:
        """Hangs up; calls under way fail."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
            subscriber, self._tensors = self._tensors, None
            pushes, self._pushes = self._pushes, None
            held, self._held = self._held, []
        for connection in (*idle, *held):
            connection.close()
        if subscriber is not None:
            subscriber.close()
        if pushes is not None:
            pushes.close()

    # --- one exchange ----------------------------------------------------------------

    def _exchange(
        self,
        kind: int,
        number: int,
        header: bytes,
        values: Sequence[Any],
        timeout_s: float | None,
        pending: SocketPending | None,
    ) -> frames.Frame:
        body, size = packing.pack(values) if values else ((), 0)
        connection, is_idle = self._take()
        if pending is not None:
            pending.use(connection)
        is_sent = False
        try:
            with _UNLIMITED if timeout_s is None else connection.within(timeout_s):
                connection.writer.write(kind, number, header, body, size)
                is_sent = True
                reply = connection.reader.read()
        except TimeoutError:
            self._drop(connection)
            raise errors.DeadlineExceededError(
                None, None, f"{self._task} did not answer within {timeout_s:g} s"
            ) from None
        except (OSError, frames.Closed) as error:
            if pending is not None:
                pending.use(None)
            if not is_sent and self._was_closed(connection, is_idle, error):
                return self._exchange(kind, number, header, values, timeout_s, pending)
            broken = self.broken(connection, error)
            if pending is not None and pending.is_cancelled:
                broken = errors.CancelledError(None, None, "The call was cancelled")
            raise broken from None
        if pending is not None:
            pending.use(None)
        self.give_back(connection)
        if reply.kind == frames.ERROR:
            raise status.from_wire(reply.code, reply.header.decode(errors="replace"))
        return reply

    # --- connections -----------------------------------------------------------------

    def _connect(self, timeout_s: float = _CONNECT_S) -> AnyConnection:
        if self._open_stream is not None:
            return StreamConnection(self._open_stream, self._endpoint, timeout_s)
        return Connection(self._endpoint, self._token, timeout_s)

    def _take(self) -> tuple[AnyConnection, bool]:
        """A connection, and whether it was idle: it may have been closed meanwhile."""
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.is_alive():
                self._busy.add(connection)
                return connection, True
            connection.close()
        connection = self._connect()
        self._busy.add(connection)
        return connection, False

    def _was_closed(
        self, connection: AnyConnection, was_idle: bool, error: Exception
    ) -> bool:
        """Drops a connection that broke as nothing was sent yet on it; True if so.

        The call is made again on another one.
        """
        is_stale = was_idle and isinstance(error, ConnectionError)
        if not is_stale or connection.lost:
            return False
        self._drop(connection)
        return True

    def give_back(self, connection: AnyConnection) -> None:
        """Keeps a connection for the next call."""
        self._busy.discard(connection)
        with self._lock:
            # One that was hung up may still have given its reply.
            if not self._is_closed and not connection.lost:
                connection.idle_since = time.monotonic()
                self._idle.append(connection)
                return
        connection.close()

    def _drop(self, connection: AnyConnection) -> None:
        self._busy.discard(connection)
        connection.close()

    def broken(self, connection: AnyConnection, error: Exception) -> errors.OpError:
        """Closes a broken connection; returns the error for its user."""
        reason = connection.lost or str(error) or "it hung up"
        self._drop(connection)
        return self._unavailable(reason)

    def _unavailable(self, reason: str) -> errors.OpError:
        return errors.UnavailableError(
            None, None, f"{self._task} at {self._endpoint} cannot be reached: {reason}"
        )

    # --- for `liveness` --------------------------------------------------------------

    def close_unused(self) -> None:
        """Closes what calls at one time have left; one is kept for the next call.

        Each connection costs the task a thread.
        """
        before = time.monotonic() - threads.IDLE_SECONDS
        with self._lock:
            unused = [c for c in self._idle[:-1] if c.idle_since < before]
            del self._idle[: len(unused)]  # the longest unused come first
        for connection in unused:
            connection.close()

    def in_flight(self) -> set[Hashable]:
        """The connections that a thread waits at."""
        waiting: set[Hashable] = set(self._busy)
        subscriber = self._tensors
        if subscriber is not None and subscriber.is_waiting:
            waiting.add(subscriber)
        return waiting

    def answers_ping(self, timeout_s: float) -> bool:
        """Whether the task says hello on another connection."""
        if self._ask is not None:
            return self._ask(timeout_s)
        try:
            self._connect(timeout_s).close()
        except NotConnected:
            return False
        except errors.OpError:
            return True  # it does not want us, but is there
        return True

    def lose(self, reason: str) -> None:
        """Closes the connections that threads wait at."""
        for connection in list(self._busy):
            connection.hang_up(reason)
        subscriber = self._tensors
        if subscriber is not None:
            subscriber.lose(reason)
