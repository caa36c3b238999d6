"""Loops, branches, calls, and the arrays that loops fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import helper

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.onnx.scope import Scope, Site
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, Node
    from tensorloom.framework.types.attr_value import NameAttrList
    from tensorloom.framework.types.dtypes import DType

#: What a tensor that ONNX does not have stands for here: a handle, or the flow of an
#: array whose contents are elsewhere.
HANDLE: Final = ""
# Of an array in a loop, which has been checked: an element comes after the last one,
# or, where it is filled from its end, before it.
_NEXT: Final = -1
# Of an array that a loop has filled from its end.
_MANY: Final = -2
_OTHER_PLACES: Final = (
    "it writes an array at other places than 0, 1, 2, ..., and not from its last one on"
)


def _function(site: Site, attr: str) -> FunctionIR:
    called: NameAttrList = site.node.attrs[attr]
    return site.model.graph.functions[called.name]


def _body(site: Site, function: FunctionIR, arguments: list[str], first: int) -> Scope:
    """The nodes of a function, in a graph of their own.

    Args:
      function: what is written.
      arguments: the ONNX names of its arguments.
      first: the input of the call that is the first argument.
    """
    values: dict[Edge, str] = {
        (name, 0): value
        for name, value in zip(function.arg_names, arguments, strict=True)
    }
    scope = Scope(site.model, function.nodes, values)
    scope.arguments = _arguments(function)
    for at, name in enumerate(function.arg_names):
        static = site.static(first + at)
        if static is not None:
            scope.known[name, 0] = static
    return scope


def _arguments(function: FunctionIR) -> dict[str, tuple[DType, TensorShape]]:
    shapes = function.arg_shapes or [UNKNOWN] * len(function.arg_names)
    facts = zip(function.arg_types, shapes, strict=True)
    return dict(zip(function.arg_names, facts, strict=True))


def _results(scope: Scope, function: FunctionIR) -> list[str]:
    return [scope.values[edge] for edge in function.returns]


@builder("PartitionedCall", "StatefulPartitionedCall")
def _call(site: Site) -> list[str]:
    function = _function(site, "f")
    inner = _body(site, function, site.inputs, 0)
    inner.build()
    site.scope.made += inner.made
    return _results(inner, function)


@builder("If", "StatelessIf")
def _branches(site: Site) -> list[str]:
    graphs = {}
    for attr in ("then_branch", "else_branch"):
        function = _function(site, attr)
        inner = _body(site, function, site.inputs[1:], 1)
        inner.build()
        graphs[attr] = _graph(inner, _results(inner, function), [], site)
    test = site[0]
    if site.input_dtype(0) != dtypes.bool:
        raise Unexportable("its predicate is no truth")
    return site.ops("If", test, outputs=len(site.node.output_types), **graphs)


def _graph(scope: Scope, results: list[str], inputs: list[Any], site: Site) -> Any:
    """A subgraph. Its results are values of its own, as ONNX wants them."""
    outputs = []
    for result in results:
        name = scope.emit("Identity", result)[0]
        outputs.append(helper.make_empty_tensor_value_info(name))
    return helper.make_graph(scope.made, site.model.fresh("body"), inputs, outputs)


# --- loops ---------------------------------------------------------------------------


@builder("While", "StatelessWhile")
def _loop(site: Site) -> list[str]:
    """A Loop whose state is what changes; what stays is read from around it."""
    test, step = _function(site, "cond"), _function(site, "body")
    count = len(site)
    changing = [
        at for at in range(count) if step.returns[at] != (step.arg_names[at], 0)
    ]
    lists, backwards = _written_lists(site, step, changing)
    state = [at for at in changing if at not in lists]
    inner_names = {at: site.model.fresh("state") for at in (*state, *lists)}
    arguments = [inner_names.get(at, site[at]) for at in range(count)]

    before = _body(site, test, site.inputs, 0)
    _forget(before, test, changing)
    before.build()
    site.scope.made += before.made
    first = _results(before, test)[0]

    body = _body(site, step, arguments, 0)
    _forget(body, step, changing)
    for flow in lists:
        body.arrays[step.arg_names[flow], 0] = inner_names[flow]
        written = body.written_from_end if flow in backwards else body.written
        written[step.arg_names[flow], 0] = _NEXT
    _read_only(site, body, step, changing)
    body.build()
    results = _results(body, step)
    for flow in lists:
        results[flow] = body.arrays[step.returns[flow]]

    after = Scope(
        site.model,
        test.nodes,
        {(name, 0): results[at] for at, name in enumerate(test.arg_names)},
    )
    after.arguments = _arguments(test)
    after.build()
    body.made += after.made
    goes_on = _results(after, test)[0]

    carried = [*state, *lists]
    inputs = [
        helper.make_tensor_value_info(site.model.fresh("iteration"), 7, []),
        helper.make_tensor_value_info(site.model.fresh("goes"), 9, []),
        *(_info(site, inner_names[at], at, lists) for at in carried),
    ]
    graph = _graph(body, [goes_on, *(results[at] for at in carried)], inputs, site)
    starts = [
        _sequence(site, site.node.inputs[at], lists[at]) if at in lists else site[at]
        for at in carried
    ]
    made = site.ops("Loop", "", first, *starts, outputs=len(carried), body=graph)
    outputs = list(site.inputs)
    for at, name in zip(carried, made, strict=True):
        outputs[at] = name
        if at in lists:
            site.scope.arrays[site.node.name, at] = name
            if at in backwards:
                site.scope.written_from_end[site.node.name, at] = _MANY
            outputs[at] = HANDLE
    return outputs


def _forget(scope: Scope, function: FunctionIR, changing: list[int]) -> None:
    """What changes in a loop is no constant there."""
    for at in changing:
        scope.known.pop((function.arg_names[at], 0), None)


def _info(site: Site, name: str, at: int, lists: dict[int, Any]) -> Any:
    if at in lists:
        element = helper.make_tensor_type_proto(site.element_type(lists[at]), None)
        return helper.make_value_info(name, helper.make_sequence_type_proto(element))
    return helper.make_tensor_value_info(
        name, site.element_type(site.input_dtype(at)), None
    )


def _read_only(site: Site, body: Scope, step: FunctionIR, changing: list[int]) -> None:
    """Arrays that were filled before the loop, and that it only reads."""
    for at, edge in enumerate(site.node.inputs):
        if at not in changing and edge in site.scope.arrays:
            body.arrays[step.arg_names[at], 0] = site.scope.arrays[edge]


def _written_lists(
    site: Site, step: FunctionIR, changing: list[int]
) -> tuple[dict[int, Any], set[int]]:
    """The flows of arrays that each iteration writes its own element of.

    Returns:
      By argument, the element's dtype; the arguments that are filled from their end.

    Raises:
      Unexportable: an array is written in another way.
    """
    counters = {
        name: _first_count(site, step, at)
        for at, name in enumerate(step.arg_names)
        if at in changing
    }
    found, backwards = {}, set()
    for at in changing:
        node = step.nodes.get(step.returns[at][0])
        if node is None or node.op != "TensorArrayWriteV3":
            continue
        if node.inputs[3] != (step.arg_names[at], 0):
            raise Unexportable("it writes several elements of an array in an iteration")
        flow, counter = site.node.inputs[at], node.inputs[1][0]
        count = _count(site, flow)
        if count is None and flow not in site.scope.written_from_end:
            raise Unexportable("it writes to an array that has elements before")
        if count is None or counters.get(counter) != count:
            if not _counts_down(site, step, counter, flow):
                raise Unexportable(_OTHER_PLACES)
            backwards.add(at)
        found[at] = node.attrs["T"]
    return found, backwards


def _counts_down(site: Site, step: FunctionIR, counter: str, flow: Edge) -> bool:
    """Whether an argument goes from the place before those that an array has, down by
    one each time."""
    if counter not in step.arg_names:
        return False
    at = step.arg_names.index(counter)
    body = Scope(site.model, step.nodes, {})
    if _place(body, step.returns[at]) != ((counter, 0), -1):
        return False
    return _written_behind(site, flow, site.node.inputs[at]) is not None


def _first_count(site: Site, step: FunctionIR, at: int) -> int | None:
    """What an argument of a loop is at first, if it is counted up by one each time."""
    start = site.static(at)
    node = step.nodes.get(step.returns[at][0])
    if start is None or np.size(start) != 1 or start.dtype.kind != "i" or node is None:
        return None
    if node.op not in ("Add", "AddV2") or (step.arg_names[at], 0) not in node.inputs:
        return None
    others = [edge for edge in node.inputs if edge != (step.arg_names[at], 0)]
    one = step.nodes.get(others[0][0]) if others else None
    if one is None or one.op != "Const" or int(one.attrs["value"]) != 1:
        return None
    return int(start)


# --- arrays --------------------------------------------------------------------------


@builder("TensorArrayV3")
def _array(site: Site) -> list[str]:
    return [HANDLE, HANDLE]


@builder("TensorArrayScatterV3")
def _scatter(site: Site) -> str:
    places = site.scope.nodes.get(site.node.inputs[1][0])
    is_whole = places is not None and (
        (places.op == "Range" and _starts_at_zero(site, places.inputs))
        or (
            places.op == "Const"
            and np.array_equal(
                places.attrs["value"], np.arange(places.attrs["value"].size)
            )
        )
    )
    if not is_whole:
        raise Unexportable("it fills an array in another order than 0, 1, 2, ...")
    site.scope.arrays[site.node.name, 0] = ("stacked", site[2])
    return HANDLE


def _starts_at_zero(site: Site, inputs: Any) -> bool:
    nodes = [site.scope.nodes.get(edge[0]) for edge in (inputs[0], inputs[2])]
    values = [
        n.attrs["value"] if n is not None and n.op == "Const" else None for n in nodes
    ]
    return values == [0, 1]


def _stacked(site: Site, at: int) -> str:
    """The contents of an array as one tensor."""
    edge = site.node.inputs[at]
    while edge not in site.scope.arrays:
        node = site.scope.nodes.get(edge[0])
        if node is None or node.op != "Identity":
            raise Unexportable("the contents of its array are not known")
        edge = node.inputs[0]
    contents = site.scope.arrays[edge]
    is_from_end = edge in site.scope.written_from_end
    if isinstance(contents, tuple):
        return str(contents[1])
    stacked = site.op("ConcatFromSequence", contents, axis=0, new_axis=1)
    if _maker(site).attrs["dynamic_size"]:
        return stacked
    # A loop that ends early leaves zeros behind, or before.
    shape = site.op("Shape", stacked)
    size = site.cast(site.op("Reshape", _size_of(site), site.ints(1)), dtypes.int64)
    written = site.op("Slice", shape, site.ints(0), site.ints(1))
    rest = site.op("Slice", shape, site.ints(1), site.ints(np.iinfo(np.int64).max))
    left = site.op("Concat", site.op("Sub", size, written), rest, axis=0)
    zeros = site.op("Expand", site.like(0, site.dtype()), left)
    parts = (zeros, stacked) if is_from_end else (stacked, zeros)
    return site.op("Concat", *parts, axis=0)


@builder("TensorArrayReadV3")
def _read(site: Site) -> str:
    return site.op("Gather", _stacked(site, 2), site[1], axis=0)


@builder("TensorArrayGatherV3")
def _gather(site: Site) -> str:
    return site.op("Gather", _stacked(site, 2), site[1], axis=0)


@builder("TensorArraySizeV3")
def _size(site: Site) -> str:
    return _size_of(site)


def _size_of(site: Site) -> str:
    """How many elements an array has, written or not."""
    maker = _maker(site)
    if not maker.attrs["dynamic_size"]:
        return site.scope.values[maker.inputs[0]]
    contents = site.scope.arrays.get(site.node.inputs[-1])
    if not isinstance(contents, str):
        raise Unexportable("the contents of its array are not known")
    return site.cast(site.op("SequenceLength", contents), dtypes.int32)


def _maker(site: Site) -> Node:
    """The node that made the array at hand."""
    source = site.scope.nodes.get(site.node.inputs[0][0])
    if source is None or source.op != "TensorArrayV3":
        raise Unexportable("the size of its array is not known")
    return source


def _count(site: Site, flow: Edge) -> int | None:
    """How many elements of an array were written, in order; None: that is not known."""
    found = site.scope.written.get(flow)
    if found is not None:
        return found
    source = site.scope.nodes.get(flow[0])
    return 0 if source is not None and source.op == "TensorArrayV3" else None


def _written_behind(site: Site, flow: Edge, place: Edge) -> int | None:
    """How many elements an array has behind a place, if it has those, and no others."""
    source = site.scope.nodes.get(flow[0])
    is_new = source is not None and source.op == "TensorArrayV3"
    count = site.scope.written_from_end.get(flow, 0 if is_new else None)
    if count is None or count == _NEXT:
        return count
    if source is not None and source.op == "TensorArrayWriteV3":
        source = site.scope.nodes.get(source.inputs[0][0])
    if source is None or source.op != "TensorArrayV3" or source.attrs["dynamic_size"]:
        return None
    start, size = _place(site.scope, source.inputs[0])
    wanted = start, size - count - 1
    return count if count != _MANY and _place(site.scope, place) == wanted else None


def _place(scope: Scope, edge: Edge) -> tuple[Edge | None, int]:
    """A number as another one, or none, and what is added to it."""
    added = 0
    while (node := scope.nodes.get(edge[0])) is not None:
        if node.op == "Const" and np.size(node.attrs["value"]) == 1:
            return None, added + int(np.reshape(node.attrs["value"], ()))
        if node.op == "Identity":
            edge = node.inputs[0]
            continue
        other = scope.nodes.get(node.inputs[-1][0]) if node.inputs else None
        if node.op not in ("Add", "AddV2", "Sub") or other is None:
            break
        if other.op != "Const" or np.size(other.attrs["value"]) != 1:
            break
        by = int(np.reshape(other.attrs["value"], ()))
        added += -by if node.op == "Sub" else by
        edge = node.inputs[0]
    return edge, added


def _sequence(site: Site, flow: Edge, dtype: DType) -> str:
    """The elements of an array that was written in order."""
    contents = site.scope.arrays.get(flow)
    if isinstance(contents, str):
        return contents
    return str(site.op("SequenceEmpty", dtype=site.element_type(dtype)))


@builder("TensorArrayWriteV3")
def _write(site: Site) -> str:
    flow = site.node.inputs[3]
    contents = _sequence(site, flow, site.input_dtype(2))
    count = _count(site, flow)
    place = site.static(1)
    if count == _NEXT or (count is not None and place is not None and place == count):
        made = site.op("SequenceInsert", contents, site[2])
        written = site.scope.written
    else:
        count = _written_behind(site, flow, site.node.inputs[1])
        if count is None:
            raise Unexportable(_OTHER_PLACES)
        first = site.model.constant(np.int64(0))
        made = site.op("SequenceInsert", contents, site[2], first)
        written = site.scope.written_from_end
    site.scope.arrays[site.node.name, 0] = made
    if count != _NEXT:
        written[site.node.name, 0] = count + 1
    return HANDLE
