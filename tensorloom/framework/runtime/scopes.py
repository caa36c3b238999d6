"""Module-level scopes over the default graph: `tf.name_scope`, `tf.device`, ..."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph, global_graph
from tensorloom.framework.graph.lifted_tensors import enclosing_graph
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime import default_stack

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph


@export("name_scope", "keras.backend.name_scope")
class name_scope:
    """Context manager for ops that take a name: enters the values' graph and a scope.

    Args:
      name: the scope's name; with None, `default_name` is used.
      default_name: what to use when `name` is None.
      values: the tensors that will be inputs; they must be of one graph.

    Raises:
      TypeError: `default_name` is given and is not a string.
      ValueError: neither a name nor values are given.
    """

    def __init__(
        self,
        name: str | None,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
    ) -> None:
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. "
                "You likely meant to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values

    @property
    def name(self) -> str | None:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                "At least one of name (None) and default_name "
                f"({self._default_name}) must be provided."
            )
        graph = graph_from_inputs(self._values) if self._values else get_default_graph()
        # The innermost default graph need not be entered again.
        self._entered: AbstractContextManager[Any] | None = None
        if graph is not get_default_graph():
            self._entered = graph.as_default()
            self._entered.__enter__()
        try:
            scope, self._outer = graph.enter_name_scope(self._name)
        except BaseException:
            if self._entered is not None:
                self._entered.__exit__(None, None, None)
            raise
        self._graph = graph
        return scope

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._graph._scopes.name_stack = self._outer
        if self._entered is not None:
            self._entered.__exit__(exc_type, exc, traceback)


@export("op_scope")
@contextmanager
def op_scope(
    values: Sequence[Any], name: str | None, default_name: str | None = None
) -> Iterator[str]:
    """Old spelling of `name_scope(name, default_name, values)`."""
    with name_scope(name, default_name=default_name, values=values) as scope:
        yield scope


def get_name_scope() -> str | None:
    """The current scope of the default graph, without its `/`."""
    return get_default_graph().get_name_scope()


@export("device")
def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """`Graph.device` of the default graph."""
    return get_default_graph().device(device_name_or_function)


@export("container")
def container(container_name: str) -> AbstractContextManager[str]:
    """`Graph.container` of the default graph."""
    return get_default_graph().container(container_name)


@export("colocate_with")
def colocate_with(
    op: Any, ignore_existing: bool = False
) -> AbstractContextManager[None]:
    """`Graph.colocate_with` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


@export("control_dependencies")
def control_dependencies(control_inputs: Any) -> AbstractContextManager[None]:
    """`Graph.control_dependencies` of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


@export("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """Leaves function bodies, control dependencies and colocation for the block.

    Operations made inside land in the outermost graph that is not a function body,
    under the current name scope and device.
    """
    graph, inner = get_default_graph(), None
    # Branches and bodies of loops: TensorFlow builds them in the graph around them.
    scope = graph.name_scope_around()
    for candidate in reversed(default_stack.graph_stack()):
        graph = candidate
        if inner is None and graph.has_devices:
            inner = graph
        if not candidate._building_function:
            break
    else:
        if graph._building_function:
            graph = getattr(graph, "outer_graph", None) or global_graph()
    with (
        graph.as_default(),
        graph.control_dependencies(None),
        graph.name_scope(f"{scope}/" if scope else None),
        graph.devices_of(inner or graph),
    ):
        yield


# --- collections of the default graph -----------------------------------------


@export("add_to_collection")
def add_to_collection(name: Any, value: Any) -> None:
    """`Graph.add_to_collection` of the default graph."""
    get_default_graph().add_to_collection(name, value)


@export("add_to_collections")
def add_to_collections(names: Any, value: Any) -> None:
    """`Graph.add_to_collections` of the default graph."""
    get_default_graph().add_to_collections(names, value)


@export("get_collection")
def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """`Graph.get_collection` of the default graph."""
    return get_default_graph().get_collection(key, scope)


@export("get_collection_ref")
def get_collection_ref(key: Any) -> list[Any]:
    """`Graph.get_collection_ref` of the default graph."""
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list[Any]:
    """`Graph.get_all_collection_keys` of the default graph."""
    return get_default_graph().get_all_collection_keys()


# --- which graph ---------------------------------------------------------------


def graph_from_inputs(inputs: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph of the tensors and operations among `inputs`, else the default one.

    Raises:
      ValueError: they are of different graphs.
    """
    if graph is None and get_default_graph().building_function:
        # A function body captures tensors of the graphs around it.
        return get_default_graph()
    found = None
    for value in inputs:
        element: Any = None
        if isinstance(value, Tensor | Operation):
            element = value
        else:
            converter = getattr(value, "_as_graph_element", None)
            if converter is not None:
                element = converter()
            elif getattr(value, "_is_composite", False):
                element = value
        if element is None:
            continue
        place = enclosing_graph(element.graph)
        if graph is None:
            graph, found = place, element
        elif place is not graph:
            if found is not None:
                raise ValueError(f"{element} must be from the same graph as {found}.")
            raise ValueError(f"{element} is not from the passed-in graph.")
    return graph or get_default_graph()


_uid_lock = threading.Lock()
_uid_next = 0


def uid() -> int:
    """A process-wide unique integer."""
    global _uid_next
    with _uid_lock:
        _uid_next += 1
        return _uid_next
