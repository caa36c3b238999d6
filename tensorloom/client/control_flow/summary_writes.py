"""Summaries that are written inside a branch or a loop: its results wait for them."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.runtime.scopes import (
    control_dependencies,
    get_collection,
    get_collection_ref,
)
from tensorloom.framework.types import nest
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.lists.tensor_array import TensorArray

_KEY = GraphKeys._SUMMARY_COLLECTION


class SummaryWrites:
    """Those that are made after this object. Outside nobody can wait for them."""

    def __init__(self) -> None:
        self._before = get_collection(_KEY)

    def before(self, result: Any) -> Any:
        """The result, there only after the writes, which leave the collection."""
        new = get_collection(_KEY)[len(self._before) :]
        if not new:
            return result
        get_collection_ref(_KEY)[:] = self._before
        with control_dependencies(new):
            return nest.map_structure(_after, result, expand_composites=True)


def _after(value: Any) -> Any:
    if isinstance(value, Operation):
        return control_flow_ops.group(value)
    return value if isinstance(value, TensorArray) else identity_ops.identity(value)
