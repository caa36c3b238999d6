"""Explains one step of a session: `Session.explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.session.base_session import EXPLAINERS
from tensorloom.client.session.explained_step import ExplainedStep
from tensorloom.inspect.explain.elsewhere import StepElsewhere
from tensorloom.inspect.explain.explanation import Explanation
from tensorloom.inspect.explain.journal import Journal

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession


def explained_step(
    session: BaseSession, fetches: Any, feed_dict: Any, journal: Journal
) -> ExplainedStep | StepElsewhere:
    """A step that tells a journal, by the stages of a master of this process or not.

    It is to be prepared before anything else.
    """
    if hasattr(session._master, "explain_step"):
        return ExplainedStep(session, fetches, feed_dict, journal)
    return StepElsewhere(session, fetches, feed_dict, journal)


def time_limit(session: BaseSession, options: Any = None) -> float | None:
    """Seconds after which a step fails, by its `RunOptions` or the session's config."""
    if options is not None and options.timeout_in_ms:
        return float(options.timeout_in_ms) / 1e3
    defaults = session._default_options
    return None if defaults is None else defaults.timeout_s


def explain(
    session: BaseSession, fetches: Any, feed_dict: Any = None, run: bool = True
) -> Explanation:
    """Explains a step; see `Session.explain`.

    Raises:
      ValueError: there is nothing to compute: all that is fetched is fed.
      errors.UnimplementedError: the master is another process's, and the step is not to
        be run.
    """
    journal = Journal()
    step = explained_step(session, fetches, feed_dict, journal)
    step.prepare()
    if step.signature is None:
        raise ValueError(
            "There is no step to explain: nothing is fetched but what is fed."
        )
    if not run:
        step.compile()
        return Explanation(step.signature, journal)
    results, context = step.run(time_limit(session))
    return Explanation(step.signature, journal, context.metadata.node_stats, results)


EXPLAINERS.append(explain)
