"""The step ids that the masters of several tasks have in common.

Each task's master runs a step of the same graph, and their collectives meet by the id
of the step: so the leader of the group counts them (`GetStepSequence`). Ids count up
from a random one as long as all goes well. After a failure, and when a member has been
restarted, the leader begins at another random one: no task takes part twice in steps
of one id, so that nobody gets a value of its failed attempt, or of its last life,
where others get the new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tensorloom.framework.runtime import concurrency

# TensorFlow keeps the highest bits for other uses.
_MASK: Final = (1 << 57) - 1
# Nobody counts so far from one random id: a failed step beyond is of another one.
_MOST_STEPS: Final = 1 << 32
# The members of a group are never so many steps apart. Those of a reduction wait for
# each other; in a broadcast a member waits for its neighbours in a tree.
_MOST_APART: Final = 32


@dataclass(frozen=True, slots=True)
class Ended:
    """Ids that count no more.

    Args:
      first: of the steps that may be under way, or may begin yet.
      count: how many ids these are.
      tasks: that have asked for ids since the leader began to count there.
    """

    first: int
    count: int
    tasks: tuple[str, ...]


@dataclass(slots=True)
class _Count:
    """What a leader knows of a graph, from one random id on."""

    first: int
    next: int
    # By task that has asked: its life.
    lives: dict[str, int] = field(default_factory=dict)


class StepSequences:
    """The next step id of each graph, as its leader counts. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._counts: dict[int, _Count] = {}

    def peek(self, graph_key: int) -> int | None:
        """The id of the next step, if there was one before."""
        with self._lock:
            count = self._counts.get(graph_key)
            return count.next if count is not None else None

    def begin(self, graph_key: int) -> int:
        """The id of the next step; a random one if there was none before."""
        with self._lock:
            count = self._counts.get(graph_key) or self._begin_anew(graph_key)
            return count.next

    def _begin_anew(self, graph_key: int) -> _Count:
        first = concurrency.randbits(56) or 1  # to count on from without an end
        count = self._counts[graph_key] = _Count(first, first)
        return count

    def take(self, graph_key: int, step_id: int) -> None:
        """The leader's id of the next step."""
        with self._lock:
            self._counts[graph_key] = _Count(step_id, step_id)

    def retire(self, graph_key: int, step_id: int) -> None:
        """A step has ended well."""
        with self._lock:
            count = self._counts.get(graph_key)
            if count is not None and count.next == step_id:
                count.next = next_id(step_id)

    def renew(self, graph_key: int, step_id: int) -> Ended | None:
        """A step has failed somewhere: the leader takes another id for the next.

        None if it is a step from before the last failure that was heard of.
        """
        with self._lock:
            count = self._counts.get(graph_key)
            if count is None:
                return None
            distance = (step_id - count.first) & _MASK
            if distance >= _MOST_STEPS:
                return None
            return self._end(graph_key, count, count.first + distance)

    def meet(self, graph_key: int, task: str, life: int) -> Ended | None:
        """A task asks for the next id; of one that was restarted, no step goes on.

        Args:
          graph_key: of the step.
          task: which one.
          life: another number after each start of the task.
        """
        ended = None
        with self._lock:
            count = self._counts.get(graph_key) or self._begin_anew(graph_key)
            if count.lives.get(task, life) != life:
                ended = self._end(graph_key, count, count.next)
            self._counts[graph_key].lives[task] = life
        return ended

    def _end(self, graph_key: int, count: _Count, step_id: int) -> Ended:
        self._begin_anew(graph_key)
        first = max(count.first, step_id - _MOST_APART)
        ids = step_id + _MOST_APART + 1 - first
        return Ended(first, ids, tuple(count.lives))

    def forget(self, graph_key: int) -> None:
        """The leader is asked again before the next step."""
        with self._lock:
            self._counts.pop(graph_key, None)


def next_id(step_id: int) -> int:
    """The id of the step after one that went well."""
    return step_id + 1 & _MASK
