"""`StateGate`: steps run beside each other, a change of their state between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StateGate:
    """Lets any number of steps through, or one change.

    A step that finds it open takes no lock: its mark is put into a set, which is one
    instruction, and a change that comes afterwards sees the mark.
    """

    def __init__(self) -> None:
        self._marks: set[object] = set()
        self._is_closed = False
        self._moved = threading.Condition()
        self._changing = threading.Lock()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Holds the state as it is for a step, which waits while it changes."""
        mark = object()
        self._marks.add(mark)
        # Only now: a change closes the gate first, and looks for marks after that.
        while self._is_closed:
            self._remove(mark)
            with self._moved:
                self._moved.wait_for(lambda: not self._is_closed)
            self._marks.add(mark)
        try:
            yield
        finally:
            self._remove(mark)

    def _remove(self, mark: object) -> None:
        self._marks.discard(mark)
        if self._is_closed:
            with self._moved:
                self._moved.notify_all()

    def change(self, change: Callable[[], None], patience_s: float) -> bool:
        """Changes the state, when the steps that run have ended.

        Args:
          change: what no step is to see in the middle; raises what it wants.
          patience_s: how long to wait for steps; further ones wait meanwhile.

        Returns:
          Whether it was changed; else a step took longer.
        """
        with self._changing:
            self._is_closed = True
            try:
                with self._moved:
                    is_empty = self._moved.wait_for(lambda: not self._marks, patience_s)
                if is_empty:
                    change()
                return is_empty
            finally:
                with self._moved:
                    self._is_closed = False
                    self._moved.notify_all()
