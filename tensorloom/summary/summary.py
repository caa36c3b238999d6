"""`tf.summary.scalar` and its kin: ops that make serialized `Summary` messages."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.distribution.thread_modes import skips_summaries
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import get_name_scope
from tensorloom.ops.array.constant import constant

_INVALID_CHARACTERS = re.compile(r"[^-/\w\.]")


def _clean(name: str | None) -> str | None:
    """A tag without what a node's name cannot have."""
    return None if name is None else _INVALID_CHARACTERS.sub("_", name).lstrip("/")


def kept_once(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Of several replicas of a model, only the first one makes the summary.

    The others get an empty string.
    """

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Tensor:
        if skips_summaries():
            return constant("")
        return function(*args, **kwargs)

    return made


@contextmanager
def summary_scope(
    name: str, family: str | None, default_name: str | None, values: list[Any]
) -> Iterator[tuple[str, str]]:
    """(tag, name scope) of a summary."""
    tag, group = _clean(name), _clean(family)
    base = tag if group is None else f"{group}/{tag}"
    graph, outer = get_default_graph(), get_name_scope()
    with name_scope(base, default_name, values) as scope:
        path = scope.rstrip("/")
        if isinstance(graph, FuncGraph) and graph.outer_scope:
            wanted = posixpath.join(outer or "", base or default_name or "")
            path = graph.name_around(wanted)
        yield (path if group is None else f"{group}/{path}"), scope


def collect(summary: Tensor, collections: Any, default: list[str]) -> Tensor:
    """Adds a summary to collections, to those of `default` if it is None."""
    for key in default if collections is None else collections:
        add_to_collection(key, summary)
    return summary


@export("summary.scalar")
@kept_once
def scalar(
    name: str, tensor: Any, collections: Any = None, family: str | None = None
) -> Tensor:
    """A summary with one number.

    Args:
      name: of the node and, in its scope, of the series.
      tensor: a real scalar.
      collections: keys to add it to; `[GraphKeys.SUMMARIES]` when None.
      family: groups series; put before the tag.

    Returns:
      A scalar string tensor: a serialized `Summary`.
    """
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = apply_op("ScalarSummary", tags=tag, values=tensor, name=scope)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.histogram")
@kept_once
def histogram(
    name: str, values: Any, collections: Any = None, family: str | None = None
) -> Tensor:
    """A summary with a histogram of real values; arguments as in `scalar`."""
    default_name = "HistogramSummary"
    with summary_scope(name, family, default_name, [values]) as (tag, scope):
        summary = apply_op("HistogramSummary", tag=tag, values=values, name=scope)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.merge")
@kept_once
def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """One summary with the values of several."""
    name = _clean(name)
    with name_scope(name, "Merge", inputs):
        summary = apply_op("MergeSummary", inputs=inputs, name=name)
        return collect(summary, collections, [])


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """One summary with the values of all that were collected; None if there are none.

    Args:
      key: the collection.
      scope: a regular expression; only summaries whose name matches its start.
    """
    summaries = get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


@export("summary.get_summary_description")
def get_summary_description(node_def: Any) -> Any:
    """The `SummaryDescription` in the NodeDef of a `TensorSummary`.

    Raises:
      ValueError: the node is another op.
    """
    from google.protobuf import json_format

    from tensorloom.protos.summary_pb2 import SummaryDescription

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    text = node_def.attr["description"].s.decode()
    return json_format.Parse(text, SummaryDescription())
