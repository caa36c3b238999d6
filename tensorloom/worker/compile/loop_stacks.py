"""Keeps the elements of stacks as Python lists while a loop runs.

before: while ...: v2 = k1(stack, v1)
after:  e = elements_as_list(stack, dtype)
        while ...: v2 = k1(stack, v1) if e is None else e.append(v1)

The loops that TensorFlow's client makes for gradients push to dozens of stacks, or pop
from them, in each iteration. A kernel call costs ten times what the list operation
does. Cases that a list cannot handle (a size limit, a pop of an empty stack) are left
to the kernel.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.kernels.host.state.stack_state import elements_as_list
from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.compile.emitter import Emit, Emitter
    from tensorloom.worker.compile.values import Key, Scope, Value

_PUSH: Final = "StackPushV2"
_POP: Final = "StackPopV2"


@dataclass(slots=True, eq=False)
class LoopStack:
    """A node of a loop's body that pushes to a stack, or takes from it."""

    node: str
    handle: Value  # of the stack, which no iteration changes
    dtype: DType  # of the node's elements
    name: str  # of the stack's elements, None where only the kernel may touch them
    is_read: bool  # what the node gives


def find(
    emitter: Emitter,
    scope: Scope,
    test: FunctionIR,
    body: FunctionIR,
    inputs: Sequence[Value],
) -> list[LoopStack]:
    """The nodes of a loop's body that push to stacks or take from them.

    Args:
      scope: where the loop is.
      test, body: the loop's functions.
      inputs: the loop variables' first values.
    """
    handles = _stacks(test, body, inputs)
    if not handles:
        return []
    read = {name for node in body.nodes.values() for name, _ in node.inputs}
    read.update(name for name, _ in body.returns)
    names = {key: emitter.new_name(scope, "e") for key in handles}
    found = []
    for node in body.nodes.values():
        if node.op not in (_PUSH, _POP) or node.inputs[0] not in handles:
            continue
        key = node.inputs[0]
        dtype = node.attrs["T" if node.op == _PUSH else "elem_type"]
        is_read = node.name in read
        found.append(LoopStack(node.name, handles[key], dtype, names[key], is_read))
    return found


def _stacks(
    test: FunctionIR, body: FunctionIR, inputs: Sequence[Value]
) -> Mapping[Key, Value]:
    """The handles that only one node of the body has, to push to a stack or take.

    With others the stack may be closed in between.
    """
    used = {n.inputs[0] for n in body.nodes.values() if n.op in (_PUSH, _POP)}
    # Of a function with a problem, which tells when it runs, there may be no results.
    if not used or body.problem is not None or test.problem is not None:
        return {}
    tested = {edge for node in test.nodes.values() for edge in node.inputs}
    readers = Counter(edge for node in body.nodes.values() for edge in node.inputs)
    handles = {}
    for name, end, value in zip(body.arg_names, body.returns, inputs, strict=True):
        key = name, 0
        if key in used and end == key and readers[key] == 1:
            handles[key] = value
    for argument, name in zip(test.arg_names, body.arg_names, strict=True):
        if (argument, 0) in tested:
            handles.pop((name, 0), None)
    return handles


def emitters(found: Sequence[LoopStack]) -> dict[str, Emit]:
    """What emits the nodes of the body that push and take, by name."""
    return {one.node: _emitter(one) for one in found}


def _emitter(one: LoopStack) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        emitter.emit_kernel(scope, node)
        line = scope.lines[-1]
        target, _, call = line.text.partition(" = ")
        if node.op == _POP:
            taken = _taken(emitter, one, scope.values[node.name, 0])
            if taken is not None:
                line.text = f"{target} = {taken} if {one.name} else {call}"
        elif not one.is_read:
            pushed = emitter.any_memory(scope, emitter.inputs_of(scope, node)[1])
            kept = f"{one.name}.append({pushed})"
            line.text = f"{target} = {call} if {one.name} is None else {kept}"

    return emit


def _taken(emitter: Emitter, one: LoopStack, value: Value) -> str | None:
    """The last element in the memory of a value; None: only the kernel knows how."""
    taken = f"{one.name}.pop()"
    if not one.is_read or not is_torch_type(one.dtype):
        return taken
    if value.host_name is not None:
        return f"{emitter.bind(to_host, 'f')}({taken})"
    if emitter.device.kernel_type == "CPU":
        return f"{emitter.bind(to_tensor, 'f')}({taken})"
    return None


def start(
    emitter: Emitter, scope: Scope, node: Node, found: Sequence[LoopStack]
) -> None:
    """Emits the elements of the stacks before the first iteration."""
    for one in found:
        handle = emitter.host(scope, one.handle)
        dtype = emitter.bind(one.dtype, "c")
        as_list = emitter.bind(elements_as_list, "f")
        scope.write(f"{one.name} = {as_list}({handle}, {dtype})", node)
