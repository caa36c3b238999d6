"""`Session.explain`: a step that is prepared anew while a journal listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan, make_run_function
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.garbage import collection_paused

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession
    from tensorloom.framework.interfaces import PreparedStep, StepSignature
    from tensorloom.framework.runtime.stage_journal import StageJournal


class ExplainedStep:
    """A step of a master in this process, which tells a journal what becomes of it."""

    def __init__(
        self, session: BaseSession, fetches: Any, feed_dict: Any, journal: StageJournal
    ) -> None:
        """Makes it; `prepare` is to be called first."""
        self._session, self._fetches, self._journal = session, fetches, journal
        self._feed_dict = feed_dict
        self.signature: StepSignature | None = None  # None: there is nothing to run
        self._prepared: PreparedStep | None = None

    def prepare(self) -> None:
        """Has the session's master prune the step, and more where no shape is missing.

        Raises:
          TypeError, ValueError, RuntimeError: as `Session.run`.
          errors.OpError: the step cannot be prepared.
        """
        session, feed_dict = self._session, self._feed_dict

        def prepare(signature: StepSignature) -> PreparedStep:
            handle = session._extend_graph()
            self.signature = signature
            with collection_paused():
                self._prepared = session._master.explain_step(  # type: ignore[attr-defined]
                    handle, signature, self._journal
                )
            return self._prepared

        feeds = FeedPlan(session.graph, feed_dict) if feed_dict else None
        plan = FetchPlan(session.graph, self._fetches)
        self._run = make_run_function(plan, feeds, prepare)

    def run(self, timeout_s: float | None = None) -> tuple[Any, StepContext]:
        """Runs the step once, traced.

        Args:
          timeout_s: after so long it fails; None: never.

        Returns:
          The fetches as `Session.run` gives them, and what was recorded.

        Raises:
          errors.OpError: the step failed.
        """
        step = StepContext(StepOptions(timeout_s, trace=True))
        return self._run(self._feed_dict, step), step

    def compile(self) -> None:
        """Compiles the step without running it, for any shapes of its feeds."""
        compile_for_any = getattr(self._prepared, "compile_for_any", None)
        if compile_for_any is not None:
            compile_for_any()
