"""Finds inputs that end with an elementwise kernel, so that it may overwrite them.

before: v2 = k1(v1);  v3 = k2(v2, c1)        v2 is read no more
after:  v2 = k1(v1);  v3 = k2(v2, c1, v2)    the result is in the array of v2

Only arrays that the piece made itself are overwritten, and only while every reader was
a kernel that is known to keep no view (`kernels/host/array/buffer_forwarding.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.worker.compile.values import Scope, Value


def mark_as_shared(values: Iterable[Value | None]) -> None:
    """Marks values as possibly viewed by others, so that they are not overwritten."""
    for value in values:
        if value is not None:
            value.is_own = False


def overwritable(scope: Scope, node: Node, inputs: Sequence[Value]) -> Value | None:
    """An input that ends with this node, and whose memory its output fits into."""
    dims = node.output_shapes[0].dims_tuple if node.output_shapes else None
    if not dims or None in dims or not scope.drops_values:
        return None
    ending = scope.dying(node.name)
    for value in inputs:
        if (
            value.is_own
            and value in ending
            and value.owner is scope
            and not value.pinned
            and value.dtype == node.output_types[0]
            and value.shape.dims_tuple == dims
        ):
            return value
    return None
