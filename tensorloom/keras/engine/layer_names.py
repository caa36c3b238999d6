"""Names of layers: those of their classes, numbered in each graph."""

from __future__ import annotations

import functools
import re
import weakref
from typing import Any

from tensorloom.framework.graph.graph import Graph, get_default_graph

_Uids = dict[tuple[str, str], int]
_layer_names: weakref.WeakKeyDictionary[Graph, _Uids] = weakref.WeakKeyDictionary()


def _outer_graph() -> Graph:
    graph: Any = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    return graph  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1024)
def snake_case(name: str) -> str:
    """`LSTMCell` -> `lstm_cell`."""
    parted = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    parted = re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()
    return parted if parted[0] != "_" else f"private{parted}"


def unique_layer_name(
    base: str,
    zero_based: bool = False,
    name_uid_map: Any = None,
    avoid_names: Any = (),
    namespace: str = "",
) -> str:
    """A name that no layer of the graph outside of all functions has yet.

    `dense_1`, `dense_2`, ...; zero-based: `dense`, `dense_1`, ...
    """
    if name_uid_map is None:
        name_uid_map = _layer_names.setdefault(_outer_graph(), {})
    key = (namespace, base)
    while True:
        count = name_uid_map.get(key, 0)
        name_uid_map[key] = count + 1
        number = count if zero_based else count + 1
        name = f"{base}_{number}" if number else base
        if name not in (avoid_names or ()):
            return name


def reset_layer_names() -> None:
    """Forgets the numbers of all graphs."""
    _layer_names.clear()
