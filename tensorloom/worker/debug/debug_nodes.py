"""Puts the nodes of a debugger behind the tensors that it watches.

before: y = Relu(x);  z = Exp(y)
after:  y = Relu(x);  __copy_y_0 = Copy(y);  __dbg = DebugIdentity(__copy_y_0)
        z = Exp(__copy_y_0, ^__dbg)

A debug op publishes what it makes of the value to its URLs, before anybody uses the
value. `_DebugBreak` is ours: it stands in the way itself, waits for an answer, and may
give another value; so it is not behind references and handles. What a loop carries
keeps its edges, and so do references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug.watches import (
    ANY_NODE,
    DebugWatch,
    DebugWatches,
    parse_debug_op,
)
from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.registry import op_kernel, op_registry

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

BREAK: Final = "_DebugBreak"
# Whose outputs meet those of another iteration: nothing comes in between.
_CARRIED: Final = frozenset({"Enter", "RefEnter", "NextIteration", "RefNextIteration"})
_TRUTHS: Final = {
    **dict.fromkeys(("true", "t", "1"), True),
    **dict.fromkeys(("false", "f", "0"), False),
}


def with_debug_nodes(
    graph: GraphIR, watches: DebugWatches, kernel_type_of: Callable[[str], str]
) -> GraphIR:
    """The graph with debug nodes.

    Args:
      graph: placed, in topological order.
      watches: tensors of other graphs among them do no harm.
      kernel_type_of: of a device's name.

    Raises:
      errors.FailedPreconditionError: a watch or a debug op is not valid, or has no
        kernel for a dtype.
    """
    return graph.with_nodes(_Inserting(watches, kernel_type_of).nodes(graph))


class _Inserting:
    """The graph that is being made."""

    def __init__(
        self, watches: DebugWatches, kernel_type_of: Callable[[str], str]
    ) -> None:
        self._kernel_type_of = kernel_type_of
        self._by_tensor: dict[Edge, DebugWatch] = {}
        self._of_any: DebugWatch | None = None
        self._moved: dict[Edge, Edge] = {}  # where the value of an edge is taken
        self._waits: dict[Edge, list[str]] = {}  # the debug nodes of an edge
        for watch in watches.watches:
            self._add_watch(watch)

    def _add_watch(self, watch: DebugWatch) -> None:
        if not watch.debug_ops or not watch.debug_urls:
            return
        if watch.node_name != ANY_NODE:
            if watch.output_slot < 0:
                raise _refused(
                    "A negative output_slot in DebugTensorWatch is valid only for the "
                    f'wildcard node name ("*"), but got node name {watch.node_name}'
                )
            self._by_tensor[watch.node_name, watch.output_slot] = watch
        elif watch.output_slot != -1:
            raise _refused(
                "output_slot is expected to be -1 for wildcard node name "
                f'("*"), but got {watch.output_slot}'
            )
        else:
            self._of_any = _joined(self._of_any, watch)

    def nodes(self, graph: GraphIR) -> Iterable[Node]:
        """All nodes in their order."""
        for node in graph.nodes.values():
            yield self._connected(node)
            for slot, dtype in enumerate(node.output_types):
                watch = self._by_tensor.get((node.name, slot), self._of_any)
                if watch is not None:
                    yield from self._watched(node, slot, dtype, watch)

    def _connected(self, node: Node) -> Node:
        inputs = tuple(self._moved.get(edge, edge) for edge in node.inputs)
        waits = [name for edge in node.inputs for name in self._waits.get(edge, ())]
        # What merely waits for a node of which a value was watched needs no more.
        control = tuple(dict.fromkeys((*node.control_inputs, *waits)))
        attrs = node.attrs
        if attrs.get("parallel_iterations", 1) != 1 and node.op in _CARRIED:
            attrs = {**attrs, "parallel_iterations": 1}
        if inputs == node.inputs and control == node.control_inputs:
            return node if attrs is node.attrs else node.replace(attrs=attrs)
        return node.replace(inputs=inputs, control_inputs=control, attrs=attrs)

    def _watched(
        self, node: Node, slot: int, dtype: DType, watch: DebugWatch
    ) -> Iterable[Node]:
        edge = node.name, slot
        is_carried = node.op in _CARRIED
        copy = _copy(node, slot, dtype, watch)
        yield copy
        value: Edge = copy.name, 0
        made = []
        for number, text in enumerate(watch.debug_ops):
            debug = self._debug_node(node, slot, value, number, text, watch)
            if debug is None:
                continue
            made.append(debug.name)
            yield debug
            if debug.op == BREAK:
                value = debug.name, 0
        if not dtype._is_ref_dtype and not is_carried:
            self._moved[edge] = value
        if not is_carried:
            self._waits[edge] = made

    def _debug_node(
        self,
        node: Node,
        slot: int,
        value: Edge,
        number: int,
        text: str,
        watch: DebugWatch,
    ) -> Node | None:
        """A debug node; None where its failure is tolerated."""
        tensor_name = f"{node.name}:{slot}"
        try:
            op, given = parse_debug_op(text)
            attrs: dict[str, Any] = {
                "T": node.output_types[slot].base_dtype,
                "device_name": node.device.encode(),
                "tensor_name": tensor_name.encode(),
                "debug_urls": [url.encode() for url in watch.debug_urls],
            }
            attrs |= _attrs(f"__dbg_{tensor_name}_{number}_{op}", op, given, attrs)
            if op == BREAK and not _passes_on(node, slot):
                return None
            self._check_kernel(op, attrs, tensor_name, node.device)
        except ValueError as error:
            if watch.tolerates_failures:
                return None
            raise _refused(
                f"Failed to create debug node {text} for tensor {tensor_name}, due to: "
                f"{error}"
            ) from None
        op_def = op_registry.find(op)
        assert op_def is not None
        types = tuple(op_def.output_types(attrs))
        name = f"__dbg_{tensor_name}_{number}_{op}"
        return Node(
            name, op, (value,), (), node.device, attrs, types, None, node.source
        )

    def _check_kernel(
        self, op: str, attrs: Mapping[str, Any], tensor_name: str, device: str
    ) -> None:
        kernel_type = self._kernel_type_of(device)
        if not any(op_kernel.find_kernels(op, attrs, kernel_type)):
            raise ValueError(
                f"Failed to find kernel definition for debug op {op} on watched "
                f"tensor {tensor_name}"
            )


def _passes_on(node: Node, slot: int) -> bool:
    """Whether an output is a value that others get, which could be another one."""
    dtype = node.output_types[slot]
    is_value = not dtype._is_ref_dtype and dtype.name not in ("resource", "variant")
    return is_value and node.op not in _CARRIED


def _copy(node: Node, slot: int, dtype: DType, watch: DebugWatch) -> Node:
    specs = [
        f"{_op_of(op)};{url};{int(_is_gated(op))}".encode()
        for op in watch.debug_ops
        for url in watch.debug_urls
    ]
    shapes = node.output_shapes
    return Node(
        f"__copy_{node.name}_{slot}",
        "Copy",
        ((node.name, slot),),
        (),
        node.device,
        {"T": dtype.base_dtype, "tensor_name": b"", "debug_ops_spec": specs},
        (dtype.base_dtype,),
        None if shapes is None else (shapes[slot],),
        node.source,
    )


def _op_of(text: str) -> str:
    """The op of `DebugNumericSummary(mute_if_healthy=true)`."""
    return text.partition("(")[0]


def _is_gated(text: str) -> bool:
    return "gated_grpc=" in text and _TRUTHS.get(
        text.partition("gated_grpc=")[2].partition(";")[0].strip(" )").lower(), False
    )


def _attrs(
    name: str, op: str, given: Mapping[str, str], basic: Mapping[str, Any]
) -> dict[str, Any]:
    """The attrs of a debug op that are not its watch's, decoded.

    Raises:
      ValueError: there is no such op, or no such attr, or a value is none of its type.
    """
    op_def = op_registry.find(op)
    if op_def is None or "debug_urls" not in op_def.attrs:
        raise ValueError(f"There is no debug op {op}")
    attrs: dict[str, Any] = {}
    unknown = dict(given)
    for key, attr in op_def.attrs.items():
        if key in basic:
            continue
        attrs[key] = attr.default
        if key in unknown:
            attrs[key] = _value(name, key, attr.type, unknown.pop(key))
    if unknown:
        raise ValueError(
            f"{len(unknown)} attribute key(s) were not valid for debug node {name}: "
            f"{', '.join(sorted(unknown))}"
        )
    return attrs


def _value(node: str, name: str, kind: str, text: str) -> Any:
    try:
        if kind == "bool":
            return _TRUTHS[text.lower()]
        readers = {"string": str.encode, "float": float, "int": int}
        return readers[kind](text)  # type: ignore[operator]
    except (KeyError, ValueError):
        raise ValueError(
            f"Invalid value string for {kind}-type attribute {name} of debug node "
            f'{node}: "{text}"'
        ) from None


def _joined(first: DebugWatch | None, second: DebugWatch) -> DebugWatch:
    if first is None:
        return second
    return DebugWatch(
        ANY_NODE,
        -1,
        first.debug_ops + second.debug_ops,
        first.debug_urls + second.debug_urls,
        first.tolerates_failures or second.tolerates_failures,
    )


def _refused(message: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(None, None, message)
