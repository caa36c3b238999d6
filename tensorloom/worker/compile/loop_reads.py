"""Reads variables that a loop does not write once, before its first iteration.

before: while ...: h = k1(read_tensor(weights), h)
after:  w = read_host(weights)
        while ...: h = k1(w, h)

Small values are read into host memory, so that a loop over small values (a decoder
over a batch of tokens) need not leave it for its weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.worker.compile import memory
from tensorloom.worker.compile.values import Root, Value

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.worker.compile.emitter import Emitter
    from tensorloom.worker.compile.values import Scope


def read_before(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    variables: Sequence[Value],
    functions: Sequence[str],
) -> tuple[list[Value], list[Value]]:
    """The loop's arguments with variables read, and what was read.

    Args:
      variables: what the loop's functions take, variables as references.
      functions: the names of its condition and body. Where one of them may change a
        variable nothing is read ahead: who reads after an assignment sees it.
    """
    if not any(value.read_of is not None for value in variables):
        return list(variables), []
    if _may_assign(emitter, functions, set()):
        return list(variables), []
    arguments, read = [], []
    for value in variables:
        if value.read_of is not None:
            value = _read(emitter, scope, node, value)
            read.append(value)
        arguments.append(value)
    return arguments, read


def _may_assign(emitter: Emitter, names: Iterable[str], seen: set[str]) -> bool:
    """Whether a function, or one that it calls, has a node that takes a reference."""
    for name in names:
        if name in seen or name not in emitter.functions:
            continue
        seen.add(name)
        for node in emitter.functions[name].nodes.values():
            op_def = op_registry.find(node.op)
            if op_def is not None and any(arg.is_ref for arg in op_def.inputs):
                return True
            if _may_assign(emitter, names_of(node), seen):
                return True
    return False


def _read(emitter: Emitter, scope: Scope, node: Node, value: Value) -> Value:
    kernel_type = emitter.device.kernel_type
    host = not is_torch_type(value.dtype) or (
        kernel_type == "CPU"
        and memory.is_small(value.shape, value.dtype.is_integer, kernel_type)
    )
    text = emitter.host(scope, value) if host else emitter.tensor(scope, value)
    name = emitter.new_name(scope)
    scope.write(f"{name} = {text}", node)
    return replace(
        value,
        owner=scope,
        root=Root(shared=True),
        host_name=name if host else None,
        tensor_name=None if host else name,
        is_ref=False,
        read_of=None,
        # A view of the tensor in host memory is made once, before the loop too.
        is_returnable=kernel_type == "CPU" and is_torch_type(value.dtype),
    )


def drop(scope: Scope, values: Sequence[Value]) -> None:
    """Lets go of what was read: an update in place must find no other holder."""
    names = [n for v in values for n in (v.host_name, v.tensor_name) if n is not None]
    if names:
        scope.write("del " + ", ".join(names), None)
