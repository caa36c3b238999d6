"""Whether Keras layers train: a placeholder of each graph, or what the program says."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, get_default_graph, name_scope
from tensorloom.ops.array.placeholder import placeholder_with_default

_phases: weakref.WeakKeyDictionary[Graph, Any] = weakref.WeakKeyDictionary()


def _graph() -> Graph:
    graph: Any = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    return graph  # type: ignore[no-any-return]


@export("keras.backend.learning_phase")
def learning_phase() -> Any:
    """The graph's phase: a bool tensor that is False unless it is fed, or a number."""
    graph = _graph()
    if graph not in _phases:
        with graph.as_default(), name_scope(""):
            _phases[graph] = placeholder_with_default(
                False, shape=(), name="keras_learning_phase"
            )
    return _phases[graph]


@export("keras.backend.set_learning_phase")
def set_learning_phase(value: int) -> None:
    """Fixes the phase of the graph: 0 is inference, 1 is training.

    Raises:
      ValueError: another value.
    """
    if value not in (0, 1):
        raise ValueError(f"Expected learning phase to be 0 or 1, not {value!r}.")
    _phases[_graph()] = value


@export("keras.backend.learning_phase_scope")
@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Fixes the phase inside, as `set_learning_phase` does."""
    graph = _graph()
    before = _phases.get(graph)
    set_learning_phase(value)
    try:
        yield
    finally:
        if before is None:
            _phases.pop(graph, None)
        else:
            _phases[graph] = before
