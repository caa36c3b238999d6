"""Hooks that debug the runs of monitored sessions and Estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.debug.sessions.dumping import DumpingDebugWrapperSession
from tensorloom.debug.sessions.grpc import (
    GrpcDebugWrapperSession,
    TracebackSender,
    gated_watches,
)
from tensorloom.debug.sessions.local_cli import LocalCLIDebugWrapperSession
from tensorloom.debug.sessions.requests import (
    OnRunEndRequest,
    OnRunStartAction,
    OnRunStartRequest,
)
from tensorloom.debug.sessions.wrapper import watch_arguments
from tensorloom.debug.watching import watch_graph
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook


class LocalCLIDebugHook(SessionRunHook):
    """Brings up the command line of the debugger at the runs of a session."""

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: str | None = None,
    ) -> None:
        """The arguments are those of `LocalCLIDebugWrapperSession`."""
        self._arguments = {
            "ui_type": ui_type,
            "dump_root": dump_root,
            "thread_name_filter": thread_name_filter,
            "config_file_path": config_file_path,
        }
        self._wrapper: LocalCLIDebugWrapperSession | None = None
        self._filters: dict[str, Callable[[Any, Any], bool]] = {}
        self._action = ""

    def add_tensor_filter(
        self, filter_name: str, tensor_filter: Callable[[Any, Any], bool]
    ) -> None:
        """Adds a filter, see `LocalCLIDebugWrapperSession.add_tensor_filter`."""
        self._filters[filter_name] = tensor_filter
        if self._wrapper is not None:
            self._wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks what is to be done, and says what is watched."""
        from tensorloom.protos.config_pb2 import RunOptions

        if self._wrapper is None:
            arguments: dict[str, Any] = self._arguments
            self._wrapper = LocalCLIDebugWrapperSession(
                run_context.session, **arguments
            )
            self._wrapper.can_step = False
            for name, tensor_filter in self._filters.items():
                self._wrapper.add_tensor_filter(name, tensor_filter)
        wrapper = self._wrapper
        wrapper.increment_run_call_count()
        asked = run_context.original_args
        response = wrapper.on_run_start(
            OnRunStartRequest(
                asked.fetches, asked.feed_dict, None, None, wrapper.run_call_count
            )
        )
        self._action = response.action
        options = RunOptions()
        if self._action == OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_run_options_for_debug(
                options, response.debug_urls, **watch_arguments(response)
            )
        elif self._action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Shows what came of it."""
        assert self._wrapper is not None
        self._wrapper.on_run_end(OnRunEndRequest(self._action, run_values.run_metadata))


class DumpingDebugHook(SessionRunHook):
    """Dumps the runs of a session, as `DumpingDebugWrapperSession`."""

    def __init__(
        self,
        session_root: str,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        """The arguments are those of `DumpingDebugWrapperSession`."""
        self._session_root = session_root
        self._watch_fn = watch_fn
        self._thread_name_filter = thread_name_filter
        self._log_usage = log_usage
        self._wrapper: DumpingDebugWrapperSession | None = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Says what is watched, and where it is dumped."""
        is_first = self._wrapper is None
        if self._wrapper is None:
            self._wrapper = DumpingDebugWrapperSession(
                run_context.session,
                self._session_root,
                watch_fn=self._watch_fn,
                thread_name_filter=self._thread_name_filter,
                log_usage=self._log_usage,
            )
        self._wrapper.increment_run_call_count()
        asked = run_context.original_args
        urls, watched = self._wrapper._prepare_run_watch_config(
            asked.fetches, asked.feed_dict
        )
        return _watching(run_context, urls, watched, is_first)


class GrpcDebugHook(SessionRunHook):
    """Sends the runs of a session to debug servers, as `GrpcDebugWrapperSession`."""

    def __init__(
        self,
        grpc_debug_server_addresses: Any,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        """The arguments are those of `GrpcDebugWrapperSession`."""
        self._addresses = grpc_debug_server_addresses
        self._watch_fn = watch_fn
        self._thread_name_filter = thread_name_filter
        self._log_usage = log_usage
        self._wrapper: GrpcDebugWrapperSession | None = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Says what is watched, and who is told."""
        if self._wrapper is None:
            self._wrapper = GrpcDebugWrapperSession(
                run_context.session,
                self._addresses,
                watch_fn=self._watch_fn,
                thread_name_filter=self._thread_name_filter,
                log_usage=self._log_usage,
            )
        asked = run_context.original_args
        urls, watched = self._wrapper._prepare_run_watch_config(
            asked.fetches, asked.feed_dict
        )
        return _watching(run_context, urls, watched)


class TensorBoardDebugHook(GrpcDebugHook):
    """Sends what TensorBoard's debugger asks for of the runs of a session."""

    def __init__(
        self,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        log_usage: bool = True,
    ) -> None:
        """The arguments are those of `TensorBoardDebugWrapperSession`."""
        super().__init__(
            grpc_debug_server_addresses, gated_watches, thread_name_filter, log_usage
        )
        self._sender = (
            TracebackSender(grpc_debug_server_addresses)
            if send_traceback_and_source_code
            else None
        )

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """The same, after the program's source."""
        if self._sender is not None:
            asked = run_context.original_args
            self._sender.send(run_context.session.graph, asked.feed_dict, asked.fetches)
        return super().before_run(run_context)


def _watching(
    run_context: Any, urls: Any, watched: Any, reset_disk_byte_usage: bool = False
) -> SessionRunArgs:
    from tensorloom.protos.config_pb2 import RunOptions

    options = RunOptions()
    watch_graph(
        options,
        run_context.session.graph,
        debug_urls=urls,
        reset_disk_byte_usage=reset_disk_byte_usage,
        **watch_arguments(watched),
    )
    return SessionRunArgs(None, feed_dict=None, options=options)
