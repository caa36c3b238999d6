"""The transport `simulated`: calls that are events of the virtual network.

Messages are those of gRPC's calls, as bytes. How calls end is gRPC's, too: a task that
dies is heard of at once, one that is silent after a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.transport.wire import status
from tensorloom.transport.wire.methods import worker_methods

if TYPE_CHECKING:
    from tensorloom.simulate.network import Network
    from tensorloom.simulate.scheduler import Process, Strand
    from tensorloom.transport.interface import Done, Handlers
    from tensorloom.transport.wire.methods import Method

# What a message has beside what it says.
_ENVELOPE_BYTES: Final = 100
# Who waits for a task that is not there asks again after this.
_AGAIN_S: Final = 0.5


@dataclass(frozen=True)
class Listener:
    """A task that answers calls.

    Args:
      process: its.
      handlers: by method.
      never_waits: no handler waits for anything: none needs a strand of its own, to
        which a thread of the machine would have to be switched.
    """

    process: Process
    handlers: Handlers
    never_waits: bool = False


class ServerCall:
    """The server's side of a call; `interface.Call`."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []
        self._is_cancelled = False

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """See `interface.Call.on_cancel`."""
        if self._is_cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def cancel(self) -> None:
        """The caller gave up."""
        self._is_cancelled = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


class SimCall:
    """A call under way; `interface.PendingCall`."""

    def __init__(
        self,
        channel: SimChannel,
        method: Method,
        request: Any,
        done: Done,
        timeout_s: float | None,
        is_waited_for: bool = False,
        wait_for_ready: bool = False,
    ) -> None:
        """Makes a call.

        Args:
          channel, method, request, timeout_s, wait_for_ready: see `interface.Channel`.
          done: gets the reply or the error, in a strand of its own.
          is_waited_for: `done` does not wait for anything, and gets bytes.
        """
        self.network = channel.network
        self.client = channel.process
        self.server_process: Process | None = None
        self.began = self.network.scheduler.now
        self._channel = channel
        self._method = method
        self._message: bytes = request.SerializeToString()
        self._done = done
        self._waits = wait_for_ready
        self._is_waited_for = is_waited_for
        self._server_call: ServerCall | None = None
        self._is_over = False
        self.network.calls[self] = None
        if timeout_s is not None:
            self.network.scheduler.after(timeout_s, lambda: self._expire(timeout_s))

    @property
    def host(self) -> str:
        """Where it goes."""
        return self._channel.host

    # --- the way there and back ------------------------------------------------------

    def send(self) -> None:
        """Sends the request."""
        size = len(self._message) + _ENVELOPE_BYTES
        self.network.send(self.client.name, self.host, size, self._arrive)

    def _arrive(self) -> None:
        if self._is_over:
            return
        listener = self.network.listeners.get(self._channel.address)
        if listener is None:
            self._refuse()
            return
        self.server_process = listener.process
        self._server_call = ServerCall()
        network = self.network
        late_s = _turn(network, listener.process, network.costs.call_s)
        network.scheduler.after(late_s, lambda: self._begin(listener))

    def _begin(self, listener: Listener) -> None:
        process = listener.process
        if listener.never_waits and not (process.is_dead or process.is_stopped):
            self._handle(listener)
            return
        self.network.scheduler.spawn(
            lambda: self._handle(listener), self._method.path, listener.process
        )

    def _refuse(self) -> None:
        if self._waits:
            self.network.scheduler.after(_AGAIN_S, self._try_again)
        else:
            self._reply(None, self._unavailable("connection refused"), 0)

    def _try_again(self) -> None:
        if not self._is_over:
            self.send()

    def _handle(self, listener: Listener) -> None:
        """Runs the handler, in a strand of the called task."""
        network = self.network
        call = self._server_call
        assert call is not None
        response: Any = None
        error: errors.OpError | None = None
        handler = listener.handlers.get(self._method)
        try:
            if handler is None:
                text = f"{self._method.path} is not served here"
                raise errors.UnimplementedError(None, None, text)
            response = handler(self._method.request.FromString(self._message), call)
        except Exception as raised:
            error = status.from_wire(*status.to_wire(raised))
        size = 0.0
        if response is not None:
            size, takes_s = self._weigh(response)
            if takes_s:
                network.scheduler.sleep(_turn(network, listener.process, takes_s))
            response = response.SerializeToString()
        self._reply(response, error, size)
        call.cancel()  # as gRPC does, whose callbacks come with the end

    def _weigh(self, response: Any) -> tuple[float, float]:
        """The bytes of a reply on the wire, and what they take to compute."""
        size = float(response.ByteSize())
        costs = self.network.costs
        tensors: float = 0.0
        if self._method.name == "RecvTensor":
            tensors = response.tensor.ByteSize()
        elif self._method.name == "RunGraph":
            tensors = sum(named.tensor.ByteSize() for named in response.recv)
        full = tensors * costs.value_scale
        return size - tensors + full, full * costs.byte_s

    def _reply(
        self, response: bytes | None, error: errors.OpError | None, size: float
    ) -> None:
        def arrive() -> None:
            self._end(response, error)

        size += _ENVELOPE_BYTES
        self.network.send(self.host, self.client.name, size, arrive)

    # --- ends ------------------------------------------------------------------------

    def _end(self, response: bytes | None, error: errors.OpError | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        self.network.calls.pop(self, None)
        if self._is_waited_for:
            self._done(response, error)
            return
        if self.client.is_dead:
            return
        answer = (
            None if response is None else self._method.response.FromString(response)
        )
        self.network.scheduler.spawn(
            lambda: self._done(answer, error),
            f"end of {self._method.name}",
            self.client,
        )

    def _unavailable(self, reason: str) -> errors.OpError:
        return errors.UnavailableError(
            None,
            None,
            f"Task at {self._channel.address} cannot be reached: {reason}",
        )

    def _expire(self, timeout_s: float) -> None:
        if not self._is_over:
            late = f"{self._channel.address} did not answer within {timeout_s:g} s"
            self._end(None, errors.DeadlineExceededError(None, None, late))
            self._tell_server()

    def cancel(self) -> None:
        """Gives up; see `interface.PendingCall`."""
        if not self._is_over:
            self._end(None, errors.CancelledError(None, None, "The call was cancelled"))
            self._tell_server()

    def reset(self) -> None:
        """The called process has died: the caller hears it."""
        self._reply(None, self._unavailable("Connection reset by peer"), 0)

    def abandon(self) -> None:
        """The calling process has died: the called one hears it."""
        self._is_over = True
        self.network.calls.pop(self, None)
        self._tell_server()

    def lose(self, reason: str) -> None:
        """Neither side has heard of the other for the limit."""
        self._end(None, self._unavailable(reason))
        self._cancel_at_server()

    def _tell_server(self) -> None:
        self.network.send(
            self.client.name, self.host, _ENVELOPE_BYTES, self._cancel_at_server
        )

    def _cancel_at_server(self) -> None:
        call, process = self._server_call, self.server_process
        if call is not None and process is not None and not process.is_dead:
            self.network.scheduler.spawn(call.cancel, "cancel", process)


class SimChannel:
    """A way to one task, for the process that makes it; `interface.Channel`."""

    values = None

    def __init__(self, network: Network, address: str) -> None:
        self.network = network
        self.address = address
        self.host = address.partition(":")[0]
        self.process = network.scheduler.here.process

    def call(
        self,
        method: Method,
        request: Any,
        timeout_s: float | None = None,
        wait_for_ready: bool = False,
    ) -> Any:
        """Calls and waits; see `interface.Channel.call`."""
        result: list[Any] = []
        scheduler = self.network.scheduler
        waiting: Strand = scheduler.here

        def done(response: Any, error: errors.OpError | None) -> None:
            result[:] = response, error
            scheduler.wake(waiting)

        self._send(
            SimCall(self, method, request, done, timeout_s, True, wait_for_ready)
        )
        while not result:
            scheduler.wait(what=f"{method.name} at {self.address}")
        response, error = result
        if error is not None:
            raise error
        return method.response.FromString(response)

    def start(
        self, method: Method, request: Any, done: Done, timeout_s: float | None = None
    ) -> SimCall:
        """Calls without waiting; see `interface.Channel.start`."""
        call = SimCall(self, method, request, done, timeout_s)
        self._send(call)
        return call

    def _send(self, call: SimCall) -> None:
        network = self.network
        late_s = _turn(network, self.process, network.costs.message_s)
        network.scheduler.after(late_s, call.send)

    def ask_status(self, timeout_s: float | None) -> Any:
        """Asks the task who it is; see `interface.Channel.ask_status`."""
        method = worker_methods()["GetStatus"]
        return self.call(method, method.request(), timeout_s)

    def negotiate(self, task_info: Any) -> None:
        """There is nothing to choose."""

    def close(self) -> None:
        """Ends the calls under way."""
        for call in list(self.network.calls):
            if call._channel is self:
                call.cancel()


def _turn(network: Network, process: Process, seconds: float) -> float:
    """How long from now until a process has computed for so long, after all else."""
    now = network.scheduler.now
    begins = max(now, process.busy_until)
    process.busy_until = begins + seconds * process.slowness
    return process.busy_until - now
