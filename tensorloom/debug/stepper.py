"""`Stepper`: runs one step of a session node by node.

    with tf.debug.Stepper(sess, loss, {x: images}) as stepper:
        stop = stepper.until("dense/Relu")      # runs up to the first such value
        stop.value, stop.frames                 # and the iterations of loops around it
        stepper.change(stop.value * 0)          # what those who take it get
        stop = stepper.until(tf.debug.has_inf_or_nan)
        stepper.finish()                        # the fetches

A node stands still when it has given a value, before anybody gets it. It does not stop
at references and handles: their values come when they are read.
"""

from __future__ import annotations

import queue
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.debug.watching import add_debug_tensor_watch
from tensorloom.framework import errors
from tensorloom.kernels.host.debugging.callbacks import (
    register_callback,
    unregister_callback,
)

if TYPE_CHECKING:
    from tensorloom.framework.debug.publishers import Watched

BREAK: Final = "_DebugBreak"

# Of a node's or tensor's name what it matches; or a function of a stop and its value.
Condition = str | Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Stop:
    """A node that has given a value which nobody has yet."""

    device_name: str
    node_name: str
    output_slot: int
    value: Any  # np.ndarray or NumPy scalar; strings are bytes
    # The loops around the node, each with its iteration from 0, outermost first.
    frames: tuple[tuple[str, int], ...]
    number: int  # how many values there were before it in the step

    @property
    def tensor_name(self) -> str:
        """`node:0`."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def iteration(self) -> int | None:
        """That of the innermost loop; None outside of loops."""
        return self.frames[-1][1] if self.frames else None

    def __str__(self) -> str:
        loops = "".join(f" {name}[{number}]" for name, number in self.frames)
        return f"#{self.number} {self.tensor_name}{loops} ({self.device_name})"


@dataclass(slots=True)
class _Over:
    """The step has ended."""

    result: Any = None
    error: BaseException | None = None


class Stepper:
    """One step, which stands still where it is asked to."""

    def __init__(self, sess: Any, fetches: Any, feed_dict: Any = None) -> None:
        """Prepares a step; nothing runs yet.

        Args:
          sess: a `tf.Session` or `MonitoredSession`. Where its target is another
            process, workers call back to this one.
          fetches, feed_dict: as for `Session.run`.
        """
        self._sess = sess
        self._fetches, self._feed_dict = fetches, feed_dict
        self._events: queue.SimpleQueue[Stop | _Over] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._condition: Callable[[Stop], bool] = lambda stop: True
        self._stop: Stop | None = None
        self._answer: Any = None
        self._over: _Over | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._count = 0
        self._lock = threading.Lock()  # several workers may have values at once
        inner = sess._tf_sess() if hasattr(sess, "_tf_sess") else sess
        self._listener = _listener_of(inner, self._on_value)

    # --- what a person does ----------------------------------------------------------

    @property
    def stop(self) -> Stop | None:
        """Where the step stands; None before its begin and after its end."""
        return self._stop

    @property
    def is_over(self) -> bool:
        """Whether the step has ended."""
        return self._over is not None

    def step(self, count: int = 1) -> Stop | None:
        """Goes on to the next value, or by so many; None at the end of the step.

        Raises:
          errors.OpError: the step failed.
        """
        for _ in range(count):
            self._go_on(lambda stop: True)
            if self._over is not None:
                return None
        return self._stop

    def until(self, condition: Condition, iteration: int | None = None) -> Stop | None:
        """Goes on to the next value for which a condition holds; None if there is none.

        Args:
          condition: a regular expression that the name of the node or of the tensor
            matches as a whole; or a function of (stop, value), such as
            `has_inf_or_nan`.
          iteration: of the innermost loop around the node.

        Raises:
          errors.OpError: the step failed.
        """
        holds = _condition(condition)
        self._go_on(lambda stop: iteration in (None, stop.iteration) and holds(stop))
        return self._stop

    def change(self, value: Any) -> None:
        """Gives those who take the value where the step stands another one.

        Args:
          value: is converted to the tensor's dtype; its shape is that of the value.

        Raises:
          ValueError: the step stands nowhere; the shape is another one.
          TypeError: it cannot be converted.
        """
        if self._stop is None:
            raise ValueError("The step stands at no value that could be changed")
        old = np.asarray(self._stop.value)
        if old.dtype == object:
            new = np.asarray(value, object)
            if not all(isinstance(item, bytes) for item in new.ravel().tolist()):
                raise TypeError(f"{self._stop.tensor_name} is of strings: bytes")
        else:
            new = np.asarray(value).astype(old.dtype)
        if new.shape != old.shape:
            raise ValueError(
                f"{self._stop.tensor_name} has shape {old.shape}, but the new value "
                f"has {new.shape}"
            )
        self._answer = new if new.ndim or old.dtype == object else new[()]

    def finish(self) -> Any:
        """Runs to the end without stopping; the fetches, as `Session.run` gives them.

        Raises:
          errors.OpError: the step failed.
        """
        if self._over is None:
            self._go_on(lambda stop: False)
        assert self._over is not None
        return self._over.result

    def close(self) -> None:
        """Cancels a step that has not ended."""
        self._is_closed = True
        if self._stop is not None:
            self._answers.put(None)
        if self._thread is not None:
            self._thread.join()
        self._listener.close()
        self._stop = None

    def __enter__(self) -> Stepper:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # --- how it is done --------------------------------------------------------------

    def _go_on(self, condition: Callable[[Stop], bool]) -> None:
        if self._over is not None or self._is_closed:
            raise ValueError("The step is over")
        self._condition = condition
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="tensorloom-stepper", daemon=True
            )
            self._thread.start()
        else:
            answer, self._answer = self._answer, None
            self._stop = None
            self._answers.put(answer)
        event = self._events.get()
        if isinstance(event, Stop):
            self._stop = event
            return
        self._over = event
        if event.error is not None:
            raise event.error

    def _run(self) -> None:
        """The step, in a thread of its own."""
        from tensorloom.protos.config_pb2 import RunOptions

        over = _Over()
        try:
            options = RunOptions()
            add_debug_tensor_watch(options, "*", -1, BREAK, self._listener.url)
            over.result = self._sess.run(
                self._fetches, self._feed_dict, options=options
            )
        except BaseException as error:
            over.error = error
        self._events.put(over)

    def _on_value(self, watched: Watched) -> Any:
        """A worker has a value, and waits for what comes back."""
        with self._lock:
            if self._is_closed:
                raise errors.CancelledError(None, None, "The stepper was closed")
            stop = Stop(
                watched.key.device_name,
                watched.key.node_name,
                watched.key.output_slot,
                watched.value,
                watched.frames,
                self._count,
            )
            self._count += 1
            if not self._condition(stop):
                return None
            self._events.put(stop)
            answer = self._answers.get()
            if self._is_closed:
                raise errors.CancelledError(None, None, "The stepper was closed")
            return answer


def _condition(condition: Condition) -> Callable[[Stop], bool]:
    if callable(condition):
        return lambda stop: bool(condition(stop, stop.value))
    pattern = re.compile(condition)

    def holds(stop: Stop) -> bool:
        names = stop.node_name, stop.tensor_name
        return any(pattern.fullmatch(name) is not None for name in names)

    return holds


class _Callback:
    """Values of workers of this process."""

    def __init__(self, on_value: Callable[[Watched], Any]) -> None:
        self._name = f"stepper-{uuid.uuid4().hex}"
        self.url = f"memcbk://{self._name}"
        register_callback(self._name, on_value)

    def close(self) -> None:
        unregister_callback(self._name)


def _listener_of(sess: Any, on_value: Callable[[Watched], Any]) -> Any:
    if not sess.sess_str:
        return _Callback(on_value)
    # The workers, or some of them, are other processes.
    from tensorloom.debug.remote.break_server import BreakServer

    return BreakServer(on_value, sess.sess_str.decode())
