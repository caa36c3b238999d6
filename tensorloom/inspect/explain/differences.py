"""What a stage changed: the nodes of two graphs compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

_SHOWN_NUMBERS = 6


@dataclass(frozen=True, slots=True)
class Difference:
    """The names of the nodes that a stage removed, added and changed, in order."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the stage left the graph as it was."""
        return not (self.removed or self.added or self.changed)


def difference(before: Mapping[str, Node], after: Mapping[str, Node]) -> Difference:
    """Compares two graphs by the names of their nodes."""
    return Difference(
        tuple(name for name in before if name not in after),
        tuple(name for name in after if name not in before),
        tuple(
            name
            for name, node in after.items()
            if name in before and _is_changed(before[name], node)
        ),
    )


def _is_changed(before: Node, after: Node) -> bool:
    """Whether `changes` has something to say; most nodes are the same object."""
    if before is after:
        return False
    return (
        before.op != after.op
        or before.inputs != after.inputs
        or before.control_inputs != after.control_inputs
        or before.device != after.device
        or before.output_shapes is not after.output_shapes
        or before.attrs is not after.attrs
    ) and bool(changes(before, after))


def changes(before: Node, after: Node) -> list[str]:
    """How a node differs from what it was, a phrase each; none if it does not."""
    if before is after:
        return []
    told: list[str] = []
    if before.op != after.op:
        told.append(f"op {before.op} -> {after.op}")
    if before.inputs != after.inputs:
        told.append(f"inputs {_edges(before)} -> {_edges(after)}")
    if set(before.control_inputs) != set(after.control_inputs):
        told.append(f"waits for {_names(before)} -> {_names(after)}")
    if before.device != after.device:
        told.append(f"device {before.device or 'any'} -> {after.device or 'any'}")
    if before.op == after.op:
        told += [
            f"{key} {shown(before.attrs.get(key))} -> {shown(after.attrs.get(key))}"
            for key in dict.fromkeys([*before.attrs, *after.attrs])
            if not _equal(before.attrs.get(key), after.attrs.get(key))
        ]
    old, new = shapes_of(before), shapes_of(after)
    if old != new:
        told.append(f"shapes {old} -> {new}")
    return told


def described(node: Node) -> str:
    """A node in one line: `y = Add(x, b:1) ^a -> float32[2,3]`."""
    waits = "".join(f" ^{name}" for name in node.control_inputs)
    arguments = shown(node.attrs["value"]) if _is_constant(node) else _edges(node)
    return f"{node.name} = {node.op}({arguments}){waits} -> {outputs_of(node)}"


def outputs_of(node: Node) -> str:
    """Dtypes and static shapes of the outputs; `()` if there are none."""
    shapes = node.output_shapes or (None,) * len(node.output_types)
    outputs = [
        f"{dtype.name}{_shape(shape)}"
        for dtype, shape in zip(node.output_types, shapes, strict=False)
    ]
    return ", ".join(outputs) or "()"


def shapes_of(node: Node) -> str:
    """The static shapes of the outputs, `?` where they are not known."""
    return ", ".join(_shape(shape) for shape in node.output_shapes or ())


def shown(value: Any) -> str:
    """An attr in a few words."""
    if isinstance(value, np.ndarray):
        if value.size > _SHOWN_NUMBERS:
            return f"{value.dtype}{list(value.shape)}"
        return str(value.tolist())
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    name = getattr(value, "name", None)
    text = name if isinstance(name, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_constant(node: Node) -> bool:
    return node.op == "Const" and "value" in node.attrs


def _edges(node: Node) -> str:
    return ", ".join(f"{name}:{slot}" if slot else name for name, slot in node.inputs)


def _names(node: Node) -> str:
    return ", ".join(node.control_inputs) or "nothing"


def _shape(shape: Any) -> str:
    if shape is None or shape.dims_tuple is None:
        return "[?...]"
    return "[" + ",".join("?" if s is None else str(s) for s in shape.dims_tuple) + "]"


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return (
            isinstance(a, np.ndarray)
            and isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and a.tobytes() == b.tobytes()
        )
    return bool(a == b)
