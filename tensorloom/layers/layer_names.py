"""Names of layers: those of their classes, numbered in each graph."""

from __future__ import annotations

import re
import weakref
from typing import Any

from tensorloom.framework.graph.graph import Graph, get_default_graph

_Uids = dict[str, int]
_layer_names: weakref.WeakKeyDictionary[Graph, _Uids] = weakref.WeakKeyDictionary()


def _outer_graph() -> Graph:
    graph: Any = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    return graph  # type: ignore[no-any-return]


def snake_case(name: str) -> str:
    """`LSTMCell` -> `lstm_cell`."""
    parted = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    parted = re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()
    return parted if parted[0] != "_" else f"private{parted}"


def unique_layer_name(base: str) -> str:
    """`lstm_cell_1`, `lstm_cell_2`, ... in the graph outside of all functions."""
    uids = _layer_names.setdefault(_outer_graph(), {})
    uids[base] = uids.get(base, 0) + 1
    return f"{base}_{uids[base]}"
