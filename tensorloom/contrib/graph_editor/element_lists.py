"""Lists of operations and tensors, from the many ways in which programs give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Operation, Tensor

T = TypeVar("T")


def add_missing(into: list[T], items: Iterable[T]) -> list[T]:
    """Appends to `into` those of `items` that are not in it; returns `into`."""
    known = set(into)
    for item in items:
        if item not in known:
            known.add(item)
            into.append(item)
    return into


def is_iterable(value: Any) -> bool:
    """Whether it can be iterated over; a tensor counts as one thing."""
    if isinstance(value, Tensor):
        return False
    try:
        iter(value)
    except Exception:
        # Whatever an object raises, it cannot be iterated over.
        return False
    return True


def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """The leaves of nested dicts and iterables, in order, after those of `leaves`."""
    leaves = [] if leaves is None else leaves
    if not is_iterable(tree):
        leaves.append(tree)
        return leaves
    for child in tree.values() if isinstance(tree, dict) else tree:
        flatten_tree(child, leaves)
    return leaves


def transform_tree(
    tree: Any, fn: Callable[[Any], Any], iterable_type: Any = tuple
) -> Any:
    """The tree with `fn` applied to each leaf.

    Dicts, named tuples and sequences keep their types; other iterables become
    `iterable_type`.
    """
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((k, transform_tree(v, fn)) for k, v in tree.items())
    children = [transform_tree(child, fn) for child in tree]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*children)
    if isinstance(tree, (list, tuple)):
        return type(tree)(children)
    return iterable_type(children)


def check_graphs(*views: Any) -> None:
    """Raises ValueError unless all that have a graph have the same one."""
    graphs = [(i, v.graph) for i, v in enumerate(views) if v.graph is not None]
    for index, graph in graphs:
        if graph is not graphs[0][1]:
            raise ValueError(f"Argument[{index}]: Wrong graph!")


def get_unique_graph(
    tops: Any, check_types: Any = None, none_if_empty: bool = False
) -> Graph | None:
    """The graph that operations and tensors are of.

    Args:
      tops: an iterable of them, or a Graph, which is returned.
      check_types: the types that they may have; Operation and Tensor when None.
      none_if_empty: returns None for none of them, instead of raising.

    Raises:
      TypeError: `tops` is no iterable, or an element is of another type.
      ValueError: they are of several graphs, or there are none.
    """
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    if check_types is None:
        check_types = (Operation, Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    kinds: Any = tuple(check_types)
    graph: Graph | None = None
    for top in list[Any](tops):
        if not isinstance(top, kinds):
            names = ", ".join(str(t) for t in check_types)
            raise TypeError(f"Expected a type in ({names}), got: {type(top)}")
        if graph is None:
            graph = top.graph
        elif top.graph is not graph:
            raise ValueError(f"Operation {top} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _elements(
    values: Any, kind: Any, check_graph: bool, allow_graph: bool, ignore_others: bool
) -> list[Any]:
    if isinstance(values, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return (
            values.get_operations() if kind is Operation else list(get_tensors(values))
        )
    if not is_iterable(values):
        values = [values]
    if not values:
        return []
    if check_graph:
        get_unique_graph(values, check_types=None if ignore_others else kind)
    return [value for value in values if isinstance(value, kind)]


@export("contrib.graph_editor.make_list_of_op")
def make_list_of_op(
    ops: Any,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ts: bool = False,
) -> list[Operation]:
    """A new list of operations.

    Args:
      ops: an operation, an iterable of operations, or a Graph: all of its operations.
      check_graph: checks that all are of one graph, and of the right type.
      allow_graph: whether `ops` may be a Graph.
      ignore_ts: leaves tensors out, instead of raising.

    Raises:
      TypeError: an element is no operation, or `ops` a graph that is not allowed.
      ValueError: they are of several graphs.
    """
    return _elements(ops, Operation, check_graph, allow_graph, ignore_ts)


@export("contrib.graph_editor.make_list_of_t")
def make_list_of_t(
    ts: Any,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ops: bool = False,
) -> list[Tensor]:
    """A new list of tensors.

    Args:
      ts: a tensor, an iterable of tensors, or a Graph: all of its tensors.
      check_graph: checks that all are of one graph, and of the right type.
      allow_graph: whether `ts` may be a Graph.
      ignore_ops: leaves operations out, instead of raising.

    Raises:
      TypeError: an element is no tensor, or `ts` a graph that is not allowed.
      ValueError: they are of several graphs.
    """
    return _elements(ts, Tensor, check_graph, allow_graph, ignore_ops)


@export("contrib.graph_editor.get_tensors")
def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph. Raises TypeError if it is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


@export("contrib.graph_editor.get_generating_ops")
def get_generating_ops(ts: Any) -> list[Operation]:
    """The operation of each tensor. Raises TypeError for what is no tensor."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


@export("contrib.graph_editor.get_consuming_ops")
def get_consuming_ops(ts: Any) -> list[Operation]:
    """The operations that read the tensors, each once.

    Raises:
      TypeError: an element is no tensor.
    """
    found: list[Operation] = []
    for tensor in make_list_of_t(ts, allow_graph=False):
        add_missing(found, tensor.consumers())
    return found


class ListView:
    """A list that cannot be changed."""

    def __init__(self, list_: list[Any]) -> None:
        """Wraps a list. Raises TypeError for anything else."""
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __iter__(self) -> Any:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    def __bool__(self) -> bool:
        return bool(self._list)

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._list, *other]
