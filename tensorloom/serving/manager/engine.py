"""`Engine`: where a loaded model's steps run. Here: a session of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepSignature
from tensorloom.master.prepare.fed_shapes import ShapedStep

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session
    from tensorloom.framework.interfaces import PreparedStep, StepContext
    from tensorloom.serving.manager.state_gate import StateGate


class EngineLost(errors.UnavailableError):
    """A step did not end well because all that ran in its engine ended."""


class Engine(Protocol):
    """Runs steps of one version. Thread-safe."""

    @property
    def is_up(self) -> bool:
        """Whether a step can run now."""
        ...

    def wait_up(self, timeout_s: float) -> bool:
        """Waits until a step can run; whether that came in time.

        Raises:
          errors.UnavailableError: none ever will.
        """
        ...

    def run(
        self,
        feeds: tuple[str, ...],
        fetches: tuple[str, ...],
        values: Sequence[Any],
        step: StepContext | None,
    ) -> list[Any]:
        """Runs one step.

        Args:
          feeds: names of tensors, sorted.
          fetches: names of other tensors, each once.
          values: of the feeds, with exactly the tensors' dtypes.
          step: its deadline, and what cancels it.

        Raises:
          EngineLost: the engine ended meanwhile.
          errors.OpError: the step failed.
        """
        ...

    def close(self) -> None:
        """Cancels what still runs, and frees graph and variables."""
        ...


class SessionEngine:
    """A session in this process."""

    #: It is as long as the process is.
    is_up = True

    def __init__(self, session: Session) -> None:
        self.session = session
        #: What lets steps through, where the state of the session changes meanwhile.
        self.gate: StateGate | None = None
        self._steps: dict[tuple[tuple[str, ...], tuple[str, ...]], PreparedStep] = {}
        self._ends: list[Callable[[], None]] = []

    def wait_up(self, timeout_s: float) -> bool:
        """As `Engine.wait_up`."""
        return True

    def prepare(self, feeds: Sequence[str], fetches: Sequence[str]) -> None:
        """Gets a step ready, so that the first request need not."""
        self._prepared(tuple(sorted(feeds)), tuple(dict.fromkeys(fetches)))

    def run(
        self,
        feeds: tuple[str, ...],
        fetches: tuple[str, ...],
        values: Sequence[Any],
        step: StepContext | None,
    ) -> list[Any]:
        """As `Engine.run`."""
        prepared = self._prepared(feeds, fetches)
        if self.gate is None:
            return prepared.run(values, step)
        with self.gate.step():
            return prepared.run(values, step)

    def _prepared(
        self, feeds: tuple[str, ...], fetches: tuple[str, ...]
    ) -> PreparedStep:
        step = self._steps.get((feeds, fetches))
        if step is None:
            # One of two threads that come here at once prepares for nothing.
            step = self.session._prepare(StepSignature(feeds, fetches))
            if isinstance(step, ShapedStep):
                # Requests have any number of rows: none waits for a compilation, and
                # no answer depends on which shapes came first.
                step = step.compile_for_any()
            self._steps[feeds, fetches] = step
        return step

    def before_close(self, end: Callable[[], None]) -> None:
        """Has something else that uses the session end before it does."""
        self._ends.append(end)

    def close(self) -> None:
        """As `Engine.close`."""
        for end in self._ends:
            end()
        self._steps.clear()
        self.session.close()
