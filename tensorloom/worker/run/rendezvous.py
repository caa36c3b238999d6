"""The rendezvous: where a Send leaves a tensor and a Recv takes it, by key.

Keys are TensorFlow's strings (see `framework/runtime/rendezvous_key.py`). One
rendezvous lives as long as its step. A value may be received before it is sent, and
each is received once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework import errors
    from tensorloom.framework.collective.requests import StepCollectives
    from tensorloom.framework.runtime.cancellation import CancellationManager

# Called with (value, is_dead) or, when the step is over, with (error, None).
Receiver = Callable[[Any, bool | None], None]


class Rendezvous:
    """The in-process meeting point of one step's Sends and Recvs. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._values: dict[str, deque[tuple[Any, bool]]] = {}
        self._waiting: dict[str, deque[Receiver]] = {}
        # Who wants to hear that the value of a key was received.
        self._when_taken: dict[str, Callable[[], None]] = {}
        self._aborted: errors.OpError | None = None
        #: What takes part in collectives with other tasks, if there are any.
        self.collectives: StepCollectives | None = None

    @property
    def is_over(self) -> bool:
        """True once the step has been aborted."""
        return self._aborted is not None

    def send(self, key: str, value: Any, is_dead: bool = False) -> None:
        """Leaves a value for the receiver of `key`; never blocks.

        Raises:
          errors.OpError: the rendezvous was aborted.
        """
        with self._lock:
            if self._aborted is not None:
                raise self._aborted
            waiting = self._waiting.get(key)
            if not waiting:
                self._values.setdefault(key, deque()).append((value, is_dead))
                return
            receiver = waiting.popleft()
        receiver(value, is_dead)

    def send_later(self, key: str, value: Any) -> None:
        """As `send`, but what goes to another task may wait for `flush`."""
        self.send(key, value)

    def flush(self) -> None:
        """Sends what waits."""

    def finish(self) -> None:
        """As `flush`, at the end of a part."""
        self.flush()

    def unlink(self) -> None:
        """Ends what other tasks' calls have to do with it."""

    def recv_async(self, key: str, receiver: Receiver) -> None:
        """Calls `receiver` once the value is there; at once when it is already."""
        with self._lock:
            values = self._values.get(key)
            if not values:
                if self._aborted is None:
                    self._waiting.setdefault(key, deque()).append(receiver)
                    return
                value, is_dead = self._aborted, None
            else:
                value, is_dead = values.popleft()
            taken = self._when_taken.pop(key, None) if self._when_taken else None
        receiver(value, is_dead)
        if taken is not None:
            taken()

    def recv(self, key: str, cancellation: CancellationManager | None = None) -> Any:
        """Waits for the value of `key`.

        Raises:
          errors.OpError: the rendezvous was aborted, or the step cancelled.
        """
        with self._lock:  # the common case: it is there
            values = self._values.get(key)
            if values and not self._when_taken:
                return values.popleft()[0]
        return self._wait_value(key, cancellation)

    def _wait_value(self, key: str, cancellation: CancellationManager | None) -> Any:
        done = concurrency.Event()
        result: list[Any] = []

        def receive(value: Any, is_dead: bool | None) -> None:
            result[:] = (value, is_dead)
            done.set()

        self.recv_async(key, receive)
        token = cancellation.register(done.set) if cancellation else None
        if cancellation is not None and token is None:
            cancellation.check()
        done.wait()
        if cancellation is not None and token is not None:
            cancellation.deregister(token)
        if not result:
            assert cancellation is not None
            cancellation.check()
        value, is_dead = result
        if is_dead is None:
            raise value
        return value

    def when_taken(self, key: str, callback: Callable[[], None]) -> None:
        """Calls back once the value that was left for `key` is received.

        At once if it is not here; also when the step is over.
        """
        with self._lock:
            if self._values.get(key):
                self._when_taken[key] = callback
                return
        callback()

    def waited_keys(self) -> list[str]:
        """The keys that somebody waits for."""
        with self._lock:
            return [key for key, waiting in self._waiting.items() if waiting]

    def abort(self, error: errors.OpError) -> None:
        """Ends the step: all that wait, and all later calls, get `error`."""
        with self._lock:
            if self._aborted is not None:
                return
            self._aborted = error
            waiting = [r for queue in self._waiting.values() for r in queue]
            self._waiting.clear()
            self._values.clear()
            hearers = list(self._when_taken.values())
            self._when_taken.clear()
        for receiver in waiting:
            receiver(error, None)
        for callback in hearers:
            callback()
