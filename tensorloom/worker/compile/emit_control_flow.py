"""Functional control flow as Python control flow: `if`, `while`, and calls in line.

A body is emitted into the block that calls it, over the caller's own variables: a loop
over scalars becomes a Python `while` over NumPy scalars, and what a loop does not
change is not copied in each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import GRAPH_NAMES, LOWERED
from tensorloom.framework.graph.node_shapes import with_shapes
from tensorloom.framework.partition.waiting_ops import waits_in_any_order
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime import session_config
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile import loop_invariants
from tensorloom.worker.compile.dataflow_nodes import is_classic
from tensorloom.worker.compile.emitter import STRUCTURE, Emit, Emitter
from tensorloom.worker.compile.signatures import check_arguments, check_results
from tensorloom.worker.compile.values import Root, Scope, Value

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.worker.compile.loop_buffers import Made

# A function that calls itself is compiled once and called; so is one this deep.
MAX_INLINE_DEPTH = 64


def find_function(emitter: Emitter, name: str) -> FunctionIR:
    """The function of that name, which may have nodes without a kernel.

    Raises:
      errors.NotFoundError: the library has none.
      errors.InvalidArgumentError, errors.NotFoundError: it cannot be instantiated.
    """
    function = emitter.functions.get(name)
    if function is None:
        raise errors.NotFoundError(
            None, None, f"Function {name} is not defined in the graph's library."
        )
    function.check_instantiation()
    return function


def needed_nodes(function: FunctionIR) -> list[Node]:
    """The body's nodes that the results need, and those with side effects."""
    wanted = {name for name, _ in function.returns}
    wanted.update(function.control_returns)
    needed: list[Node] = []
    for node in reversed(with_shapes(function.nodes)):
        if node.name in wanted or _has_side_effects(node):
            needed.append(node)
            wanted.update(name for name, _ in node.inputs)
            wanted.update(node.control_inputs)
    needed.reverse()
    return needed


def _has_side_effects(node: Node) -> bool:
    op_def = op_registry.find(node.op)
    return op_def is not None and op_def.is_stateful and node.op != "Placeholder"


def is_interpreted(function: FunctionIR, functions: Mapping[str, FunctionIR]) -> bool:
    """Whether a body runs in no order that is known before.

    It has branches and loops of its own, or ops that may wait for each other.
    """
    nodes = function.nodes
    return is_classic(nodes) or waits_in_any_order(nodes.values(), functions)


def emit_body(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    name: str,
    arguments: Sequence[Value],
    special: Mapping[str, Emit] | None = None,
    made: list[Made] | None = None,
    invariant: frozenset[str] = frozenset(),
) -> tuple[Scope, list[Value]]:
    """Emits a function's body into a block of its own; returns it and its results.

    Pinned arguments (loop variables) belong to the block: what is derived from them
    holds for one iteration.

    Args:
      special, made: see `Scope`.
      invariant: the nodes that go to a block of their own, the body's `once`.
    """
    function = find_function(emitter, name)
    function.check()
    check_arguments(function, [value.dtype for value in arguments])
    inner = "" if GRAPH_NAMES in function.attrs else f"{node.name}/"
    body = Scope(
        parent=scope,
        prefix=scope.prefix + inner,
        drops_values=scope.drops_values,
        functions=(*scope.functions, name),
        special=special or {},
        made=made,
    )
    if is_interpreted(function, emitter.functions):
        return body, _emit_interpreted(emitter, body, node, function, arguments)
    for arg, value in zip(function.arg_names, arguments, strict=True):
        body.values[arg, 0] = value.owned_by(body) if value.pinned else value
    nodes = [n for n in needed_nodes(function) if n.name not in function.arg_names]
    if invariant:
        inside = [n for n in nodes if n.name not in invariant]
        needed = {key for n in inside for key in n.inputs} | {*function.returns}
        first = [n for n in nodes if n.name in invariant]
        body.once = loop_invariants.emit(emitter, body, first, needed)
        nodes = inside
    emitter.emit_block(body, nodes, function.returns)
    return body, [emitter.lookup(body, key) for key in function.returns]


def emit_when_run(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    name: str,
    arguments: Sequence[Value],
    special: Mapping[str, Emit] | None = None,
    made: list[Made] | None = None,
    invariant: frozenset[str] = frozenset(),
) -> tuple[Scope, list[Value] | None]:
    """As `emit_body`; a body without a kernel for a node fails when it is run.

    TensorFlow makes the kernels of a function at its first run, so a branch that is
    not taken may have nodes that have none. Loops and branches that it takes apart are
    nodes of the graph around them: they have all their kernels before the step begins.
    Then there are no results.
    """
    try:
        return emit_body(
            emitter, scope, node, name, arguments, special, made, invariant
        )
    except errors.OpError as error:
        if node.attrs.get(LOWERED):
            raise
        body = Scope(parent=scope, prefix=scope.prefix)
        _emit_error(emitter, body, node, error)
        return body, None


def _emit_error(
    emitter: Emitter, scope: Scope, node: Node, error: errors.OpError
) -> None:
    message, code = error.message, error.error_code or errors.UNKNOWN

    def fail() -> None:
        raise errors.make_exception(None, None, message, code)

    scope.write(f"{emitter.bind(fail)}()", node)


def _emit_interpreted(
    emitter: Emitter,
    body: Scope,
    node: Node,
    function: FunctionIR,
    arguments: Sequence[Value],
) -> list[Value]:
    """A call of a body with classic control flow, which the interpreter runs."""
    call = emitter.bind(emitter.compile_function(NameAttrList(function.name)), "f")
    given = ", ".join(["context", *(emitter.any_memory(body, v) for v in arguments)])
    emitter.uses_context = True
    results = []
    for dtype in function.output_types:
        name = emitter.new_name(body)
        value = Value(dtype, UNKNOWN, body, Root(shared=True))
        if is_torch_type(dtype):
            value.tensor_name = name
            emitter.uses_torch = True
        else:
            value.host_name = name
        results.append(value)
    names = [local_name(v) for v in results]
    target = f"({', '.join(names)},) = " if names else ""
    body.write(f"{target}{call}({given})", node)
    return results


def _check_signature(
    emitter: Emitter, node: Node, name: str, inputs: Sequence[Value]
) -> None:
    function = find_function(emitter, name)
    check_arguments(function, [value.dtype for value in inputs])
    check_results(function, node.output_types)


def _is_recursive(scope: Scope, name: str) -> bool:
    return name in scope.functions or len(scope.functions) > MAX_INLINE_DEPTH


# --- calls -------------------------------------------------------------------------


def emit_partitioned_call(emitter: Emitter, scope: Scope, node: Node) -> None:
    """PartitionedCall and StatefulPartitionedCall: the body in line."""
    name = node.attrs["f"].name
    if name not in emitter.functions:  # another class than other calls give
        raise errors.InvalidArgumentError(
            None, None, f"Failed to find function '{name}' in the graph's library."
        )
    executor_type = node.attrs.get("executor_type", b"").decode(errors="replace")
    session_config.check_executor_type(executor_type)
    inputs = emitter.inputs_of(scope, node)
    emit_call(emitter, scope, node, name, inputs)


def emit_function_op(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A node whose op is a function's name."""
    emit_call(emitter, scope, node, node.op, emitter.inputs_of(scope, node))


def emit_call(
    emitter: Emitter, scope: Scope, node: Node, name: str, inputs: Sequence[Value]
) -> None:
    """A call of a function: its body in line, or a call if it is recursive."""
    _check_signature(emitter, node, name, inputs)
    if _is_recursive(scope, name):
        _emit_indirect_call(emitter, scope, node, name, inputs)
        return
    body, results = emit_when_run(emitter, scope, node, name, inputs)
    scope.splice(body, depth=0)
    if results is None:
        _define_outputs(emitter, scope, node)
        return
    for index, value in enumerate(results):
        if value.owner is body and value not in results[:index]:
            value.owner = scope  # what is derived from it now, is derived there
        else:
            value = alias(emitter, scope, node, value)
        scope.values[node.name, index] = value


def alias(emitter: Emitter, scope: Scope, node: Node, value: Value) -> Value:
    """The same value under names of its own, so that each can be dropped alone."""
    value.is_own = False
    copy = replace(value, owner=scope, pinned=False)
    for field in ("host_name", "tensor_name"):
        name = getattr(value, field)
        if name is not None and emitter.is_local(name):
            fresh = emitter.new_name(scope)
            scope.write(f"{fresh} = {emitter.use(scope, name)}", node)
            setattr(copy, field, fresh)
    return copy


def _emit_indirect_call(
    emitter: Emitter, scope: Scope, node: Node, name: str, inputs: Sequence[Value]
) -> None:
    call = emitter.bind(emitter.compile_function(NameAttrList(name)), "f")
    arguments = ", ".join(["context", *(emitter.any_memory(scope, v) for v in inputs)])
    emitter.uses_context = True
    names = [local_name(v) for v in _define_outputs(emitter, scope, node)]
    target = f"({', '.join(names)},) = " if names else ""
    scope.write(f"{target}{call}({arguments})", node)


def _define_outputs(emitter: Emitter, scope: Scope, node: Node) -> list[Value]:
    return [
        emitter.define(scope, node, i, not is_torch_type(t), Root(shared=True))
        for i, t in enumerate(node.output_types)
    ]


# --- if ------------------------------------------------------------------------------


def emit_if(emitter: Emitter, scope: Scope, node: Node) -> None:
    """If and StatelessIf: both branches in line under a Python `if`."""
    condition, *arguments = emitter.inputs_of(scope, node)
    names = [node.attrs["then_branch"].name, node.attrs["else_branch"].name]

    def heads() -> list[str]:
        return [f"if {condition_text(emitter, scope, node, condition)}:", "else:"]

    _emit_branches(emitter, scope, node, names, arguments, heads)


def emit_case(emitter: Emitter, scope: Scope, node: Node) -> None:
    """Case and StatelessCase: `if ... elif ... else` over the branch index."""
    index, *arguments = emitter.inputs_of(scope, node)
    names = [function.name for function in node.attrs["branches"]]

    def heads() -> list[str]:
        chosen = emitter.host(scope, index)
        if index.shape.dims_tuple != ():
            checked = emitter.new_name(scope)
            scope.write(f"{checked} = branch_index({chosen})", node)
            chosen = checked
        if len(names) == 1:
            return ["if True:"]
        tests = [f"elif {chosen} == {i}:" for i in range(1, len(names) - 1)]
        return [f"if {chosen} == 0:", *tests, "else:"]

    _emit_branches(emitter, scope, node, names, arguments, heads)


def _emit_branches(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    names: Sequence[str],
    arguments: Sequence[Value],
    make_heads: Callable[[], Sequence[str]],
) -> None:
    for name in names:
        _check_signature(emitter, node, name, arguments)
    branches = [emit_when_run(emitter, scope, node, n, arguments) for n in names]
    given = [results for _, results in branches if results is not None]
    outputs = _merged_outputs(emitter, scope, node, given)
    # Everything that may add a line before the `if` comes before it.
    heads = make_heads()
    for body, results in branches:
        if results is None:
            continue
        for out, result in zip(outputs, results, strict=True):
            text = text_like(emitter, body, out, result)
            body.write(f"{local_name(out)} = {text}", node)
        if not outputs:
            body.write("pass", node)
    for head, (body, _) in zip(heads, branches, strict=True):
        scope.write(head, node)
        scope.splice(body)


def condition_text(emitter: Emitter, scope: Scope, node: Node, value: Value) -> str:
    if value.shape.dims_tuple == () and value.dtype.base_dtype.name == "bool":
        if value.is_host and not value.is_ref:
            return emitter.host(scope, value)
        return f"bool({emitter.any_memory(scope, value)})"
    test = "predicate" if node.attrs.get(LOWERED) else "truth"
    return f"{test}({emitter.any_memory(scope, value)})"


def _merged_outputs(
    emitter: Emitter, scope: Scope, node: Node, branches: Sequence[Sequence[Value]]
) -> list[Value]:
    """Values for what the branches give: in host memory if all give it there."""
    if not branches:
        return _define_outputs(emitter, scope, node)
    outputs = []
    for index, given in enumerate(zip(*branches, strict=True)):
        host = all(v.is_host or v.is_ref for v in given) or not is_torch_type(
            given[0].dtype
        )
        root = Root(shared=any(v.root.shared for v in given))
        value = emitter.define(scope, node, index, host, root)
        value.handle = given[0].handle
        if value.shape.rank is None and all(
            v.shape.dims_tuple == given[0].shape.dims_tuple for v in given
        ):
            value.shape = given[0].shape
        outputs.append(value)
    return outputs


def local_name(value: Value) -> str:
    return value.host_name or value.tensor_name or ""


def text_like(emitter: Emitter, scope: Scope, like: Value, value: Value) -> str:
    """`value` as an expression in the memory that `like` has."""
    if like.host_name is None:
        return emitter.tensor(scope, value)
    if like.is_scalar:
        return emitter.scalar(scope, value)
    return emitter.host(scope, value)


STRUCTURE.update(
    {
        "If": emit_if,
        "StatelessIf": emit_if,
        "Case": emit_case,
        "StatelessCase": emit_case,
        "PartitionedCall": emit_partitioned_call,
        "StatefulPartitionedCall": emit_partitioned_call,
        "<call>": emit_function_op,
    }
)
