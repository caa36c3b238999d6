"""Steps with collectives, whose ids the masters of all tasks have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework import errors
from tensorloom.framework.collective.requests import (
    COLLECTIVE_OPS,
    LEADER_ATTR,
    instance_keys_of,
)
from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.interfaces import PreparedStep, StepContext, StepOptions
from tensorloom.framework.runtime.cancellation import (
    CancellationManager,
    Deadline,
    Following,
)

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.graph.graph_ir import GraphIR, Node

_BITS: Final = (1 << 64) - 1
# Where TensorFlow's hash of instance keys begins.
_SEED: Final = 0x8774AA605C729C72
_GOLDEN: Final = 0x9E3779B97F4A7800


class CollectiveSteps(Protocol):
    """How a task's masters number steps with collectives."""

    def leader_of(self, named: str) -> str:
        """The task that leads, where a session names one; "": none does."""
        ...

    def turn(self, graph_key: int) -> threading.Lock:
        """What the steps of one graph hold one after the other."""
        ...

    def begin_step(
        self, graph_key: int, leader: str, cancellation: CancellationManager
    ) -> int:
        """The id of the next step of a graph, as the leader counts.

        Raises:
          errors.UnavailableError: the leader is gone.
          errors.AbortedError: the last step went well here, but not on another task.
        """
        ...

    def end_step(
        self, graph_key: int, leader: str, step_id: int, is_well: bool, is_alone: bool
    ) -> None:
        """The step has ended.

        Args:
          graph_key, leader, step_id: of the step.
          is_well: whether it has not failed.
          is_alone: whether all of it was on this task.
        """
        ...


def _is_collective(node: Node) -> bool:
    """Whether a node may have members on other tasks."""
    return node.op in COLLECTIVE_OPS


def _collective_nodes(graph: GraphIR) -> Iterator[Node]:
    """The nodes that may have members on other tasks, those of functions too."""
    yield from filter(_is_collective, graph.nodes.values())
    for function in graph.functions.values():
        yield from filter(_is_collective, function.nodes.values())


def graph_key_of(graph: GraphIR) -> int:
    """What tells a graph's steps from those of others, as TensorFlow makes it.

    It is made of the instance keys of the collectives; 0 if there are none.
    """
    keys = {
        key for node in _collective_nodes(graph) for key in instance_keys_of(node.attrs)
    }
    value = _SEED if keys else 0
    for key in sorted(keys):
        bits = key & _BITS
        value = bits ^ (value + _GOLDEN + (bits << 10) + (bits >> 4)) & _BITS
        value &= _BITS
    return value - (1 << 64) if value >> 63 else value


def with_leader(placed: GraphIR, named: str, own_task: str) -> GraphIR:
    """The placed graph whose collectives know the task that leads them.

    Without a name it is the master's own, for those that are on several tasks: their
    members are all in this one step.
    """
    devices = {node.device for node in _collective_nodes(placed)}
    # In a function a device may be told in part, or not at all.
    tasks = {task_of(device) for device in devices if device} - {""}
    leader = named or (own_task if len(tasks) > 1 else "")
    if not devices or not leader:
        return placed

    def led(nodes: Mapping[str, Node]) -> dict[str, Node]:
        attrs = {LEADER_ATTR: leader.encode()}
        return {
            name: node.replace(attrs={**node.attrs, **attrs})
            if _is_collective(node)
            else node
            for name, node in nodes.items()
        }

    functions = {
        name: replace(function, nodes=led(function.nodes))
        if any(map(_is_collective, function.nodes.values()))
        else function
        for name, function in placed.functions.items()
    }
    return replace(placed, nodes=led(placed.nodes), functions=functions)


class CollectiveStep:
    """A step under an id that other tasks' masters give it, too.

    Implements `PreparedStep`. Steps of one graph run one after the other.
    """

    def __init__(
        self,
        inner: PreparedStep,
        steps: CollectiveSteps,
        graph_key: int,
        leader: str,
        clean_up: Callable[[int], None] | None,
    ) -> None:
        """Makes it.

        Args:
          inner: the step.
          steps: numbers them.
          graph_key: see `graph_key_of`.
          leader: the task that counts.
          clean_up: forgets a step that is on this task alone; None: it is not.
        """
        self._inner = inner
        self._steps = steps
        self._graph_key = graph_key
        self._leader = leader
        self._clean_up = clean_up

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; see `PreparedStep.run`."""
        asked = step or StepContext(StepOptions())
        graph_key = asked.options.collective_graph_key or self._graph_key
        timeout_s = asked.options.timeout_s
        cancellation = CancellationManager()
        limit = Deadline(cancellation, timeout_s) if timeout_s else nullcontext()
        with (
            Following(asked.cancellation, cancellation),
            limit,
            self._turn(graph_key, timeout_s),
        ):
            step_id = self._steps.begin_step(graph_key, self._leader, cancellation)
            context = replace(
                asked,
                options=replace(asked.options, timeout_s=None),
                step_id=step_id,
                cancellation=cancellation,
            )
            is_well = False
            try:
                values = self._inner.run(feeds, context)
                is_well = True
            finally:
                self._end(graph_key, step_id, is_well)
        return values

    def _end(self, graph_key: int, step_id: int, is_well: bool) -> None:
        if self._clean_up is not None:
            self._clean_up(step_id)
        is_alone = self._clean_up is not None
        self._steps.end_step(graph_key, self._leader, step_id, is_well, is_alone)

    @contextmanager
    def _turn(self, graph_key: int, timeout_s: float | None) -> Iterator[None]:
        lock = self._steps.turn(graph_key)
        if not lock.acquire(timeout=timeout_s or -1):
            raise errors.DeadlineExceededError(
                None, None, "Timed out waiting for another step of the same graph"
            )
        try:
            yield
        finally:
            lock.release()
