"""The steps of a whole program, explained while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.base_session import BaseSession
from tensorloom.framework.errors import OpError
from tensorloom.inspect.explain.explain import explained_step, time_limit
from tensorloom.inspect.explain.explanation import Explanation
from tensorloom.inspect.explain.journal import Journal

if TYPE_CHECKING:
    from tensorloom.client.session.explained_step import ExplainedStep
    from tensorloom.framework.interfaces import StepContext, StepSignature
    from tensorloom.inspect.explain.elsewhere import StepElsewhere

#: So many runs of a step are explained: the second one is not the first of its kernels.
_EXPLAINED_RUNS = 2


@dataclass(slots=True)
class ProgramStep:
    """All runs of one step of a program."""

    explanation: Explanation  # of its first run, or of the second if there was one
    runs: int = 0
    seconds: float = 0.0  # of all runs

    def fail(self, error: OpError) -> None:
        """Notes that a run failed. How long it took says nothing of the others."""
        self.runs += 1
        text = " ".join(error.message.partition("\n\nOriginal stack")[0].split())
        self.explanation.journal.notes.append(
            f"Run {self.runs} of this step failed: {type(error).__name__}: {text}"
        )


class ProgramSteps:
    """The steps that a program ran, in the order of their first runs."""

    def __init__(self) -> None:
        self.steps: list[ProgramStep] = []
        self._by_call: dict[Any, ProgramStep] = {}
        # By session and signature: calls that look different may be the same step.
        self._known: dict[tuple[int, StepSignature], ProgramStep] = {}
        self._sessions: list[BaseSession] = []  # they keep their identities

    @property
    def longest(self) -> ProgramStep | None:
        """The step that took most of the time; None if no step ran.

        Of a step that ran once, most is loading and compiling: others come first.
        """
        again = [step for step in self.steps if step.runs > 1]
        return max(again or self.steps, key=lambda step: step.seconds, default=None)

    def run(
        self,
        plain: Callable[..., Any],
        session: BaseSession,
        fetches: Any,
        feed_dict: Any,
        options: Any,
        run_metadata: Any,
    ) -> Any:
        """Stands in for `Session.run`."""
        key = _call_key(session, fetches, feed_dict)
        step = self._by_call.get(key)
        begin = time.perf_counter()
        if step is not None and step.runs >= _EXPLAINED_RUNS:
            try:
                result = plain(session, fetches, feed_dict, options, run_metadata)
            except OpError as error:
                step.fail(error)
                raise
        else:
            journal = Journal()
            try:
                explained = explained_step(session, fetches, feed_dict, journal)
            except OpError as error:
                raise session._shown(error) from error.__cause__
            if explained.signature is None:
                return plain(session, fetches, feed_dict, options, run_metadata)
            limit = time_limit(session, options)
            result, context = self._explained(session, explained, journal, limit)
            if run_metadata is not None:
                from tensorloom.framework.runtime import run_metadata as protos

                protos.fill(run_metadata, context, with_costs=False)
            explanation = Explanation(
                explained.signature, journal, context.metadata.node_stats
            )
            step = self._note(session, explanation)
            if key is not None:
                self._by_call[key] = step
        step.runs += 1
        step.seconds += time.perf_counter() - begin
        return result

    def _explained(
        self,
        session: BaseSession,
        step: ExplainedStep | StepElsewhere,
        journal: Journal,
        limit: float | None,
    ) -> tuple[Any, StepContext]:
        """Runs a step; of one that fails, at least what became of its nodes is told."""
        try:
            return step.run(limit)
        except OpError as error:
            shown = session._shown(error)
            assert step.signature is not None
            known = self._known.get((id(session), step.signature))
            if known is None and journal.stages:
                known = self._note(session, Explanation(step.signature, journal))
            if known is not None:
                known.fail(shown)
            raise shown from error.__cause__

    def _note(self, session: BaseSession, explanation: Explanation) -> ProgramStep:
        key = id(session), explanation.signature
        step = self._known.get(key)
        if step is None:
            step = self._known[key] = ProgramStep(explanation)
            self.steps.append(step)
            self._sessions.append(session)
        elif step.runs < _EXPLAINED_RUNS:
            step.explanation = explanation
            step.seconds = 0.0  # without the first run: it loads and compiles
        return step


def _call_key(session: BaseSession, fetches: Any, feed_dict: Any) -> Any:
    from tensorloom.client.session.run_plan import plan_key

    key = plan_key(fetches, feed_dict)
    return None if key is None else (id(session), key)


@contextmanager
def watched_runs() -> Iterator[ProgramSteps]:
    """Explains the steps of all sessions that run inside the `with` block."""
    steps = ProgramSteps()
    plain = BaseSession.run

    def run(
        self: BaseSession,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        self._check_usable()
        return steps.run(plain, self, fetches, feed_dict, options, run_metadata)

    BaseSession.run = run  # type: ignore[method-assign]
    BaseSession._callables_skip_run = False
    try:
        yield steps
    finally:
        BaseSession.run = plain  # type: ignore[method-assign]
        BaseSession._callables_skip_run = True
