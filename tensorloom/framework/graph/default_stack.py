"""Default graphs and sessions: a stack of each in every thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph

T = TypeVar("T")


class _Stacks(threading.local):
    """Each thread has its own."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []


_stacks = _Stacks()
_global_graph: Graph | None = None  # the process-wide default graph
_global_lock = threading.Lock()


@export("get_default_graph")
def get_default_graph() -> Graph:
    """The innermost graph of this thread's `as_default`, or the process-wide one."""
    global _global_graph
    graphs = _stacks.graphs
    if graphs:
        return graphs[-1]
    # Read once: another thread may reset it.
    graph = _global_graph
    if graph is None:
        from tensorloom.framework.graph.dataflow_graph import Graph

        with _global_lock:
            graph = _global_graph
            if graph is None:
                graph = _global_graph = Graph()
    return graph


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Replaces the process-wide default graph by an empty one.

    Raises:
      AssertionError: called inside a graph's or session's `as_default` block.
    """
    global _global_graph
    if _stacks.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need "
            "a cleared graph, exit the nesting and create a new graph."
        )
    with _global_lock:
        _global_graph = None


def graph_stack() -> list[Graph]:
    """This thread's graphs, innermost last (the list itself)."""
    return _stacks.graphs


def graph_as_default(
    graph: Graph, enforce_nesting: bool = True
) -> AbstractContextManager[Graph]:
    """Makes `graph` the default graph of this thread, in a `with` block.

    Raises:
      AssertionError: at the end of the block another one is; with `enforce_nesting`.
    """
    return _pushed(_stacks.graphs, graph, enforce_nesting)


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost session of this thread's `as_default`, or None."""
    sessions = _stacks.sessions
    return sessions[-1] if sessions else None


def session_as_default(
    session: Any, enforce_nesting: bool = True
) -> AbstractContextManager[Any]:
    """Makes `session` the default session of this thread, in a `with` block.

    Raises:
      AssertionError: at the end of the block another one is; with `enforce_nesting`.
    """
    return _pushed(_stacks.sessions, session, enforce_nesting)


@contextmanager
def _pushed(stack: list[T], item: T, enforce_nesting: bool) -> Iterator[T]:
    """The item on top of the stack, in which it may be further down as well."""
    stack.append(item)
    try:
        yield item
    finally:
        if enforce_nesting and (not stack or stack[-1] is not item):
            raise AssertionError(
                f"Nesting violated for default stack of {type(item)} objects"
            )
        if item in stack:  # an interactive session may have taken it out
            del stack[len(stack) - 1 - stack[::-1].index(item)]


def run_in_session(
    fetches: Any,
    feed_dict: Mapping[Any, Any] | None,
    graph: Graph,
    session: Any,
    action: str,
    method: str,
) -> Any:
    """Runs `fetches` in `session` or the default one: `Tensor.eval`, `Operation.run`.

    Args:
      action, method: what is done, and by which method; for messages.

    Raises:
      ValueError: there is no session, or its graph is not `graph`.
    """
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot {action} using `{method}()`: No default session is "
                "registered. Use `with sess.as_default()` or pass an explicit session "
                f"to `{method}(session=sess)`"
            )
        if session.graph is not graph:
            raise ValueError(
                f"Cannot use the default session to {action}: the tensor's graph is "
                "different from the session's graph. Pass an explicit session to "
                f"`{method}(session=sess)`."
            )
    elif session.graph is not graph:
        raise ValueError(
            f"Cannot use the given session to {action}: the tensor's graph is "
            "different from the session's graph."
        )
    return session.run(fetches, feed_dict)
