"""Keeps tensor lists that a loop grows or shrinks as Python lists while it runs.

before: while ...: v2 = push(v2, v1)
after:  e = as_python_list(v2, dims)
        while ...: e.append(v1)
        v2 = as_list(v2, e)

A tensor list is an immutable value: each push calls a kernel, which makes a new list.
The loops that TensorFlow's client makes for gradients push to dozens of lists in each
iteration. Where a loop variable is a list whose intermediate values are not read, one
Python list is changed in place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.kernels.host.lists.python_list import (
    as_list,
    as_python_list,
    careful_pop,
)
from tensorloom.kernels.torch.state.variable_value import (
    tensors_for,
    to_host,
    to_tensor,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.emitter import Emit, Emitter
    from tensorloom.worker.compile.values import Scope, Value

_PUSH: Final = "TensorListPushBack"
_POP: Final = "TensorListPopBack"


@dataclass(slots=True, eq=False)
class LoopList:
    """A loop variable that each iteration pushes to, or takes the last element of."""

    index: int  # of the loop variable
    node: str  # of the body that does it
    dtype: DType  # of its elements
    name: str  # of what has them
    is_read: bool  # what is taken
    variable: Value | None = None
    pushed: TensorShape | None = None  # of what is pushed


def find(
    emitter: Emitter, scope: Scope, test: FunctionIR, body: FunctionIR
) -> list[LoopList]:
    """The loop variables that are such lists.

    Args:
      scope: where the loop is.
      test, body: the loop's functions.
    """
    # Of a function with a problem, which tells when it runs, there may be no results.
    if body.problem is not None or test.problem is not None:
        return []
    reads = Counter(edge for node in body.nodes.values() for edge in node.inputs)
    reads.update(body.returns)
    tested = {edge for node in test.nodes.values() for edge in node.inputs}
    tested.update(test.returns)
    found = []
    for index, (end, name) in enumerate(zip(body.returns, body.arg_names, strict=True)):
        node = body.nodes.get(end[0])
        if node is None or end[1] or node.op not in (_PUSH, _POP):
            continue
        dtype = node.attrs["element_dtype"]
        is_alone = reads[end] == reads[name, 0] == 1
        if (
            node.inputs[0] == (name, 0)
            and is_alone
            and is_torch_type(dtype)
            and (test.arg_names[index], 0) not in tested
        ):
            elements = emitter.new_name(scope, "e")
            is_read = bool(reads[node.name, 1])
            found.append(LoopList(index, node.name, dtype, elements, is_read))
    return found


def emitters(found: Sequence[LoopList], variables: Sequence[Value]) -> dict[str, Emit]:
    """What emits the nodes of the body that push and take, by name.

    Args:
      variables: the loop variables.
    """
    for one in found:
        one.variable = variables[one.index]
    return {one.node: _emitter(one) for one in found}


def _emitter(one: LoopList) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        emitter.emit_kernel(scope, node)
        other = emitter.inputs_of(scope, node)[1]
        line = scope.lines[-1]
        if node.op == _PUSH:
            one.pushed = other.shape
            line.text = f"{one.name}.append({emitter.any_memory(scope, other)})"
        else:
            line.text = _taken(emitter, scope, node, one, other, line.text)
        assert one.variable is not None
        scope.values[node.name, 0] = one.variable

    return emit


def _taken(
    emitter: Emitter, scope: Scope, node: Node, one: LoopList, dims: Value, call: str
) -> str:
    """The line that takes an element in place of the call of the kernel."""
    kernel = emitter.names[call.partition(" = ")[2].partition("(")[0]]
    careful = emitter.bind(careful_pop(kernel), "f")
    otherwise = f"{careful}({one.name}, {emitter.host(scope, dims)})"
    element = scope.values[node.name, 1]
    target = element.host_name or element.tensor_name
    if not one.is_read:
        return f"{target} = {one.name}.pop() if {one.name} else {otherwise}"
    if element.host_name is not None:
        convert: Callable[[Any], Any] = to_host
    elif emitter.device.kernel_type == "CPU":
        convert = to_tensor
    else:
        inputs = emitter.inputs_of(scope, node)
        convert = tensors_for(emitter.construction(scope, node, inputs))
    taken = f"{emitter.bind(convert, 'f')}({one.name}.pop())"
    return f"{target} = {taken} if {one.name} else {otherwise}"


def start(
    emitter: Emitter, scope: Scope, node: Node, found: Sequence[LoopList]
) -> None:
    """Emits the elements of the lists before the first iteration."""
    for one in found:
        handle = _handle(emitter, scope, one)
        facts = [emitter.bind(fact, "c") for fact in (one.dtype, one.pushed)]
        prepare = emitter.bind(as_python_list, "f")
        scope.write(f"{one.name} = {prepare}({handle}, {', '.join(facts)})", node)


def end(emitter: Emitter, scope: Scope, node: Node, found: Sequence[LoopList]) -> None:
    """Emits what the loop variables are after the last iteration."""
    for one in found:
        handle = _handle(emitter, scope, one)
        finish = emitter.bind(as_list, "f")
        scope.write(f"{handle} = {finish}({handle}, {one.name})", node)
        scope.write(f"del {one.name}", None)


def _handle(emitter: Emitter, scope: Scope, one: LoopList) -> str:
    assert one.variable is not None
    return emitter.host(scope, one.variable)
