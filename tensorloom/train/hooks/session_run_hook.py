"""`tf.train.SessionRunHook`, and what a hook and its session tell each other."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.framework.export import export


@export("train.SessionRunHook", "estimator.SessionRunHook")
class SessionRunHook:
    """Base class of what a monitored session calls around its steps.

    In a session's life: `begin`, `after_create_session`, then for each step
    `before_run` and `after_run`, and at the end `end`. An exception in one of them ends
    the training: the session is closed, and the exception reaches the caller.
    """

    def begin(self) -> None:
        """Called once, before the session is made: operations may still be added."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when there is a session, and again when it had to be made anew.

        The graph is finalized.

        Args:
          session: the new session; variables are initialized.
          coord: the `tf.train.Coordinator` of all threads of the session.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each step.

        Args:
          run_context: what the step will run, and the session.

        Returns:
          What to fetch and feed beside, or None.
        """
        return None

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Called after each step that did not fail.

        Args:
          run_context: as for `before_run`; `request_stop` ends the training.
          run_values: the values of what `before_run` asked for.
        """

    def end(self, session: Any) -> None:
        """Called at the end of training, while the session is still open.

        Not called if an exception ended it, other than OutOfRangeError and
        StopIteration.
        """


@export("train.SessionRunArgs", "estimator.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """What a hook adds to a step."""

    fetches: Any
    """Structure as for `Session.run`, or None."""
    feed_dict: Any = None
    """Tensor to value, as for `Session.run`; no tensor may be fed twice."""
    options: Any = None
    """A `tf.RunOptions` that is merged with those of others."""


@export("train.SessionRunContext", "estimator.SessionRunContext")
class SessionRunContext:
    """What hooks are told about a step."""

    __slots__ = ("_original_args", "_session", "_stop_requested")

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The fetches and feeds of the caller, without those of hooks."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session that runs the step."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether `request_stop` was called."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Ends the training after this step."""
        self._stop_requested = True


@export("train.SessionRunValues", "estimator.SessionRunValues")
class SessionRunValues(NamedTuple):
    """What a hook learns of a step."""

    results: Any
    """The values of the hook's fetches, in their structure; None if it had none."""
    options: Any
    """The `tf.RunOptions` of the step."""
    run_metadata: Any
    """The `tf.RunMetadata` of the step, filled if its options asked for that."""
