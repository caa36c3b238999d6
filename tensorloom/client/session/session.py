"""`Session` and `InteractiveSession`: default sessions, as a program holds them."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tensorloom.client.session import master_factory, session_arguments
from tensorloom.client.session.base_session import BaseSession, local_sessions
from tensorloom.framework.export import export
from tensorloom.framework.runtime import default_stack

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.graph.graph import Graph
    from tensorloom.framework.runtime import session_config


@export("Session")
class Session(BaseSession):
    """Runs the operations of a graph; a context manager that closes itself."""

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        super().__init__(target, graph, config=config)
        self._graph_context: AbstractContextManager[Any] | None = None
        self._session_context: AbstractContextManager[Any] | None = None

    def __enter__(self) -> Session:
        """Makes this the default session and its graph the default graph.

        Raises:
          RuntimeError: it is entered already.
        """
        if self._graph_context is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use "
                "`Session.as_default()` if you want to enter a session multiple times."
            )
        self._graph_context = self._graph.as_default()
        self._session_context = self.as_default()
        self._graph_context.__enter__()
        self._session_context.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._graph_context is not None
        assert self._session_context is not None
        try:
            self._session_context.__exit__(exc_type, exc, traceback)
            self._graph_context.__exit__(exc_type, exc, traceback)
        finally:
            self._session_context = None
            self._graph_context = None
            self.close()

    @staticmethod
    def reset(
        target: str, containers: Sequence[str] | None = None, config: Any = None
    ) -> None:
        """Deletes the variables of the containers and closes all sessions of a target.

        Args:
          target: as for a session.
          containers: names; all containers when None or empty.
          config: a `tf.ConfigProto`.
        """
        session_arguments.check_target(target)
        names, decoded = list(containers or ()), session_arguments.decode_config(config)
        if target:
            master_factory.make_master(target, decoded).reset(names)
            return
        # Local sessions have a master each: the local "server" is all of them.
        for session in list(local_sessions):
            session._reset(names)


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from its making until `close`."""

    _count_lock = threading.Lock()
    _active_session_count = 0

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        super().__init__(target, graph, config)
        cls = InteractiveSession
        with cls._count_lock:
            if cls._active_session_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause "
                    "out-of-memory errors in some cases. You must explicitly call "
                    "`InteractiveSession.close()` to release resources held by the "
                    "other session(s).",
                    stacklevel=2,
                )
            cls._active_session_count += 1
        self._is_counted = True
        self._session_context = default_stack.session_as_default(
            self, enforce_nesting=False
        )
        self._session_context.__enter__()
        self._graph_context: AbstractContextManager[Any] | None = None
        if graph is not None:
            self._graph_context = default_stack.graph_as_default(
                graph, enforce_nesting=False
            )
            self._graph_context.__enter__()

    def _decode(self, config: Any) -> session_config.SessionConfig:
        # A notebook is full of half-built things: only what is run must be placed.
        return dataclasses.replace(
            session_arguments.decode_config(config), place_pruned_graph=True
        )

    def close(self) -> None:
        """Closes the session; it is no longer the default one."""
        super().close()
        if not getattr(self, "_is_counted", False):
            return
        self._is_counted = False
        with InteractiveSession._count_lock:
            InteractiveSession._active_session_count -= 1
        if self._graph_context is not None:
            self._graph_context.__exit__(None, None, None)
        self._session_context.__exit__(None, None, None)
