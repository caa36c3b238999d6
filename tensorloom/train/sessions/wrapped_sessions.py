"""The sessions that a monitored session is made of, each around the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.inputs.queue_runner import RunnerThread
from tensorloom.train.sessions.interrupts import GUARD
from tensorloom.train.sessions.step_requests import MergedRuns

# What a task that goes away leaves behind; a new session may find it back.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
# How long queue runners may take to see that they should stop.
_RUNNERS_GRACE_SECS = 1.0
_ADVICE = (
    "This may be due to a preemption in a connected worker or parameter server. The "
    "current session will be closed and a new session will be created. This error may "
    "also occur due to a gRPC failure caused by high memory or network bandwidth usage "
    "in the parameter servers. If this error occurs repeatedly, try increasing the "
    "number of parameter servers assigned to the job. Error: %s"
)


class StepContext:
    """What the function of `run_step_fn` gets.

    Args:
      session: the session below the hooks.
      run_with_hooks_fn: runs a step with the hooks.
    """

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The session below the hooks: its `run` calls none of them."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """The same as `MonitoredSession.run`: with hooks, and never a second time."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Leaves the function and ends the training.

        Raises:
          StopIteration: always.
        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class _WrappedSession:
    """A session around another one, that of the graph or one of these."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, _WrappedSession)

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        """The target."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether the training is over: here, or in a session inside."""
        if self._check_stop():
            return True
        if self._sess:
            return self._wrapped_is_stoppable and self._sess.should_stop()
        return True

    def _check_stop(self) -> bool:
        """Whether it is over as far as this layer knows."""
        return False

    def close(self) -> None:
        """Closes the sessions inside; once."""
        if not self._sess:
            return
        try:
            self._sess.close()
        except _PREEMPTION_ERRORS as error:
            program_log.warning(
                "An error occurred when attempting to close the session. This may be "
                "due to a preemption in a connected worker or parameter server. "
                "Error: %s",
                error,
            )
        finally:
            self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """As `Session.run`."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(
        self,
        step_fn: Callable[..., Any],
        raw_session: Any,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Any:
        """Calls a step function; what it returns."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes a new session when a task was lost.

    Args:
      sess_creator: makes `_CoordinatedSession`s.
    """

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                program_log.info(
                    "An error was raised while a session was being created. This may "
                    "be due to a preemption of a connected worker or parameter server. "
                    "A new session will be created. This error may also occur due to a "
                    "gRPC failure caused by high memory or network bandwidth usage in "
                    "the parameter servers. If this error occurs repeatedly, try "
                    "increasing the number of parameter servers assigned to the job. "
                    "Error: %s",
                    error,
                )

    def _check_stop(self) -> bool:
        try:
            return self._sess._check_stop() if self._sess else True
        except _PREEMPTION_ERRORS as error:
            program_log.info(
                "An error was raised while considering whether the session is "
                f"complete. {_ADVICE}",
                error,
            )
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            # `should_stop` does not raise: `close` will.
            return True

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """As `Session.run`; again in a new session when a task was lost."""
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return self._sess.run(
                    fetches,
                    feed_dict=feed_dict,
                    options=options,
                    run_metadata=run_metadata,
                )
            except _PREEMPTION_ERRORS as error:
                self._drop(error)

    def run_step_fn(
        self,
        step_fn: Callable[..., Any],
        raw_session: Any,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Any:
        """Calls a step function; again with a new session when a task was lost."""
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                    raw_session = getattr(self._sess_creator, "tf_sess", raw_session)
                return self._sess.run_step_fn(step_fn, raw_session, self._sess.run)
            except _PREEMPTION_ERRORS as error:
                self._drop(error)

    def _drop(self, error: BaseException) -> None:
        program_log.info(f"An error was raised. {_ADVICE}", error)
        self.close()
        self._sess = None


class _CoordinatedSession(_WrappedSession):
    """Ends together with the threads of a coordinator.

    Args:
      sess: the session inside.
      coord: of the threads that feed it.
      stop_grace_period_secs: how long `close` waits for them.
    """

    def __init__(
        self, sess: Any, coord: Any, stop_grace_period_secs: float = 120
    ) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        # A thread that failed tells it here.
        self._coord.raise_requested_exception()
        return bool(self._coord.should_stop())

    def close(self) -> None:
        """Stops the threads and closes the session.

        Raises:
          Exception: what a thread failed with.
        """
        self._coord.request_stop()
        try:
            self._cancel_steps_of_runners()
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs,
                ignore_live_threads=True,
            )
        finally:
            try:
                super().close()
            except Exception as error:
                # The error of a thread, or of the program, is the one to be told.
                program_log.debug("Ignored exception while closing: %s", error)

    def _cancel_steps_of_runners(self) -> None:
        """Closes the session if queue runners wait in a step for what never comes.

        A queue that is closed ends the steps that wait at it. The chief's runner of
        `SyncReplicasOptimizer` waits for gradients: only the session's end ends that.
        """
        wait = min(_RUNNERS_GRACE_SECS, self._stop_grace_period_secs)
        left = self._coord.live_threads(wait)
        if left and all(isinstance(thread, RunnerThread) for thread in left):
            super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """As `Session.run`; what a thread lost its task with is raised instead."""
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception:
            # A thread that lost its task closes queues: what follows is its error.
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                raise
            except Exception as other:
                program_log.debug("Ignored exception of a thread: %s", other)
            raise


class _HookedSession(_WrappedSession):
    """Calls hooks before and after each step.

    Args:
      sess: the session of the graph.
      hooks: `SessionRunHook`s.
    """

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False
        self._merged = MergedRuns(sess)
        from tensorloom.protos.config_pb2 import RunMetadata, RunOptions

        self._new_options, self._new_metadata = RunOptions, RunMetadata

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """As `Session.run`, with what the hooks want beside.

        Raises:
          RuntimeError: a hook requested a stop before; or a tensor is fed twice.
        """
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        has_own_options = options is not None
        options = options or self._new_options()
        requests = []
        asking_more = []
        for hook in self._hooks:
            args = hook.before_run(context)
            requests.append(None if args is None else args.fetches)
            if args is not None and (args.feed_dict or args.options):
                asking_more.append(args)
        if asking_more:
            feed_dict = _merged_feeds(asking_more, feed_dict)
            for args in asking_more:
                if args.options:
                    _merge_run_options(options, args.options)
                    has_own_options = True
        # A step without options and metadata is the fastest.
        has_own_options |= run_metadata is not None
        run_metadata = run_metadata or self._new_metadata()
        caller, *results = GUARD.run(
            self._merged.run,
            fetches,
            requests,
            feed_dict,
            options if has_own_options else None,
            run_metadata if has_own_options else None,
        )
        for hook, values in zip(self._hooks, results, strict=True):
            hook.after_run(context, SessionRunValues(values, options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return caller


def _merged_feeds(asked: Sequence[SessionRunArgs], feed_dict: Any) -> Any:
    """The caller's feeds and those of hooks.

    Raises:
      RuntimeError: a tensor is fed twice.
    """
    feeds: dict[Any, Any] = {}
    for args in asked:
        if args.feed_dict:
            _check_disjoint(feeds, args.feed_dict, "Same tensor is fed by two hooks.")
            feeds.update(args.feed_dict)
    if not feeds:
        return feed_dict
    if feed_dict:
        _check_disjoint(
            feed_dict, feeds, "Same tensor is fed by a SessionRunHook and user."
        )
        feeds.update(feed_dict)
    return feeds


def _check_disjoint(
    one: Mapping[Any, Any], other: Mapping[Any, Any], problem: str
) -> None:
    both = set(one) & set(other)
    if both:
        raise RuntimeError(f"{problem} Conflict(s): {list(both)}")


def _merge_run_options(options: Any, incoming: Any) -> None:
    """What one of two `RunOptions` asks for, `options` asks for then."""
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, field, max(getattr(options, field), getattr(incoming, field)))
    for field in ("output_partition_graphs", "report_tensor_allocations_upon_oom"):
        setattr(options, field, getattr(options, field) or getattr(incoming, field))
    debug, incoming_debug = options.debug_options, incoming.debug_options
    debug.debug_tensor_watch_opts.extend(incoming_debug.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage |= incoming_debug.reset_disk_byte_usage
