"""Operations and tensors chosen by their names or by a function."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.graph_editor.element_lists import (
    add_missing,
    make_list_of_op,
    make_list_of_t,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Operation, Tensor

# A regular expression that begins so is for operations, or tensors, alone.
_FOR_OPS, _FOR_TS = "(?#ops)", "(?#ts)"


@export("contrib.graph_editor.can_be_regex")
def can_be_regex(obj: Any) -> bool:
    """Whether it is a string or a regular expression."""
    return isinstance(obj, (str, re.Pattern))


@export("contrib.graph_editor.make_regex")
def make_regex(obj: Any) -> re.Pattern[str]:
    """The compiled regular expression.

    Raises:
      ValueError: `obj` is neither a string nor a regular expression.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def input_tensors(ops: Any) -> list[Tensor]:
    """The inputs of operations, each once."""
    return add_missing([], (t for op in make_list_of_op(ops) for t in op.inputs))


def output_tensors(ops: Any) -> list[Tensor]:
    """The outputs of operations."""
    return [t for op in make_list_of_op(ops) for t in op.outputs]


@export("contrib.graph_editor.filter_ts")
def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """The inputs and outputs of operations that pass a filter.

    Args:
      ops: what `make_list_of_op` takes.
      positive_filter: a function of a tensor, true for those to keep; True: all.

    Raises:
      TypeError: `ops` are no operations.
    """
    tensors = add_missing(input_tensors(ops), output_tensors(ops))
    return [t for t in tensors if positive_filter is True or positive_filter(t)]


@export("contrib.graph_editor.filter_ts_from_regex")
def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """The inputs and outputs of operations in whose names `regex` is found.

    Raises:
      TypeError: `ops` are no operations.
      ValueError: `regex` is none.
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name))


@export("contrib.graph_editor.filter_ops")
def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """The operations that pass a filter.

    Args:
      ops: what `make_list_of_op` takes.
      positive_filter: a function of an operation, true for those to keep; True: all.

    Raises:
      TypeError: `ops` are no operations.
    """
    found = make_list_of_op(ops)
    return [op for op in found if positive_filter is True or positive_filter(op)]


@export("contrib.graph_editor.filter_ops_from_regex")
def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """The operations in whose names `regex` is found.

    Raises:
      TypeError: `ops` are no operations.
      ValueError: `regex` is none.
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


@export("contrib.graph_editor.get_name_scope_ops")
def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """The operations in a name scope, and the one with its very name.

    Raises:
      TypeError: `ops` are no operations.
    """
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


def _keywords(kwargs: dict[str, Any]) -> tuple[Graph | None, Any]:
    known = {"graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"}
    for name in kwargs:
        if name not in known:
            raise ValueError(f"Wrong keywords argument: {name}.")
    graph = kwargs.get("graph")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    return graph, kwargs.get("positive_filter")


def _select(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    mine: str,
    others: str,
    restricted: bool,
    by_name: Callable[[Any, Any], list[Any]],
    listed: Callable[[Any], list[Any]],
) -> list[Any]:
    graph, passes = _keywords(kwargs)
    found: list[Any] = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            regex = make_regex(arg)
            start = regex.pattern
            if start.startswith(others) or (restricted and not start.startswith(mine)):
                continue
            candidates = by_name(graph, regex)
        else:
            candidates = listed(arg)
        add_missing(found, [c for c in candidates if passes is None or passes(c)])
    return found


@export("contrib.graph_editor.select_ops")
def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Operations by regular expressions and from lists; tensors are left out.

    Args:
      *args: regular expressions (one that begins with `(?#ts)` is for tensors), and
        operations, alone or in iterables.
      **kwargs: `graph`: where regular expressions search. `positive_filter`: a function
        of an operation, true for those to keep. `restrict_ops_regex`: takes only
        regular expressions that begin with `(?#ops)`.

    Raises:
      TypeError: `graph` is no graph, or an argument nothing of the above.
      ValueError: an unknown keyword, or a regular expression without a graph.
    """
    restricted = bool(kwargs.get("restrict_ops_regex", False))
    return _select(
        args,
        kwargs,
        _FOR_OPS,
        _FOR_TS,
        restricted,
        filter_ops_from_regex,
        lambda arg: make_list_of_op(arg, ignore_ts=True),
    )


@export("contrib.graph_editor.select_ts")
def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors by regular expressions and from lists; operations are left out.

    Args:
      *args: regular expressions (one that begins with `(?#ops)` is for operations), and
        tensors, alone or in iterables.
      **kwargs: `graph`: where regular expressions search. `positive_filter`: a function
        of a tensor, true for those to keep. `restrict_ts_regex`: takes only regular
        expressions that begin with `(?#ts)`.

    Raises:
      TypeError: `graph` is no graph, or an argument nothing of the above.
      ValueError: an unknown keyword, or a regular expression without a graph.
    """
    restricted = bool(kwargs.get("restrict_ts_regex", False))
    return _select(
        args,
        kwargs,
        _FOR_TS,
        _FOR_OPS,
        restricted,
        filter_ts_from_regex,
        lambda arg: make_list_of_t(arg, ignore_ops=True),
    )


@export("contrib.graph_editor.select_ops_and_ts")
def select_ops_and_ts(
    *args: Any, **kwargs: Any
) -> tuple[list[Operation], list[Tensor]]:
    """`select_ops` and `select_ts` of the same arguments.

    Regular expressions for tensors must begin with `(?#ts)`.

    Raises:
      TypeError, ValueError: as `select_ops` and `select_ts` do.
    """
    return (
        select_ops(*args, restrict_ops_regex=False, **kwargs),
        select_ts(*args, restrict_ts_regex=True, **kwargs),
    )
