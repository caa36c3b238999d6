"""`tf.train.MonitoredSession`: a session with hooks that recovers from lost tasks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_collection,
    get_default_graph,
)
from tensorloom.train.inputs.coordinator import Coordinator
from tensorloom.train.inputs.queue_runner import start_queue_runners
from tensorloom.train.sessions.creators import ChiefSessionCreator, SessionCreator
from tensorloom.train.sessions.interrupts import GUARD
from tensorloom.train.sessions.wrapped_sessions import (
    StepContext as _StepContext,
)
from tensorloom.train.sessions.wrapped_sessions import (
    _CoordinatedSession,
    _HookedSession,
    _RecoverableSession,
)

if TYPE_CHECKING:
    from tensorloom.train.hooks.session_run_hook import SessionRunHook
    from tensorloom.train.sessions.scaffold import Scaffold


class _CoordinatedSessionCreator(SessionCreator):
    """Sessions with queue runners and hooks, around those of another creator."""

    def __init__(
        self,
        session_creator: SessionCreator,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None
        self._stop_grace_period_secs = stop_grace_period_secs

    def create_session(self) -> Any:
        """A new session; its threads run, and the hooks know it."""
        sess = self.tf_sess = self._session_creator.create_session()
        # Every error of a thread is told: the end of data is one in a queue.
        coord = self.coord = Coordinator(clean_stop_exception_types=[])
        session = _CoordinatedSession(
            _HookedSession(sess, self._hooks), coord, self._stop_grace_period_secs
        )
        try:
            if get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=sess, coord=coord)
            for hook in self._hooks:
                hook.after_create_session(sess, coord)
        except BaseException:
            _close_after_error(session)
            raise
        return session


def _close_after_error(session: Any) -> None:
    """Stops threads and session; the error that there is already is the one to tell."""
    try:
        session.close()
    except Exception as error:
        program_log.debug("Ignored exception while closing: %s", error)


class _MonitoredSession:
    """What `MonitoredSession` and `SingularMonitoredSession` share."""

    # Programs find it here; the sessions inside make them.
    StepContext = _StepContext
    _CoordinatedSessionCreator = _CoordinatedSessionCreator

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph = get_default_graph()
        self._graph_was_finalized = self._graph.finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = self._CoordinatedSessionCreator(
            session_creator=session_creator or ChiefSessionCreator(),
            hooks=self._hooks,
            stop_grace_period_secs=stop_grace_period_secs,
        )
        self._sess: Any = (
            _RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )
        GUARD.open()

    @property
    def graph(self) -> Any:
        """The graph; None when the session is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs a step with the hooks. Arguments and result are those of `Session.run`.

        Raises:
          RuntimeError: a hook has requested a stop, or a tensor is fed twice.
          Exception: of a hook, with its own traceback; as `Session.run`.
        """
        return self._sess.run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls a function that may run several steps, with and without the hooks.

        Args:
          step_fn: gets a `StepContext` as `step_context`.

        Returns:
          What it returns.

        Raises:
          StopIteration: it called `step_context.request_stop()`.
          ValueError: it has other arguments.
        """
        names = _argument_names(step_fn)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                "`step_context` arguments if it's an instance method. Got "
                f"{names} instead."
            )
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Whether the training is over."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Calls the hooks' `end`, stops the threads and closes the session.

        Raises:
          Exception: of a hook or a thread.
        """
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        # These two are how data ends, and with it the training.
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def _close_internal(
        self, exception_type: type[BaseException] | None = None
    ) -> None:
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._tf_sess())
            elif issubclass(exception_type, KeyboardInterrupt):
                self._save_what_was_trained()
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                if self._sess is not None:
                    GUARD.close()
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    self._graph._unsafe_unfinalize()

    def _save_what_was_trained(self) -> None:
        """Ctrl-C: hooks that keep results (`interrupted`) do it before the end."""
        session = self._tf_sess()
        for hook in self._hooks:
            save = getattr(hook, "interrupted", None)
            if save is None or session is None:
                continue
            try:
                save(session)
            except Exception as error:
                program_log.warning(
                    "%s could not save when the training was interrupted: %s",
                    type(hook).__name__,
                    error,
                )

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        """The session of the graph; None when it is closed."""
        return self._coordinated_creator.tf_sess


@export("train.MonitoredSession")
class MonitoredSession(_MonitoredSession):
    """A session that initializes itself, calls hooks, and recovers from lost tasks.

    Made in this order: `begin` of the hooks, the graph finalized, the model initialized
    or restored, queue runners started, `after_create_session` of the hooks. As a
    context manager it ends quietly with OutOfRangeError and StopIteration. After an
    AbortedError or UnavailableError the step is run again in a new session, which
    begins with the last checkpoint.

    Args:
      session_creator: makes the sessions; a `ChiefSessionCreator` when None.
      hooks: called around each step.
      stop_grace_period_secs: how long `close` waits for threads.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(
            session_creator,
            hooks,
            should_recover=True,
            stop_grace_period_secs=stop_grace_period_secs,
        )


@export("train.SingularMonitoredSession")
class SingularMonitoredSession(_MonitoredSession):
    """A monitored session that does not recover, and gives its session away.

    It is made like a `MonitoredSession`. `saver.save` takes its `raw_session()`.

    Args:
      hooks: called around each step.
      scaffold: what the model is initialized with.
      master: target of the session.
      config: a `tf.ConfigProto`.
      checkpoint_dir: its newest checkpoint is restored, if there is one.
      stop_grace_period_secs: how long `close` waits for threads.
      checkpoint_filename_with_path: the checkpoint to restore in place of that.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        super().__init__(
            ChiefSessionCreator(
                scaffold=scaffold,
                master=master,
                config=config,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path,
            ),
            hooks,
            should_recover=False,
            stop_grace_period_secs=stop_grace_period_secs,
        )

    def raw_session(self) -> Any:
        """The session of the graph; its `run` calls no hooks."""
        return self._tf_sess()


def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional arguments, without those that are bound."""
    if isinstance(function, functools.partial):
        names = _argument_names(function.func)[len(function.args) :]
        return tuple(name for name in names if name not in function.keywords)
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = function.__call__  # type: ignore[operator]
    names = tuple(inspect.getfullargspec(function).args)
    return names[1:] if inspect.ismethod(function) else names
