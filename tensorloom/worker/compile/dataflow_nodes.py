"""The nodes of a piece for the dataflow interpreter: each compiled alone.

A node becomes a function of its input tokens, made by the same emitter that compiles
whole pieces, so both run the same kernels over the same memory kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.functions.classic_op_types import ENTERS, MERGES
from tensorloom.framework.runtime.rendezvous_key import key_of
from tensorloom.framework.runtime.resource import Variable, is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile import memory
from tensorloom.worker.compile.generated_code import Code
from tensorloom.worker.compile.values import Root, Scope, Value
from tensorloom.worker.run import runtime
from tensorloom.worker.run.node_error import refused

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.compile.emitter import Emitter

(
    SWITCH,
    MERGE,
    ENTER,
    EXIT,
    NEXT,
    PASS,
    TRIGGER,
    RETVAL,
    SWITCH_N,
    SEND,
    RECV,
    OTHER,
    COPY,
    WATCH,
) = range(14)

_KINDS: Final = {
    "Switch": SWITCH,
    "RefSwitch": SWITCH,
    "_SwitchN": SWITCH_N,
    "Merge": MERGE,
    "RefMerge": MERGE,
    "Enter": ENTER,
    "RefEnter": ENTER,
    "Exit": EXIT,
    "RefExit": EXIT,
    "NextIteration": NEXT,
    "RefNextIteration": NEXT,
    "LoopCond": PASS,
    "ControlTrigger": TRIGGER,
    "_Retval": RETVAL,
    "_Send": SEND,
    "_HostSend": SEND,
    "Send": SEND,
    "_Recv": RECV,
    "_HostRecv": RECV,
    "Recv": RECV,
    "Copy": COPY,
    "CopyHost": COPY,
    "DebugIdentity": WATCH,
    "DebugNanCount": WATCH,
    "DebugNumericSummary": WATCH,
    "_DebugBreak": WATCH,
}
# Kinds that pass tokens on and have no generated code.
_PASSING: Final = frozenset(
    [SWITCH, SWITCH_N, MERGE, ENTER, EXIT, NEXT, PASS, SEND, COPY]
)
# Nodes with these ops make a graph one for the interpreter.
CLASSIC_OPS: Final = frozenset(
    op
    for op, kind in _KINDS.items()
    if kind not in (TRIGGER, RETVAL, SEND, RECV, COPY, WATCH)
)

# (inputs, args, context) -> outputs
Call = Callable[[Sequence[Any], Sequence[Any], Any], Sequence[Any]]


def is_classic(nodes: Mapping[str, Node]) -> bool:
    """Whether the nodes include primitives of classic control flow."""
    return any(node.op in CLASSIC_OPS for node in nodes.values())


@dataclass(slots=True, eq=False)
class Item:
    """A node as the interpreter sees it."""

    node: Node
    kind: int
    input_count: int
    control_count: int
    call: Call | None = None  # None: the node passes its inputs on, or does nothing
    constant: Any = None  # the output of a Const
    read_slots: tuple[int, ...] = ()  # see `_read_slots`
    blocking: bool = False
    # For each output: (consumer, its input); control edges apart.
    consumers: list[list[tuple[Item, int]]] = field(default_factory=list)
    control_consumers: list[Item] = field(default_factory=list)
    frame: bytes = b""  # of Enter
    key: str = ""  # of Send and Recv: the rendezvous key without frame and iteration
    nothing: Any = None  # of Send: what stands for a dead tensor
    is_late: bool = False  # a fetch of a reference: it reads what the step left there


def compile_items(
    nodes: Sequence[Node],
    emitters: Mapping[str, Emitter],
    is_blocking: Callable[[Node], bool],
) -> tuple[list[Item], list[Code]]:
    """Items with their edges, in the order of the nodes, and the generated code.

    Args:
      emitters: by device name.
    """
    items: dict[str, Item] = {}
    codes: list[Code] = []
    facts: dict[tuple[str, int], Value] = {}
    types = {node.name: node.output_types for node in nodes}
    for node in nodes:
        kind = _KINDS.get(node.op, OTHER)
        item = Item(node, kind, len(node.inputs), len(node.control_inputs))
        item.consumers = [[] for _ in node.output_types]
        item.blocking = is_blocking(node)
        item.is_late = node.op == "_Retval" and _is_reference(node.inputs[0], types)
        items[node.name] = item
        emitter = emitters[node.device]
        if kind in _PASSING:
            item.read_slots = _read_slots(node, kind, facts, types)
        if kind in _PASSING and kind != SEND:
            _pass_facts(node, item, facts, emitter)
        elif node.op == "Const":
            _add_constant(node, item, facts)
        elif kind == SEND:
            item.key = key_of(node).rpartition(";")[0]
            item.nothing = _nothing(node.attrs["T"])
        elif kind == WATCH:
            item.call = _watch(node, emitter, facts)
        elif kind == RECV:
            item.key = key_of(node).rpartition(";")[0]
            _add_received(node, facts, emitter)
        elif kind != TRIGGER and node.op != "NoOp":
            code = _compile(node, emitter, facts)
            codes.append(code)
            item.call = code.function
    for item in items.values():
        for slot, (name, index) in enumerate(item.node.inputs):
            items[name].consumers[index].append((item, slot))
        for name in item.node.control_inputs:
            items[name].control_consumers.append(item)
    return list(items.values()), codes


def _watch(node: Node, emitter: Emitter, facts: dict[tuple[str, int], Value]) -> Call:
    """Calls a debug op's kernel with a value, which may be missing, and the frames.

    What it makes of the value is in host memory.
    """
    shapes = node.output_shapes or (UNKNOWN,)
    value = Value(node.output_types[0], shapes[0], Scope(), Root(shared=True))
    value.host_name = "-"
    value.handle = facts[node.inputs[0]].handle
    facts[node.name, 0] = value
    compute = emitter.make_kernel(Scope(), node, [facts[node.inputs[0]]])

    def call(inputs: Sequence[Any], frames: Any, context: Any) -> Sequence[Any]:
        try:
            return (compute(runtime.received_host(inputs[0]), frames),)
        except errors.OpError as error:
            raise refused(error, node.name, node.op, node.device) from error

    return call


def _nothing(dtype: DType) -> np.ndarray[Any, Any] | None:
    """What stands for a dead tensor; TensorFlow's receivers check its dtype."""
    if not dtype.base_dtype.is_numpy_compatible:
        return None  # it crosses as an empty variant
    return np.zeros([0], dtype.base_dtype.as_numpy_dtype)


def _add_constant(node: Node, item: Item, facts: dict[tuple[str, int], Value]) -> None:
    array = node.attrs["value"]
    item.constant = runtime.host_constant(array)
    shape = node.output_shapes[0] if node.output_shapes else UNKNOWN
    facts[node.name, 0] = Value(
        node.output_types[0], shape, Scope(), Root(shared=True), constant=array
    )


def _add_received(
    node: Node, facts: dict[tuple[str, int], Value], emitter: Emitter
) -> None:
    shape = node.output_shapes[0] if node.output_shapes else UNKNOWN
    value = Value(node.output_types[0], shape, Scope(), Root(shared=True))
    facts[node.name, 0] = value
    if not is_torch_type(value.dtype) or _is_small(value, emitter):
        value.host_name = "-"
    else:
        value.tensor_name = "-"


def _pass_facts(
    node: Node, item: Item, facts: dict[tuple[str, int], Value], emitter: Emitter
) -> None:
    """What is known of the outputs of Switch, Merge and their like."""
    # A Merge may come before what loops back to it.
    known = [facts[key] for key in node.inputs if key in facts]
    source = known[0]
    item.frame = node.attrs.get("frame_name", b"")
    if node.op in ENTERS and not item.frame:
        raise errors.InvalidArgumentError(
            None, None, f"The Enter {{{{node {node.name}}}}} must have a frame name."
        )
    shapes = node.output_shapes or (UNKNOWN,) * len(node.output_types)
    for index, dtype in enumerate(node.output_types):
        facts[node.name, index] = value = Value(
            dtype, shapes[index], Scope(), Root(shared=True)
        )
        if node.op in MERGES and index == 1:
            value.host_name = "-"
            continue
        value.is_ref = dtype._is_ref_dtype
        value.handle = source.handle
        host = value.is_ref or not is_torch_type(dtype)
        if host or _is_small(value, emitter):
            value.host_name = "-"
        else:
            value.tensor_name = "-"


def _read_slots(
    node: Node,
    kind: int,
    facts: Mapping[tuple[str, int], Value],
    types: Mapping[str, tuple[DType, ...]],
) -> tuple[int, ...]:
    """The inputs of a node without a kernel that are references to be read.

    A reference is read when the node that takes a value runs. Those with kernels do
    so in their generated code; of the others, only the data input of RefSwitch and its
    like stays a reference. Resource handles look the same at run time, and are values.
    """

    def is_reference(key: tuple[str, int]) -> bool:
        # What loops back to a Merge is not compiled yet.
        return (
            facts[key].is_ref if key in facts else types[key[0]][key[1]]._is_ref_dtype
        )

    passes_on = bool(node.output_types) and node.output_types[0]._is_ref_dtype
    slots = [
        slot
        for slot, key in enumerate(node.inputs)
        if is_reference(key) and not (passes_on and (slot == 0 or kind == MERGE))
    ]
    if kind == MERGE:  # it runs with the input that arrived, and the number of it
        return (0,) if slots else ()
    return tuple(slots)


def _is_small(value: Value, emitter: Emitter) -> bool:
    kernel_type = emitter.device.kernel_type
    return memory.is_small(value.shape, value.dtype.is_integer, kernel_type)


def read_input(item: Item, token: Any) -> Any:
    """What a variable's holder holds now, for a node; any other token as it is.

    Nobody changes the value in place while a token is it: see kernels/variable_value.
    A debugger takes None for what is not initialized.

    Raises:
      errors.FailedPreconditionError: the variable is not initialized.
    """
    if not isinstance(token, Variable):
        return token
    value = token.value
    if value is None and (value := token.value_between_updates()) is None:
        if item.kind == COPY:
            return None
        node = item.node
        # What a value could not be sent for is said of the node that gives it.
        name = node.inputs[0][0] if item.kind == SEND else node.name
        raise refused(runtime.uninitialized(token), name, node.op, node.device)
    return value


def _compile(node: Node, emitter: Emitter, facts: dict[tuple[str, int], Value]) -> Code:
    """The node's function; also notes the facts of its outputs."""
    scope = Scope(drops_values=False)
    for slot, key in enumerate(node.inputs):
        if key not in facts:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Node '{node.name}' takes the value of a later iteration from "
                f"'{key[0]}', which only a Merge can",
            )
        if key not in scope.values:
            _take_input(emitter, scope, key, slot, facts[key])
    emitter.emit_node(scope, node)
    if node.op == "_Retval":
        index = node.attrs["index"]
        results = [emitter.results.pop(index)[1]]
    else:
        results = []
        for index in range(len(node.output_types)):
            value = scope.values[node.name, index]
            facts[node.name, index] = value
            results.append(
                emitter.holder(value)
                if value.is_ref
                else emitter.any_memory(scope, value)
            )
    ends = [f"return ({', '.join(results)}{',' if results else ''})"]
    return Code(emitter, "inputs, args, context", (), scope.lines, ends)


def _is_reference(key: tuple[str, int], types: Mapping[str, Sequence[DType]]) -> bool:
    name, output = key
    return types[name][output]._is_ref_dtype


def _take_input(
    emitter: Emitter, scope: Scope, key: tuple[str, int], slot: int, fact: Value
) -> None:
    """Binds an input token to a name of the node's function, in its memory."""
    value = Value(fact.dtype, fact.shape, scope, Root(shared=True))
    value.is_ref, value.handle, value.read_of = fact.is_ref, fact.handle, fact.read_of
    scope.values[key] = value
    if fact.constant is not None:
        value.constant = fact.constant
        return
    name = emitter.new_name(scope)
    text = f"inputs[{slot}]"
    if fact.is_ref or not is_torch_type(fact.dtype):
        value.host_name = name
    elif fact.host_name is not None:
        value.host_name = name
        text = f"received_host({text})"
    else:
        value.tensor_name = name
        text = f"received_tensor({text}, device)"
        emitter.uses_torch = True
    scope.write(f"{name} = {text}", None)
