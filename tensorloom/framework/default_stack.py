"""Default graphs and sessions: a stack of each in every thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.framework.dataflow_graph import Graph


class _Stacks(threading.local):
    """Each thread has its own."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []


_stacks = _Stacks()
_global_graph: list[Graph] = []  # at most one: the process-wide default graph
_global_lock = threading.Lock()


@export("get_default_graph")
def get_default_graph() -> Graph:
    """The innermost graph of this thread's `as_default`, or the process-wide one."""
    graphs = _stacks.graphs
    if graphs:
        return graphs[-1]
    if not _global_graph:
        from tensorloom.framework.dataflow_graph import Graph

        with _global_lock:
            if not _global_graph:
                _global_graph.append(Graph())
    return _global_graph[0]


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Replaces the process-wide default graph by an empty one.

    Raises:
      AssertionError: called inside a graph's or session's `as_default` block.
    """
    if _stacks.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need "
            "a cleared graph, exit the nesting and create a new graph."
        )
    with _global_lock:
        _global_graph.clear()


def graph_stack() -> list[Graph]:
    """This thread's graphs, innermost last (the list itself)."""
    return _stacks.graphs


@contextmanager
def graph_as_default(graph: Graph, enforce_nesting: bool = True) -> Iterator[Graph]:
    """Makes `graph` the default graph of this thread."""
    graphs = _stacks.graphs
    graphs.append(graph)
    try:
        yield graph
    finally:
        if enforce_nesting and graphs[-1] is not graph:
            raise AssertionError(
                f"Nesting violated for default stack of {type(graph)} objects"
            )
        if graph in graphs:  # without nesting: the innermost of equal entries
            del graphs[len(graphs) - 1 - graphs[::-1].index(graph)]


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost session of this thread's `as_default`, or None."""
    sessions = _stacks.sessions
    return sessions[-1] if sessions else None


@contextmanager
def session_as_default(session: Any, enforce_nesting: bool = True) -> Iterator[Any]:
    """Makes `session` the default session of this thread."""
    sessions = _stacks.sessions
    sessions.append(session)
    try:
        yield session
    finally:
        if enforce_nesting and sessions[-1] is not session:
            raise AssertionError(
                f"Nesting violated for default stack of {type(session)} objects"
            )
        if session in sessions:
            sessions.remove(session)


def run_in_session(
    fetches: Any,
    feed_dict: Mapping[Any, Any] | None,
    graph: Graph,
    session: Any,
    action: str,
    call: str,
) -> Any:
    """Runs `fetches` in `session` or the default one: `Tensor.eval`, `Operation.run`.

    Raises:
      ValueError: there is no session, or its graph is not `graph`.
    """
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot {action} using `{call.split('.')[-1]}()`: No default session "
                "is registered. Use `with sess.as_default()` or pass an explicit "
                f"session to `{call.split('.')[-1]}(session=sess)`"
            )
        if session.graph is not graph:
            raise ValueError(
                f"Cannot use the default session to {action}: the tensor's graph is "
                "different from the session's graph. Pass an explicit session to "
                f"`{call.split('.')[-1]}(session=sess)`."
            )
    elif session.graph is not graph:
        raise ValueError(
            f"Cannot use the given session to {action}: the tensor's graph is "
            "different from the session's graph."
        )
    return session.run(fetches, feed_dict)
