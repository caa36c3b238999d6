"""The lock between threads that build constructs in a graph and threads that run it.

A loop, a branch or a gradient is built in several steps, between which an operation
exists but has not its final inputs. Several threads may build at the same time, or
several may send the graph to a session, but not both.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tensorloom.framework.runtime import concurrency


class Construction:
    """The turns of those who build a graph and of those who take it as it is."""

    def __init__(self) -> None:
        self._turn = concurrency.Condition()
        self._builders = 0
        self._takers = 0
        self._own = threading.local()  # depth: how often this thread has begun to build

    @contextmanager
    def building(self) -> Iterator[None]:
        """Inside, no other thread takes the graph."""
        depth = getattr(self._own, "depth", 0)
        if not depth:
            with self._turn:
                while self._takers:
                    self._turn.wait()
                self._builders += 1
        self._own.depth = depth + 1
        try:
            yield
        finally:
            self._own.depth = depth
            if not depth:
                with self._turn:
                    self._builders -= 1
                    self._turn.notify_all()

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Inside, all that other threads have begun is complete.

        A thread that takes the graph while it builds itself gets it as it is.
        """
        if getattr(self._own, "depth", 0):
            yield
            return
        with self._turn:
            while self._builders:
                self._turn.wait()
            self._takers += 1
        try:
            yield
        finally:
            with self._turn:
                self._takers -= 1
                self._turn.notify_all()
