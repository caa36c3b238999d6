"""For, RemoteCall, SymbolicGradient and RefSelect as Python."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.functions import symbolic_gradient
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.dtypes import int32
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.worker.compile import emit_control_flow as control_flow
from tensorloom.worker.compile import emit_loops
from tensorloom.worker.compile.emitter import STRUCTURE, Emitter
from tensorloom.worker.compile.values import Root, Scope, Value

if TYPE_CHECKING:
    from typing import Any

    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import Node


def emit_for(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A Python `for` over the loop variables."""
    start, limit, delta, *inputs = emitter.inputs_of(scope, node)
    variables = [
        emit_loops.loop_variable(emitter, scope, node, i, value)
        for i, value in enumerate(inputs)
    ]
    emit_loops.start_variables(emitter, scope, node, variables, inputs)
    name = emitter.new_name(scope)
    counter = Value(
        int32,
        SCALAR,
        scope,
        Root(shared=True),
        host_name=name,
        is_scalar=True,
        pinned=True,
    )
    step, results = control_flow.emit_body(
        emitter, scope, node, node.attrs["body"].name, [counter, *variables]
    )
    emit_loops.assign_next(emitter, step, node, variables, inputs, results)
    numbers = emitter.bind(_numbers, "f")
    bounds = ", ".join(emitter.host(scope, v) for v in (start, limit, delta))
    emitter.uses_context = True
    check = Scope(parent=scope, prefix=scope.prefix)
    check.write("if context.cancellation.cancelled: context.cancellation.check()", node)
    scope.write(f"for {name} in {numbers}({bounds}):", node)
    scope.splice(check)
    scope.splice(step)
    for index, variable in enumerate(variables):
        variable.pinned = False
        scope.values[node.name, index] = variable


def _numbers(start: Any, limit: Any, delta: Any) -> Iterator[np.int32]:
    first, last, step = int(start), int(limit), int(delta)
    if step == 0 or (step > 0 and first > last) or (step < 0 and first < last):
        raise errors.InvalidArgumentError(
            None, None, f"Invalid start/limit/delta: {first} {last} {step}"
        )
    return map(np.int32, range(first, last, step))


def emit_remote_call(emitter: Emitter, scope: Scope, node: Node) -> None:
    """The body in line: the devices of a process share its memory."""
    target, *inputs = emitter.inputs_of(scope, node)
    check = emitter.bind(functools.partial(_check_target, emitter.device), "f")
    scope.write(f"{check}({emitter.host(scope, target)})", node)
    control_flow.emit_call(emitter, scope, node, node.attrs["f"].name, inputs)


def _check_target(device: Device, target: Any) -> None:
    if target.shape != ():
        raise errors.InvalidArgumentError(
            None, None, f"target must be a scalar, not {shape_text(target.shape)}"
        )
    name = target.item().decode(errors="replace")
    try:
        # "CPU:0" is one of this task's devices, too.
        parsed = device_name.parse(
            f"/device:{name}" if ":" in name[1:] and name[:1] != "/" else name
        )
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"Could not parse {name} into a device specification."
        ) from None
    full = str(parsed.merged_with(device_name.parse(device.name)))
    if full not in device.task_devices:
        raise errors.InternalError(
            None,
            None,
            f"Functions cannot be called on device {full}: a RemoteCall reaches the "
            f"devices of its own task, {', '.join(sorted(device.task_devices))}",
        )


def emit_symbolic_gradient(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A call of the gradient function, which is made now."""
    made = symbolic_gradient.make(node.attrs["f"].name, emitter.functions)
    emitter.functions = made.functions
    inputs = emitter.inputs_of(scope, node)
    control_flow.emit_call(emitter, scope, node, made.name, inputs)


def emit_ref_select(emitter: Emitter, scope: Scope, node: Node) -> None:
    """One of several references, by index."""
    index, *inputs = emitter.inputs_of(scope, node)
    value = emitter.define(scope, node, 0, host=True, root=Root(shared=True))
    value.handle = inputs[0].handle
    held = ", ".join(emitter.use(scope, emitter.holder(v)) for v in inputs)
    select = emitter.bind(_selected, "f")
    chosen = emitter.host(scope, index)
    scope.write(f"{value.host_name} = {select}({chosen}, ({held},))", node)


def _selected(index: Any, holders: tuple[Any, ...]) -> Any:
    if np.ndim(index):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Index must be a scalar, but it has shape {shape_text(index.shape)}",
        )
    if not 0 <= index < len(holders):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Index must be in the range [0, {len(holders)}) but got {index}",
        )
    return holders[int(index)]


def emit_list_conversion(emitter: Emitter, scope: Scope, node: Node) -> None:
    """_ListToArray and _ArrayToList: the same values in another kind of argument."""
    for index, value in enumerate(emitter.inputs_of(scope, node)):
        alias = control_flow.alias(emitter, scope, node, value)
        if value.is_ref:  # what it holds now
            text = (
                emitter.tensor(scope, value)
                if is_torch_type(value.dtype)
                else emitter.host(scope, value)
            )
            alias = emitter.define(
                scope, node, index, not is_torch_type(value.dtype), Root(shared=True)
            )
            scope.write(f"{alias.host_name or alias.tensor_name} = {text}", node)
        scope.values[node.name, index] = alias


STRUCTURE.update(
    {
        "For": emit_for,
        "RemoteCall": emit_remote_call,
        "SymbolicGradient": emit_symbolic_gradient,
        "RefSelect": emit_ref_select,
        "_If": control_flow.emit_if,
        "_While": emit_loops.emit_while,
        "_ListToArray": emit_list_conversion,
        "_ArrayToList": emit_list_conversion,
    }
)
