"""What a wrapped session and its debugger say to each other around a run."""

from __future__ import annotations

from typing import Any

from tensorloom.client.session.base_session import BaseSession
from tensorloom.train.sessions.monitored_session import (
    MonitoredSession,
    SingularMonitoredSession,
)
from tensorloom.train.sessions.wrapped_sessions import _WrappedSession


def check_type(value: Any, expected: Any) -> None:
    """Raises TypeError for a value that is not of the type."""
    if not isinstance(value, expected):
        raise TypeError(f"Expected type {expected}; got type {type(value)}")


# What can be wrapped; the last are what hooks of a monitored session see.
SESSIONS = (
    BaseSession,
    MonitoredSession,
    SingularMonitoredSession,
    _WrappedSession,
)


class OnSessionInitRequest:
    """A session is about to be wrapped."""

    def __init__(self, sess: Any) -> None:
        check_type(sess, SESSIONS)
        self.session = sess


class OnSessionInitAction:
    """What a debugger does with a new session."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnSessionInitResponse:
    """What the debugger chose."""

    def __init__(self, action: str) -> None:
        check_type(action, str)
        self.action = action


class OnRunStartAction:
    """How a run is done."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"
    STEP_RUN = "step_run"  # ours: node by node


class OnRunStartRequest:
    """A run is about to begin; the arguments are those of `Session.run`."""

    def __init__(
        self,
        fetches: Any,
        feed_dict: Any,
        run_options: Any,
        run_metadata: Any,
        run_call_count: int,
        is_callable_runner: bool = False,
    ) -> None:
        self.fetches = fetches
        self.feed_dict = feed_dict
        self.run_options = run_options
        self.run_metadata = run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


class OnRunStartResponse:
    """How the debugger wants the run: what is watched, and who is told."""

    def __init__(
        self,
        action: str,
        debug_urls: list[str],
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        check_type(action, str)
        check_type(debug_urls, list)
        self.action = action
        self.debug_urls = debug_urls
        self.debug_ops = debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


class OnRunEndRequest:
    """A run is over."""

    def __init__(
        self,
        performed_action: str,
        run_metadata: Any = None,
        client_graph_def: Any = None,
        tf_error: Exception | None = None,
    ) -> None:
        from tensorloom.protos.config_pb2 import RunMetadata

        check_type(performed_action, str)
        if run_metadata is not None:
            check_type(run_metadata, RunMetadata)
        self.performed_action = performed_action
        self.run_metadata = run_metadata
        self.client_graph_def = client_graph_def
        self.tf_error = tf_error


class OnRunEndResponse:
    """Says nothing yet."""


class WatchOptions:
    """Which tensors a `watch_fn` wants watched, and by which debug ops."""

    def __init__(
        self,
        debug_ops: Any = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"WatchOptions({facts})"
