"""The steps of a whole program, explained while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.base_session import BaseSession
from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.partial_run import partial_signature
from tensorloom.framework.errors import OpError
from tensorloom.inspect.explain.explain import explained_step, time_limit
from tensorloom.inspect.explain.explanation import Explanation
from tensorloom.inspect.explain.journal import Journal
from tensorloom.master.prepare.prune import prune

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
    failures: list[str] = field(default_factory=list)  # notes

    def fail(self, error: OpError) -> None:
        """Notes that a run failed. How long it took says nothing of the others."""
        self.runs += 1
        journal = self.explanation.journal
        if not journal.parts and not journal.is_broken_off:
            journal.is_broken_off = True
            own = [stage.name for stage in journal.stages if not stage.function]
            through = ", ".join(dict.fromkeys(own))
            journal.notes.append(
                f"This step failed before its nodes were told, after: {through}."
            )
        text = " ".join(error.message.partition("\n\nOriginal stack")[0].split())
        note = f"Run {self.runs} of this step failed: {type(error).__name__}: {text}"
        self.failures.append(note)
        journal.notes.append(note)


class ProgramSteps:
    """The steps that a program ran, in the order of their first runs."""

    def __init__(self) -> None:
        self.steps: list[ProgramStep] = []
        self._by_call: dict[Any, ProgramStep] = {}
        # By session and signature: calls that look different may be the same step.
        self._known: dict[tuple[int, StepSignature], ProgramStep] = {}
        self._sessions: list[BaseSession] = []  # they keep their identities
        self._partial: dict[tuple[int, Any], ProgramStep] = {}  # by session and handle
        self._partial_known: dict[tuple[int, StepSignature], ProgramStep] = {}

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
            explained = explained_step(session, fetches, feed_dict, journal)
            try:
                explained.prepare()
            except OpError as error:
                raise self._failed(session, explained, journal, error) from (
                    error.__cause__
                )
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

    def partial_run_setup(
        self, plain: Callable[..., Any], session: BaseSession, fetches: Any, feeds: Any
    ) -> Any:
        """Stands in for `Session.partial_run_setup`."""
        handle = plain(session, fetches, feeds)
        signature = partial_signature(
            session.graph, FetchPlan(session.graph, fetches), list(feeds or ())
        )
        key = id(session), signature
        if key not in self._partial_known:
            step = ProgramStep(_partial_explanation(session, signature))
            self._partial_known[key] = step
            self.steps.append(step)
            self._sessions.append(session)
        self._partial[id(session), handle] = self._partial_known[key]
        return handle

    def partial_run(
        self,
        plain: Callable[..., Any],
        session: BaseSession,
        handle: Any,
        fetches: Any,
        feed_dict: Any,
    ) -> Any:
        """Stands in for `Session.partial_run`; each call counts as a run."""
        step = self._partial.get((id(session), handle))
        begin = time.perf_counter()
        try:
            result = plain(session, handle, fetches, feed_dict)
        except OpError as error:
            if step is not None:
                step.fail(error)
            raise
        if step is not None:
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
            raise self._failed(session, step, journal, error) from error.__cause__

    def _failed(
        self,
        session: BaseSession,
        step: ExplainedStep | StepElsewhere,
        journal: Journal,
        error: OpError,
    ) -> OpError:
        """Notes a run that failed, or was not prepared; the error as it is shown."""
        shown = session._shown(error)
        if step.signature is None:
            return shown
        known = self._known.get((id(session), step.signature))
        if known is None and journal.stages:
            known = self._note(session, Explanation(step.signature, journal))
        if known is not None:
            known.fail(shown)
        return shown

    def _note(self, session: BaseSession, explanation: Explanation) -> ProgramStep:
        key = id(session), explanation.signature
        step = self._known.get(key)
        if step is None:
            step = self._known[key] = ProgramStep(explanation)
            self.steps.append(step)
            self._sessions.append(session)
        elif step.runs < _EXPLAINED_RUNS:
            explanation.journal.notes += step.failures
            step.explanation = explanation
            step.seconds = 0.0  # without the first run: it loads and compiles
        return step


def _partial_explanation(session: BaseSession, signature: StepSignature) -> Explanation:
    """What becomes of all that a partial run does, were it done at once."""
    journal = Journal()
    handle = session._extend_graph()
    with suppress(OpError):  # its calls say what is wrong
        if hasattr(session._master, "explain_step"):
            step = session._master.explain_step(handle, signature, journal)
            compile_for_any = getattr(step, "compile_for_any", None)
            if compile_for_any is not None:
                compile_for_any()
    if not journal.stages:
        built = session.graph.to_ir()
        journal.stage("prune", built, prune(built, signature, ""))
    journal.is_broken_off = not journal.parts
    journal.notes.append(
        "This is a partial run: each call of partial_run compiles and runs what its "
        "feeds allow. It is explained as if all ran at once; what a call takes over "
        "from those before is not told, and nothing is traced. Its runs are the calls."
    )
    return Explanation(signature, journal)


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

    def partial_run_setup(self: BaseSession, fetches: Any, feeds: Any = None) -> str:
        return str(steps.partial_run_setup(plain_setup, self, fetches, feeds))

    def partial_run(
        self: BaseSession, handle: Any, fetches: Any, feed_dict: Any = None
    ) -> Any:
        return steps.partial_run(plain_partial, self, handle, fetches, feed_dict)

    plain_setup, plain_partial = BaseSession.partial_run_setup, BaseSession.partial_run
    BaseSession.partial_run_setup = partial_run_setup  # type: ignore[method-assign]
    BaseSession.partial_run = partial_run  # type: ignore[method-assign]
    BaseSession.run = run  # type: ignore[method-assign]
    BaseSession._callables_skip_run = False
    try:
        yield steps
    finally:
        BaseSession.run = plain  # type: ignore[method-assign]
        BaseSession.partial_run_setup = plain_setup  # type: ignore[method-assign]
        BaseSession.partial_run = plain_partial  # type: ignore[method-assign]
        BaseSession._callables_skip_run = True
