"""Computes loop invariants once, in the first iteration.

before: while ...: w = read(weights); v1, v2 = split(w); x = dot(x, v1) + v2
after:  o = True; v1 = v2 = None
        while ...:
            if o: o = False; w = read(weights); v1, v2 = split(w)
            x = dot(x, v1) + v2

Recurrent layers split their weights within the loop. Invariants are not computed before
the loop, because a loop without iterations must compute nothing that may fail or take
long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.worker.compile.emitter import STRUCTURE
from tensorloom.worker.compile.values import Scope

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.worker.compile.emitter import Emitter
    from tensorloom.worker.compile.values import Value

_READ: Final = "ReadVariableOp"
# They cost nothing, so that they alone are not worth a block.
_FREE: Final = frozenset(["Const", "Identity"])
# Ops with state that no variable is changed by, by the start of their names.
_OTHER_STATE: Final = (_READ, "Stack", "TensorArray", "ResourceGather", "VariableShape")


def find(
    emitter: Emitter,
    test: FunctionIR,
    body: FunctionIR,
    arguments: Sequence[Value],
    special: Container[str],
) -> frozenset[str]:
    """The nodes of a loop's body that give the same in each iteration.

    Args:
      test, body: the loop's functions.
      arguments: what they take.
      special: the nodes that are not emitted as others are.
    """
    if body.problem is not None or test.problem is not None:
        return frozenset()
    known = {
        name
        for name, end, value in zip(
            body.arg_names, body.returns, arguments, strict=True
        )
        # What is read through a reference may change.
        if end == (name, 0) and not value.is_ref and value.read_of is None
    }
    found: set[str] = set()
    writes: bool | None = None
    for node in body.nodes.values():
        needed = {name for name, _ in node.inputs} | set(node.control_inputs)
        if needed <= known and node.name not in special and _is_pure(emitter, node):
            if node.op == _READ:
                if writes is None:
                    writes = _may_write(emitter, [test, body], set())
                if writes:
                    continue
            found.add(node.name)
            known.add(node.name)
    if all(body.nodes[name].op in _FREE for name in found):
        return frozenset()
    return frozenset(found)


def _is_pure(emitter: Emitter, node: Node) -> bool:
    """Whether a node gives the same for the same inputs, and does nothing else.

    A variable's value is such an input, where nobody writes it.
    """
    if node.op in _FREE or node.op == _READ:
        return True
    if node.op in STRUCTURE or any(n in emitter.functions for n in names_of(node)):
        return False
    op_def = op_registry.find(node.op)
    return (
        op_def is not None
        and not op_def.is_stateful
        and not any(arg.is_ref for arg in op_def.inputs)
        and not any(t._is_ref_dtype for t in node.output_types)
    )


def _may_write(
    emitter: Emitter, functions: Iterable[FunctionIR], seen: set[str]
) -> bool:
    """Whether functions, or those that they call, may change a variable."""
    for function in functions:
        if function.name in seen:
            continue
        seen.add(function.name)
        for node in function.nodes.values():
            if node.op.startswith(_OTHER_STATE):
                continue
            op_def = op_registry.find(node.op)
            if (
                op_def is not None
                and op_def.is_stateful
                and any(arg.type in (None, dtypes.resource) for arg in op_def.inputs)
            ):
                return True
            names = [name for name in names_of(node) if name in emitter.functions]
            called = [emitter.functions[name] for name in names]
            if _may_write(emitter, called, seen):
                return True
    return False


def emit(
    emitter: Emitter, body: Scope, nodes: Sequence[Node], keep: set[tuple[str, int]]
) -> Scope:
    """Emits nodes into a block for the first iteration, whose values a body sees.

    Args:
      body: the block of the loop's body, which has its arguments.
      nodes: in topological order.
      keep: keys of the values that the body needs.

    Returns:
      The block.
    """
    once = Scope(
        parent=body.parent,
        prefix=body.prefix,
        drops_values=body.drops_values,
        functions=body.functions,
    )
    for key, value in body.values.items():
        once.values[key] = value.owned_by(once) if value.pinned else value
    emitter.emit_block(once, nodes, keep)
    made = {node.name for node in nodes}
    once.values = {
        key: value
        for key, value in once.values.items()
        if key[0] in made and key in keep
    }
    for value in once.values.values():
        value.is_own = False
    body.values.update(once.values)
    return once


def start(emitter: Emitter, scope: Scope, node: Node, once: Scope) -> tuple[str, str]:
    """Emits what stands before a loop for a block of its first iteration.

    Returns:
      The name of what tells the first iteration, and a statement for after the loop.
    """
    kept = {
        name: None
        for value in once.values.values()
        if value.owner is once
        for name in (value.host_name, value.tensor_name)
        if name is not None and emitter.is_local(name)
    }
    flag = emitter.new_name(scope, "o")
    scope.write(f"{flag} = True", node)
    names = list(kept)
    if names:
        scope.write(f"{' = '.join(names)} = None", node)
    return flag, "del " + ", ".join([flag, *names])
