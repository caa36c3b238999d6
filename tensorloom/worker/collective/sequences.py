"""The step ids that the masters of several tasks have in common.

Each task's master runs a step of the same graph, and their collectives meet by the id
of the step: so the leader of the group counts them (`GetStepSequence`).
"""

from __future__ import annotations

from typing import Final

from tensorloom.framework.runtime import concurrency

# TensorFlow keeps the highest bits for other uses.
_MASK: Final = (1 << 57) - 1


class StepSequences:
    """The next step id of each graph, as its leader counts. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._next: dict[int, int] = {}

    def peek(self, graph_key: int) -> int | None:
        """The id of the next step, if there was one before."""
        with self._lock:
            return self._next.get(graph_key)

    def begin(self, graph_key: int) -> int:
        """The id of the next step; a random one if there was none before."""
        with self._lock:
            return self._next.setdefault(graph_key, _new_id())

    def take(self, graph_key: int, step_id: int) -> None:
        """The leader's id of the next step."""
        with self._lock:
            self._next[graph_key] = step_id

    def retire(self, graph_key: int, step_id: int) -> None:
        """A step has ended well."""
        with self._lock:
            if self._next.get(graph_key) == step_id:
                self._next[graph_key] = next_id(step_id)
            else:
                self._next.pop(graph_key, None)

    def renew(self, graph_key: int, step_id: int) -> bool:
        """A step has failed somewhere: the leader takes another id for the next.

        Returns whether the step was the next one, or under way.
        """
        with self._lock:
            if self._next.get(graph_key) != step_id:
                return False
            self._next[graph_key] = _new_id()
            return True

    def forget(self, graph_key: int) -> None:
        """The leader is asked again before the next step."""
        with self._lock:
            self._next.pop(graph_key, None)


def next_id(step_id: int) -> int:
    """The id of the step after one that went well."""
    return step_id + 1 & _MASK


def _new_id() -> int:
    return concurrency.randbits(57) or 1
