"""Sessions that ask a debugger before and after each run."""

from __future__ import annotations

import abc
import re
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.session.base_session import SessionInterface
from tensorloom.debug.sessions.requests import (
    SESSIONS,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
    WatchOptions,
    check_type,
)
from tensorloom.debug.watching import watch_graph
from tensorloom.framework import errors
from tensorloom.framework.runtime import default_stack
from tensorloom.framework.types import nest
from tensorloom.train.sessions.wrapped_sessions import StepContext


class BaseDebugWrapperSession(SessionInterface, metaclass=abc.ABCMeta):
    """A session around another one; subclasses say what is done with a run."""

    def __init__(
        self,
        sess: Any,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
    ) -> None:
        """Wraps a session.

        Args:
          sess: a `tf.Session` or `MonitoredSession`.
          thread_name_filter: what the names of threads begin with whose runs are
            debugged; all threads' are, if it is None.
          pass_through_operrors: whether an error of a debugged run is raised; else the
            error is what `run` returns.

        Raises:
          TypeError: it is no session.
          ValueError: `on_session_init` gave an action that there is not.
        """
        check_type(sess, SESSIONS)
        self._sess = sess
        self._thread_pattern = (
            re.compile(thread_name_filter) if thread_name_filter else None
        )
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._default_session: Any = None
        response = self.on_session_init(OnSessionInitRequest(sess))
        check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError(
                "OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented."
            )
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    # --- the session -----------------------------------------------------------------

    @property
    def graph(self) -> Any:
        """The session's graph."""
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef`."""
        return self._sess.graph_def

    @property
    def sess_str(self) -> Any:
        """The session's target."""
        return self._sess.sess_str

    @property
    def session(self) -> Any:
        """The session that is wrapped."""
        return self._sess

    @property
    def run_call_count(self) -> int:
        """How many runs there were."""
        return self._run_call_count

    def increment_run_call_count(self) -> None:
        """Counts a run."""
        self._run_call_count += 1

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Raises NotImplementedError, as TensorFlow's."""
        raise NotImplementedError(
            "partial_run_setup is not implemented for debug-wrapper sessions."
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Raises NotImplementedError, as TensorFlow's."""
        raise NotImplementedError(
            "partial_run is not implemented for debug-wrapper sessions."
        )

    def list_devices(self, *args: Any, **kwargs: Any) -> Any:
        """As of the session."""
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """As of the session."""
        return self._sess.reset(*args, **kwargs)

    def should_stop(self) -> bool:
        """As of a monitored session; False of any other."""
        stops = getattr(self._sess, "should_stop", None)
        if stops is None:
            raise ValueError(
                "The wrapped session does not have a method called 'should_stop'. Do "
                "you want to wrap a tf.MonitoredSession instead?"
            )
        return bool(stops())

    def close(self) -> None:
        """Closes the session."""
        self._sess.close()

    def as_default(self) -> Any:
        """Makes this the default session of the thread, in a `with` block."""
        return default_stack.session_as_default(self)

    def __enter__(self) -> Any:
        if self._default_session is None:
            self._default_session = self.as_default()
        return self._default_session.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._default_session.__exit__(kind, error, traceback)
        self._default_session = None

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        """Calls a step function of a monitored session."""
        return step_fn(StepContext(self._sess, self.run))

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs one debugged step, as `Session.make_callable`."""
        runner = self._sess.make_callable(fetches, feed_list, accept_options=True)

        def run(*values: Any, **kwargs: Any) -> Any:
            return self.run(
                None,
                options=kwargs.get("options"),
                run_metadata=kwargs.get("run_metadata"),
                callable_runner=runner,
                callable_runner_args=values,
            )

        return run

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        def run(*values: Any, **kwargs: Any) -> Any:
            return self.run(
                None,
                run_metadata=kwargs.get("run_metadata"),
                callable_options=callable_options,
                callable_runner_args=values,
            )

        return run

    # --- runs ------------------------------------------------------------------------

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        callable_runner: Any = None,
        callable_runner_args: Sequence[Any] | None = None,
        callable_options: Any = None,
    ) -> Any:
        """Runs a step as the debugger wants it.

        Args:
          fetches, feed_dict, options, run_metadata: as for `Session.run`.
          callable_runner: instead of fetches and feeds: what `make_callable` gave.
          callable_runner_args: its arguments.
          callable_options: instead of both: a `CallableOptions`.

        Returns:
          What `Session.run` gives. After an error in a debugged run the error, unless
          it is passed through.

        Raises:
          ValueError: arguments exclude each other; the debugger's action is unknown.
        """
        self._check_arguments(fetches, feed_dict, callable_runner, callable_options)
        self.increment_run_call_count()
        values = tuple(callable_runner_args or ())

        def perform(options: Any, run_metadata: Any) -> Any:
            if callable_runner is not None:
                return callable_runner(
                    *values, options=options, run_metadata=run_metadata
                )
            if callable_options is not None:
                changed = _with_run_options(callable_options, options)
                made = self._sess._make_callable_from_options(changed)
                return made(*values, run_metadata=run_metadata)
            return self._sess.run(fetches, feed_dict, options, run_metadata)

        if callable_options is not None:
            options = callable_options.run_options
        is_empty = callable_runner is callable_options is None and _is_empty(fetches)
        if is_empty:
            program_log.info(
                "Due to empty fetches, tfdbg Session wrapper is letting a Session.run "
                "pass through without any debugging actions."
            )
        if is_empty or self._is_disabled_thread():
            return perform(options, run_metadata)
        response = self.on_run_start(
            OnRunStartRequest(
                fetches,
                feed_dict,
                options,
                run_metadata,
                self._run_call_count,
                is_callable_runner=callable_runner is not None,
            )
        )
        check_type(response, OnRunStartResponse)
        if response.action == OnRunStartAction.STEP_RUN:
            return self._step_through(fetches, feed_dict)
        result, request = self._perform(perform, response, options, run_metadata)
        check_type(self.on_run_end(request), OnRunEndResponse)
        return result

    @staticmethod
    def _check_arguments(
        fetches: Any, feed_dict: Any, callable_runner: Any, callable_options: Any
    ) -> None:
        if callable_runner is not None and callable_options is not None:
            raise ValueError(
                "callable_runner and callable_options are mutually exclusive, but are "
                "both specified in this call to BaseDebugWrapperSession.run()."
            )
        for name, given in (
            ("callable_runner", callable_runner),
            ("callable_options", callable_options),
        ):
            if given is not None and (fetches is not None or feed_dict):
                raise ValueError(
                    f"{name} and fetches/feed_dict are mutually exclusive, but are "
                    "used simultaneously."
                )

    def _perform(
        self,
        perform: Callable[[Any, Any], Any],
        response: OnRunStartResponse,
        options: Any,
        run_metadata: Any,
    ) -> tuple[Any, OnRunEndRequest]:
        from tensorloom.protos.config_pb2 import RunMetadata, RunOptions

        action = response.action
        if action == OnRunStartAction.NON_DEBUG_RUN:
            return perform(options, run_metadata), OnRunEndRequest(action)
        # A copy: what is watched in this run is not watched in the next one.
        changed = RunOptions()
        if options is not None:
            changed.CopyFrom(options)
        run_metadata = RunMetadata() if run_metadata is None else run_metadata
        failure = None
        if action == OnRunStartAction.PROFILE_RUN:
            self._decorate_run_options_for_profile(changed)
            result = perform(changed, run_metadata)
        elif action == OnRunStartAction.DEBUG_RUN:
            self._decorate_run_options_for_debug(
                changed,
                response.debug_urls,
                response.debug_ops,
                response.node_name_regex_whitelist,
                response.op_type_regex_whitelist,
                response.tensor_dtype_regex_whitelist,
                response.tolerate_debug_op_creation_failures,
            )
            try:
                result = perform(changed, run_metadata)
            except errors.OpError as error:
                if self._pass_through_operrors:
                    raise
                result = failure = error
        else:
            raise ValueError(f"Invalid OnRunStartAction value: {action}")
        graph_def = self._sess.graph.as_graph_def()
        return result, OnRunEndRequest(action, run_metadata, graph_def, failure)

    def _step_through(self, fetches: Any, feed_dict: Any) -> Any:
        """Runs a step node by node, where there is somebody to say so."""
        raise ValueError(f"Invalid OnRunStartAction value: {OnRunStartAction.STEP_RUN}")

    def _is_disabled_thread(self) -> bool:
        name = threading.current_thread().name or ""
        pattern = self._thread_pattern
        return pattern is not None and pattern.match(name) is None

    def _is_disk_usage_reset_each_run(self) -> bool:
        """Whether the dumps of a run are gone after it."""
        return False

    def _decorate_run_options_for_debug(
        self,
        run_options: Any,
        debug_urls: Any,
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        """Says in a `RunOptions` what is watched."""
        run_options.output_partition_graphs = True
        watch_graph(
            run_options,
            self._sess.graph,
            debug_ops,
            debug_urls,
            node_name_regex_whitelist,
            op_type_regex_whitelist,
            tensor_dtype_regex_whitelist,
            tolerate_debug_op_creation_failures,
            reset_disk_byte_usage=(
                self._run_call_count == 1 or self._is_disk_usage_reset_each_run()
            ),
        )

    def _decorate_run_options_for_profile(self, run_options: Any) -> None:
        """Says in a `RunOptions` that the run is traced."""
        run_options.trace_level = run_options.FULL_TRACE

    # --- the debugger ----------------------------------------------------------------

    @abc.abstractmethod
    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Is asked when a session is wrapped."""

    @abc.abstractmethod
    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Is asked before a run."""

    @abc.abstractmethod
    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Is told after a run."""


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A session whose runs are all debugged; nobody is asked."""

    def __init__(
        self,
        sess: Any,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
    ) -> None:
        """Wraps a session.

        Args:
          watch_fn: from (fetches, feeds) to `WatchOptions`; all is watched if it is
            None. The rest as for `BaseDebugWrapperSession`.

        Raises:
          TypeError: it is no function, or no session.
        """
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    @abc.abstractmethod
    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> Any:
        """The URLs that hear of a run with these arguments."""

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Debugs the run."""
        urls, options = self._prepare_run_watch_config(
            request.fetches, request.feed_dict
        )
        return OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN, urls, **watch_arguments(options)
        )

    def _prepare_run_watch_config(
        self, fetches: Any, feed_dict: Any
    ) -> tuple[Any, WatchOptions]:
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        options = (
            WatchOptions()
            if self._watch_fn is None
            else self._watch_fn(fetches, feed_dict)
        )
        if isinstance(options, tuple):  # as watch functions of earlier days return it
            options = WatchOptions(*options)
        return urls, options

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Does nothing."""
        return OnRunEndResponse()


def watch_arguments(options: WatchOptions | OnRunStartResponse) -> dict[str, Any]:
    """What both kinds of answer say of watches, as arguments by name."""
    return {
        name: getattr(options, name)
        for name in (
            "debug_ops",
            "node_name_regex_whitelist",
            "op_type_regex_whitelist",
            "tensor_dtype_regex_whitelist",
            "tolerate_debug_op_creation_failures",
        )
    }


def _with_run_options(callable_options: Any, run_options: Any) -> Any:
    changed = type(callable_options)()
    changed.CopyFrom(callable_options)
    changed.run_options.CopyFrom(run_options)
    return changed


def _is_empty(fetches: Any) -> bool:
    """Whether a structure has no fetch in it."""
    return nest.is_nested(fetches) and not nest.flatten(fetches)
