"""Hooks that debug the runs of monitored sessions and Estimators."""

from __future__ import annotations

from typing import Any

from tensorloom.debug.sessions.dumping import DumpingDebugWrapperSession
from tensorloom.debug.sessions.wrapper import watch_arguments
from tensorloom.debug.watching import watch_graph
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook


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
