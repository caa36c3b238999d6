"""Loops: While as a Python `while` over the loop variables, in line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile import (
    loop_buffers,
    loop_invariants,
    loop_lists,
    loop_positions,
    loop_reads,
    loop_stacks,
    loop_sums,
    memory,
)
from tensorloom.worker.compile.emit_control_flow import (
    alias,
    condition_text,
    emit_body,
    emit_when_run,
    find_function,
    is_interpreted,
    local_name,
    text_like,
)
from tensorloom.worker.compile.emitter import STRUCTURE
from tensorloom.worker.compile.signatures import check_loop
from tensorloom.worker.compile.values import Root, Value

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.emitter import Emitter
    from tensorloom.worker.compile.values import Scope


def emit_while(emitter: Emitter, scope: Scope, node: Node) -> None:
    """While and StatelessWhile: a Python `while` over the loop variables."""
    inputs = emitter.inputs_of(scope, node)
    functions = [node.attrs["cond"].name, node.attrs["body"].name]
    test_function, body_function = (find_function(emitter, n) for n in functions)
    check_loop(test_function, body_function, [value.dtype for value in inputs])
    in_regions = emitter.device.kernel_type == "CPU"
    sums = loop_sums.find(test_function, body_function, scope, node, inputs, in_regions)
    positions = loop_positions.find(emitter, scope, body_function, inputs)
    stacks = loop_stacks.find(emitter, scope, test_function, body_function, inputs)
    lists = loop_lists.find(emitter, scope, test_function, body_function)
    interpreted = any(
        is_interpreted(f, emitter.functions) for f in (test_function, body_function)
    )
    if interpreted:
        sums, positions, stacks, lists = [], [], [], []
    summed = {one.index: one.variable for one in sums}
    variables = [
        value
        if _is_invariant(body_function, i)
        else summed.get(i) or loop_variable(emitter, scope, node, i, value)
        for i, value in enumerate(inputs)
    ]
    start_variables(emitter, scope, node, variables, inputs)
    arguments, read = loop_reads.read_before(emitter, scope, node, variables, functions)
    test, (condition, *_) = emit_body(emitter, scope, node, functions[0], arguments)
    special = {
        **loop_sums.emitters(sums),
        **loop_positions.emitters(positions),
        **loop_stacks.emitters(stacks),
        **loop_lists.emitters(lists, variables),
    }
    invariant: frozenset[str] = frozenset()
    if not interpreted:
        invariant = loop_invariants.find(
            emitter, test_function, body_function, arguments, special
        )
    step, results = emit_when_run(
        emitter, scope, node, functions[1], arguments, special, [], invariant
    )
    loop_sums.start(emitter, scope, node, sums)
    loop_stacks.start(emitter, scope, node, stacks)
    loop_lists.start(emitter, scope, node, lists)
    further = loop_positions.start(emitter, scope, node, positions, variables)
    # Everything that may add a line before the loop comes before it.
    stop = condition_text(emitter, test, node, condition)
    if results is not None:
        blocks = [(test_function, test), (body_function, step)]
        further += loop_buffers.place(emitter, scope, node, blocks, variables, results)
        assign_next(emitter, step, node, variables, inputs, results, further)
    _write_loop(emitter, scope, node, test, step, stop)
    loop_reads.drop(scope, read)
    loop_sums.finish(scope, node, sums)
    loop_lists.end(emitter, scope, node, lists)
    _define_results(emitter, scope, node, inputs, variables)


def _write_loop(
    emitter: Emitter, scope: Scope, node: Node, test: Scope, step: Scope, stop: str
) -> None:
    """The lines of a loop.

    Args:
      test, step: the blocks of its condition and its body.
      stop: what is true while it goes on.
    """
    emitter.uses_context = True
    once = step.once if step.once is not None and step.once.lines else None
    first, after = "", ""
    if once is not None:
        first, after = loop_invariants.start(emitter, scope, node, once)
    scope.write("while True:", node)
    test.write(f"if not {stop}: break", node)
    test.write("if context.cancellation.cancelled: context.cancellation.check()", node)
    scope.splice(test)
    if once is not None:
        scope.write(f"if {first}:", node, depth=1)
        scope.write(f"{first} = False", node, depth=2)
        scope.splice(once, depth=2)
    scope.splice(step)
    if once is not None:
        scope.write(after, None)


def _define_results(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    inputs: Sequence[Value],
    variables: Sequence[Value],
) -> None:
    """What the loop variables are after the loop, as the node's outputs."""
    for index, (value, variable) in enumerate(zip(inputs, variables, strict=True)):
        if variable is value:
            scope.values[node.name, index] = alias(emitter, scope, node, value)
        else:
            variable.pinned = variable.is_own = False
            scope.values[node.name, index] = variable


def _is_invariant(body: FunctionIR, index: int) -> bool:
    """True when the body returns its argument `index` as it came."""
    return bool(body.returns) and body.returns[index] == (body.arg_names[index], 0)


def start_variables(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    variables: Sequence[Value],
    inputs: Sequence[Value],
) -> None:
    """The loop variables' values before the first iteration; not those of sums."""
    for value, variable in zip(inputs, variables, strict=True):
        if variable is not value and local_name(variable):
            text = text_like(emitter, scope, variable, value)
            scope.write(f"{local_name(variable)} = {text}", node)


def loop_variable(
    emitter: Emitter, scope: Scope, node: Node, index: int, initial: Value
) -> Value:
    """A local that is assigned in each iteration, in one memory throughout."""
    dtype: DType = node.output_types[index]
    shape: TensorShape = node.output_shapes[index] if node.output_shapes else UNKNOWN
    kernel_type = emitter.device.kernel_type
    host = not is_torch_type(dtype) or (
        (initial.is_host or initial.is_ref)
        and memory.is_small(shape, dtype.is_integer, kernel_type)
    )
    name = emitter.new_name(scope)
    return Value(
        dtype,
        shape,
        scope,
        Root(shared=True),
        host_name=name if host else None,
        tensor_name=None if host else name,
        is_scalar=host and shape.dims_tuple == () and is_torch_type(dtype),
        pinned=True,
        is_own=True,  # until a reader may keep a view of it
        handle=initial.handle,
    )


def assign_next(
    emitter: Emitter,
    step: Scope,
    node: Node,
    variables: Sequence[Value],
    inputs: Sequence[Value],
    results: Sequence[Value],
    further: Sequence[tuple[str, str]] = (),
) -> None:
    """The loop variables' values for the next iteration, all at once.

    Args:
      further: other assignments that are made with them.
    """
    targets, sources = [], []
    for variable, value, result in zip(variables, inputs, results, strict=True):
        if variable is not value and variable is not result:
            targets.append(local_name(variable))
            sources.append(text_like(emitter, step, variable, result))
    for target, source in further:
        targets.append(target)
        sources.append(source)
    if targets:
        step.write(f"{', '.join(targets)} = {', '.join(sources)}", node)


STRUCTURE.update({"While": emit_while, "StatelessWhile": emit_while})
