"""The stacks of `as_default`: each thread has one of graphs and one of sessions.

`graph/default_graph.py` tells the default graph: the process-wide one where the stack
is empty.
"""

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
    """A thread's graphs and sessions, innermost last."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []


stacks = _Stacks()


def graph_stack() -> list[Graph]:
    """This thread's graphs, innermost last (the list itself)."""
    return stacks.graphs


def graph_as_default(
    graph: Graph, enforce_nesting: bool = True
) -> AbstractContextManager[Graph]:
    """Makes `graph` the default graph of this thread, in a `with` block.

    Raises:
      AssertionError: at the end of the block another one is; with `enforce_nesting`.
    """
    return _pushed(stacks.graphs, graph, enforce_nesting)


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost session of this thread's `as_default`, or None."""
    sessions = stacks.sessions
    return sessions[-1] if sessions else None


def session_as_default(
    session: Any, enforce_nesting: bool = True
) -> AbstractContextManager[Any]:
    """Makes `session` the default session of this thread, in a `with` block.

    Raises:
      AssertionError: at the end of the block another one is; with `enforce_nesting`.
    """
    return _pushed(stacks.sessions, session, enforce_nesting)


@contextmanager
def _pushed(stack: list[T], item: T, enforce_nesting: bool) -> Iterator[T]:
    """Keeps an item on top of a stack; the stack may hold it further down, too."""
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
