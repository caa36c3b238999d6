"""Threads of pipelines: prefetching, and functions over several elements at a time.

Handing an element to another thread costs about as much as making a cheap one. So both
begin in the thread that asks, watch the clock, and start threads only when an element
takes longer than that; Python functions, which may wait for each other, are called by
several threads from the first element on. The threads hold no reference to the iterator
that they work for: when it is dropped, they end.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.kernels.host.data.pipeline.dataset import DatasetIterator, Element
from tensorloom.kernels.host.data.pipeline.environment import (
    Cancellation,
    without_gradients,
)

if TYPE_CHECKING:
    from tensorloom.kernels.host.data.pipeline.environment import Environment

# An element that takes longer than this is worth a thread.
SLOW_NS: Final = 200_000
# Elements to watch before deciding; the first ones compile functions.
_WATCHED: Final = 2

_END: Final = object()
_WAKE: Final = object()


class Pace:
    """Decides from the first elements whether threads are worth their cost."""

    def __init__(self) -> None:
        self._seen = 0
        self._slow = 0

    def is_slow(self, spent_ns: int) -> bool:
        """Notes the time of one element; True once they prove slow."""
        self._seen += 1
        if self._seen > 1 and spent_ns > SLOW_NS:
            self._slow += 1
        elif self._slow:
            self._slow -= 1
        return self._slow >= _WATCHED


class Failure:
    """An element that failed."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


def guarded(task: Callable[[], None]) -> None:
    """Runs a thread's task as the executor runs kernels."""
    with np.errstate(all="ignore"), without_gradients():
        task()


def start_thread(task: Callable[[], None], name: str) -> None:
    """Starts a thread that does not keep the process alive."""
    threading.Thread(target=guarded, args=(task,), daemon=True, name=name).start()


class _Channel:
    """What a producer and its consumer share."""

    def __init__(self, capacity: int) -> None:
        self.ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.cancellation = Cancellation()
        for _ in range(capacity):
            self.free.put(None)

    def close(self) -> None:
        """Ends the producer."""
        self.cancellation.cancel()
        self.free.put(_END)

    def wake(self) -> None:
        """Lets the consumer look at its cancellation."""
        self.ready.put(_WAKE)


def _produce(source: DatasetIterator, channel: _Channel) -> None:
    while channel.free.get() is not _END:
        try:
            item: Any = next(source)
        except StopIteration:
            channel.ready.put(_END)
            return
        except Exception as error:
            if channel.cancellation.cancelled:
                return
            item = Failure(error)
        channel.ready.put(item)


class PrefetchIterator(DatasetIterator):
    """Makes elements ahead, in a thread if they are slow."""

    def __init__(
        self,
        make_source: Callable[[Environment], DatasetIterator],
        env: Environment,
        capacity: int,
        eager: bool = False,
    ) -> None:
        self._env = env
        self._inner = env.branch()
        self._source: DatasetIterator | None = make_source(self._inner)
        self._capacity = capacity
        self._kept: Element | None = None
        self._channel: _Channel | None = None
        self._pace = Pace()
        self._ended = False
        if eager:
            self._start()

    def _start(self) -> None:
        channel = self._channel = _Channel(self._capacity)
        self._inner.context = self._env.own_context(channel.cancellation)
        source, self._source = self._source, None
        assert source is not None
        close_with(self, channel.close, self._env)
        start_thread(lambda: _produce(source, channel), "tf_data_prefetch")

    @property
    def buffered(self) -> int:
        """How many elements are ready."""
        return 0 if self._channel is None else self._channel.ready.qsize()

    def __next__(self) -> Element:
        if self._channel is None or self._kept is not None:
            return self._next_here()
        if self._ended:
            raise StopIteration
        item = self._next_item(self._channel)
        if item is _END:
            self._ended = True
            raise StopIteration
        self._channel.free.put(None)
        if type(item) is Failure:
            raise item.error
        return item  # type: ignore[no-any-return]

    def _next_here(self) -> Element:
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        assert self._source is not None
        self._inner.context = self._env.context
        begin = time.perf_counter_ns()
        try:
            element = next(self._source)
        finally:
            if self._pace.is_slow(time.perf_counter_ns() - begin):
                self._start()
        if self._env.context.cancellation.cancelled:
            # Nobody gets it in this step; the next one shall not miss it.
            self._kept = element
            self._env.context.cancellation.check()
        return element

    def _next_item(self, channel: _Channel) -> Any:
        try:
            while (item := channel.ready.get_nowait()) is _WAKE:
                pass
            return item
        except queue.Empty:
            return wait(channel.ready, channel.wake, self._env)


def close_with(
    iterator: DatasetIterator, close: Callable[[], None], env: Environment
) -> None:
    """Ends threads when their iterator is dropped, or the whole pipeline closed."""
    root = env.root
    token = root.register(close)

    def dropped() -> None:
        close()
        if token is not None:
            root.deregister(token)

    weakref.finalize(iterator, dropped)
    if token is None:
        close()


def wait(
    items: queue.SimpleQueue[Any], wake: Callable[[], None], env: Environment
) -> Any:
    """Gets an item; the step's cancellation, or closing, interrupts the wait.

    Raises:
      errors.OpError: the step was cancelled.
    """
    cancellation = env.context.cancellation
    token = cancellation.register(wake)
    root_token = env.root.register(wake)
    try:
        while True:
            cancellation.check()
            env.root.check()
            item = items.get()
            if item is not _WAKE:
                return item
    finally:
        if token is not None:
            cancellation.deregister(token)
        if root_token is not None:
            env.root.deregister(root_token)


def parallelism(asked: int) -> int:
    """How many threads: what was asked for, or for -1 (AUTOTUNE) one a core."""
    return asked if asked > 0 else max(2, os.cpu_count() or 2)


class _Jobs:
    """What the workers of one parallel map share with its iterator."""

    def __init__(
        self, source: DatasetIterator, apply: Callable[[Element], Any], capacity: int
    ) -> None:
        self.source, self.apply = source, apply
        self.cancellation = Cancellation()
        self.lock = threading.Lock()  # held while an input element is made
        # The places of results to come, in order.
        self.announced: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.free = threading.Semaphore(capacity)
        self.ended = False

    def close(self) -> None:
        """Ends the workers."""
        self.cancellation.cancel()
        self.ended = True
        self.free.release()

    def work(self) -> None:
        """Takes elements and computes their results until the source ends."""
        while True:
            self.free.acquire()
            with self.lock:
                if self.ended:
                    self.free.release()
                    return
                place: queue.SimpleQueue[Any] = queue.SimpleQueue()
                try:
                    item: Any = next(self.source)
                except StopIteration:
                    self.ended = True
                    item = _END
                except Exception as error:
                    item = Failure(error)
                self.announced.put(place)
            if item is not _END and type(item) is not Failure:
                try:
                    item = self.apply(item)
                except Exception as error:
                    item = Failure(error)
            place.put(item)
            if item is _END:
                self.free.release()
                return


class ParallelMapIterator(DatasetIterator):
    """Applies a function to several elements at a time; results in order.

    `apply(env, element)` gives the result.
    """

    def __init__(
        self,
        make_source: Callable[[Environment], DatasetIterator],
        apply: Callable[[Environment, Element], Element],
        env: Environment,
        threads: int,
        eager: bool = False,
    ) -> None:
        self._env = env
        self._inner = env.branch()
        self._source = make_source(self._inner)
        self._apply = apply
        most = env.most_threads
        self._threads = min(threads, most) if most else threads
        self._pace = Pace()
        self._jobs: _Jobs | None = None
        self._place: Any = None  # of the next result, where a wait was cut short
        self._ended = False
        if eager and self._threads > 1:
            self._start()

    def __next__(self) -> Element:
        if self._jobs is None:
            return self._next_here()
        if self._ended:
            raise StopIteration
        item = self._next_item(self._jobs)
        if item is _END:
            self._ended = True
            raise StopIteration
        self._jobs.free.release()
        if type(item) is Failure:
            if isinstance(item.error, errors.OutOfRangeError):
                raise StopIteration  # the function says: no more
            raise item.error
        return item  # type: ignore[no-any-return]

    def _next_here(self) -> Element:
        self._inner.context = self._env.context
        element = next(self._source)
        begin = time.perf_counter_ns()
        try:
            return self._apply(self._inner, element)
        except errors.OutOfRangeError:
            raise StopIteration from None
        finally:
            if self._threads > 1 and self._pace.is_slow(time.perf_counter_ns() - begin):
                self._start()

    def _start(self) -> None:
        apply, inner = self._apply, self._inner
        jobs = self._jobs = _Jobs(
            self._source, lambda element: apply(inner, element), self._threads
        )
        inner.context = self._env.own_context(jobs.cancellation)
        close_with(self, jobs.close, self._env)
        for number in range(self._threads):
            start_thread(jobs.work, f"tf_data_map_{number}")

    def _next_item(self, jobs: _Jobs) -> Any:
        place = self._place
        if place is None:
            announced = jobs.announced
            place = wait(announced, lambda: announced.put(_WAKE), self._env)
            # Kept while waiting: a cancelled step does not lose the result.
            self._place = place
        item = wait(place, lambda: place.put(_WAKE), self._env)
        self._place = None
        return item
