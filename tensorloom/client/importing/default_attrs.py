"""Defaults of attrs that a GraphDef leaves out, written into the message itself.

TensorFlow does so to what `import_graph_def` is given, and programs read them there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tensorloom.framework.registry import newer_attrs, op_registry
from tensorloom.framework.types import attr_value


def set_default_attrs(graph_def: Any) -> None:
    """Adds the attrs of 1.15 that its nodes lack, where they have a default."""
    for node in graph_def.node:
        attrs = node.attr
        for name, value in _defaults(node.op):
            if name not in attrs:
                attrs[name].CopyFrom(value)


@cache
def _defaults(op: str) -> tuple[tuple[str, Any], ...]:
    """The attrs of an op that have a default; none of an op that is not known."""
    op_def = op_registry.find(op)
    if op_def is None:
        return ()
    added = newer_attrs.ADDED.get(op, frozenset())
    return tuple(
        (name, attr_value.to_proto(attr.default))
        for name, attr in op_def.attrs.items()
        if attr.has_default and name not in added
    )
