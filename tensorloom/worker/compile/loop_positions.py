"""Keeps positions that a loop finds and gathers by as NumPy indices too.

before: while ...: x = gather(table, token);           token = argmax(...) as int32
after:  p = within(token, 64)
        while ...: x = table.take(p, 0, b, "clip");    p = argmax(...); token = p.astype

A position that was found along an axis is within its bounds. So a decoder, which looks
up the row of the token that it chose, neither checks its indices in each iteration nor
converts them. The start value is checked once, before the loop: if it is out of bounds,
`p` is None, and the kernel of the gather raises the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types import dtypes
from tensorloom.worker.compile import loop_buffers
from tensorloom.worker.compile.kernel_choice import choose_kernel
from tensorloom.worker.compile.values import Root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.worker.compile.emitter import Emit, Emitter
    from tensorloom.worker.compile.values import Scope, Value

_SEARCHES: Final = frozenset(["ArgMax", "ArgMin"])
_GATHERS: Final = frozenset(["Gather", "GatherV2"])


@dataclass(slots=True, eq=False)
class LoopPositions:
    """A loop variable whose next value is found along an axis."""

    index: int  # of the loop variable
    search: str  # the node of the body that finds the next
    gathers: tuple[str, ...]  # the nodes that take rows by it
    count: int  # of the positions on the axis
    name: str  # of its value as NumPy's indices, None where one is on no such position
    following: str = "None"  # the same after an iteration
    is_used: bool = False  # by a gather


def find(
    emitter: Emitter, scope: Scope, body: FunctionIR, inputs: Sequence[Value]
) -> list[LoopPositions]:
    """The loop variables that are found along an axis and taken rows by.

    Args:
      scope: where the loop is.
      body: its body.
      inputs: the loop variables' first values.
    """
    if not body.returns:
        return []
    # What an iteration may change has another shape then, or another value.
    steady = {
        name: value
        for name, value, returned in zip(
            body.arg_names, inputs, body.returns, strict=True
        )
        if returned == (name, 0)
    }
    found = []
    for index, (name, _) in enumerate(body.returns):
        search = body.nodes.get(name)
        if search is None or search.op not in _SEARCHES:
            continue
        place = body.arg_names[index], 0
        gathers = tuple(
            node.name
            for node in body.nodes.values()
            if node.op in _GATHERS and node.inputs[1] == place
        )
        count = _positions(search, body, steady) if gathers else None
        if count:
            local = emitter.new_name(scope, "p")
            found.append(LoopPositions(index, name, gathers, count, local))
    return found


def _positions(
    search: Node, body: FunctionIR, steady: Mapping[str, Value]
) -> int | None:
    """How many positions there are on the axis of a search, if that is known.

    Args:
      steady: the arguments that no iteration changes.
    """
    (source, output), (axis, _) = search.inputs
    dims: Sequence[int | None] | None = None
    dimension = None
    if source in steady:
        dims = steady[source].shape.dims_tuple
    elif source in body.nodes:
        shapes = body.nodes[source].output_shapes
        dims = shapes[output].dims_tuple if shapes is not None else None
    if axis in steady:
        dimension = steady[axis].constant
    elif axis in body.nodes:
        dimension = body.nodes[axis].attrs.get("value")
    # What is found in a vector is no array.
    if dimension is None or np.shape(dimension) or not dims or len(dims) == 1:
        return None
    return dims[int(dimension)] if -len(dims) <= dimension < len(dims) else None


def emitters(found: Sequence[LoopPositions]) -> dict[str, Emit]:
    """What emits the nodes of the body that find and take, by name."""
    emits: dict[str, Emit] = {}
    for one in found:
        emits[one.search] = _search_emitter(one)
        emits.update((name, _gather_emitter(one)) for name in one.gathers)
    return emits


def _search_emitter(one: LoopPositions) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        inputs = emitter.inputs_of(scope, node)
        if not choose_kernel(node, inputs, emitter.device.kernel_type).host:
            emitter.emit_kernel(scope, node)
            return
        attrs = {**node.attrs, "output_type": dtypes.int64}
        wide = node.replace(attrs=attrs, output_types=(dtypes.int64,))
        emitter.emit_kernel(scope, wide)
        one.following = scope.values[node.name, 0].host_name or "None"
        if node.output_types != wide.output_types:
            value = emitter.define(scope, node, 0, True, Root())
            value.is_own = True
            dtype = emitter.bind(node.output_types[0].np_dtype, "c")
            text = f"{value.host_name} = {one.following}.astype({dtype})"
            scope.write(text, node)

    return emit


def _gather_emitter(one: LoopPositions) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        emitter.emit_kernel(scope, node)
        params, indices, *axis = emitter.inputs_of(scope, node)
        dims = params.shape.dims_tuple
        if (
            scope.values[node.name, 0].host_name is None
            or not is_torch_type(params.dtype)
            or not indices.shape.rank
            or not dims
            or (dims[0] or 0) < one.count
            or not all(_is_zero(value.constant) for value in axis)
            or node.attrs.get("batch_dims")
        ):
            return
        one.is_used = True
        table, line = emitter.host(scope, params), scope.lines[-1]
        _, _, general = line.text.partition(" = ")
        before = f"{general} if {one.name} is None else {table}.take({one.name}, 0, "
        loop_buffers.add(scope, node, before, ', "clip")').write_into("None")

    return emit


def _is_zero(constant: Any) -> bool:
    return constant is not None and np.shape(constant) == () and constant == 0


def start(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    found: Sequence[LoopPositions],
    variables: Sequence[Value],
) -> list[tuple[str, str]]:
    """Emits the positions before the first iteration.

    Returns:
      The assignments that give those of the next at the end of each.
    """
    used = [one for one in found if one.is_used]
    for one in used:
        first = variables[one.index].host_name
        text = f"{emitter.bind(_within)}({first}, {one.count})" if first else "None"
        scope.write(f"{one.name} = {text}", node)
    return [(one.name, one.following) for one in used]


def _within(indices: NDArray[Any], count: int) -> NDArray[np.intp] | None:
    """Integers as NumPy's indices, if all are in [0, count)."""
    found = indices.astype(np.intp)
    # As unsigned, negative ones are too large; faster than to look for the extremes.
    unsigned = found.view(np.uintp)
    if found.size and unsigned.item(unsigned.argmax()) >= count:
        return None
    return found
