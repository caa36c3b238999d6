"""Nodes that are the step's own structure: constants, feeds, fetches, Send and Recv."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.partition.graph_partition import BY_REFERENCE, DEFERRABLE
from tensorloom.framework.runtime import lendable_memory
from tensorloom.framework.runtime.rendezvous_key import key_of
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.worker.compile import memory
from tensorloom.worker.compile.emitter import STRUCTURE, Emitter
from tensorloom.worker.compile.values import Root, Scope, Value

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node


def emit_const(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A constant is bound as a global name by its first consumer, in its memory."""
    array = node.attrs["value"]
    value = Value(
        node.output_types[0],
        node.output_shapes[0] if node.output_shapes else _shape(array),
        scope,
        Root(shared=True),
        constant=array,
    )
    scope.values[node.name, 0] = value


def _shape(array: Any) -> TensorShape:
    return TensorShape.of(tuple(array.shape))


def emit_nothing(emitter: Emitter, scope: Scope, node: Node) -> None:
    """NoOp and its like only order other nodes, and the source is in order."""


def emit_variable(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A variable's holder never changes: it is bound as a global name."""
    compute = emitter.make_kernel(scope, node, ())
    dtype = node.output_types[0]
    handle = node.attrs["dtype"], node.attrs["shape"]
    scope.values[node.name, 0] = Value(
        dtype,
        node.output_shapes[0] if node.output_shapes else TensorShape.of(None),
        scope,
        Root(shared=True),
        host_name=emitter.bind(compute(), "var"),
        is_ref=dtype._is_ref_dtype,
        handle=handle,
    )


def emit_identity(emitter: Emitter, scope: Scope, node: Node) -> None:
    """An Identity of a reference reads the variable where its result is used.

    TensorFlow's shares the variable's buffer, and programs rely on it: what runs after
    an assignment sees the new value through the `read` tensor that every variable has,
    though that Identity itself is not ordered after the assignment. An assignment of
    another size leaves that buffer alone: see held_reads.py.
    """
    source = emitter.lookup(scope, node.inputs[0])
    if source.is_ref and source.read_of is not None:
        name = emitter.new_name(scope)
        scope.write(f"{name} = {emitter.use(scope, emitter.holder(source))}", node)
        value = replace(source, owner=scope, host_name=name, pinned=False)
        scope.values[node.name, 0] = value
        return
    if not source.is_ref or source.handle is None:
        emitter.emit_kernel(scope, node)
        return
    name = emitter.new_name(scope)
    holder = emitter.use(scope, emitter.holder(source))
    read = "held_read" if emitter.may_resize else "initialized"
    scope.write(f"{name} = {read}({holder})", node)
    scope.values[node.name, 0] = Value(
        source.dtype.base_dtype,
        source.shape,
        scope,
        Root(shared=True),
        host_name=name,
        is_ref=True,
        read_of=source.handle,
    )


def emit_arg(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A feed: host memory, a NumPy scalar for numbers of rank 0."""
    value = emitter.define(scope, node, 0, host=True, root=Root(shared=True))
    value.is_ref = False
    text = f"args[{node.attrs['index']}]"
    if value.shape.dims_tuple == () and is_torch_type(value.dtype):
        text += "[()]"
        value.is_scalar = True
    scope.write(f"{value.host_name} = {text}", node)


def emit_retval(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A fetch: NumPy, a scalar for rank 0; copied where others hold the memory."""
    value = emitter.lookup(scope, node.inputs[0])
    index: int = node.attrs["index"]
    name = emitter.new_name(scope, "r")
    scope.write(f"{name} = {_fetched(emitter, scope, value)}", node)
    # Two fetches of one value must not share memory either.
    value.root.shared = True
    emitter.results[index] = (scope, name)


def _fetched(emitter: Emitter, scope: Scope, value: Value) -> str:
    if value.is_ref:
        return f"copied({emitter.host(scope, value)})"
    if value.tensor_name is not None and value.constant is None:
        tensor = emitter.tensor(scope, value)
        how = "fetch_shared" if value.root.shared else "fetch_tensor"
        return f"{how}({tensor}, to_host)"
    text = emitter.host(scope, value)
    if value.is_scalar:
        return text
    return f"copied({text})" if value.root.shared else f"scalar_or_array({text})"


def emit_send(emitter: Emitter, scope: Scope, node: Node) -> None:
    """Leaves the value in the step's rendezvous."""
    value = emitter.lookup(scope, node.inputs[0])
    source, target = _task(node, "send_device"), _task(node, "recv_device")
    variable = _lendable(emitter, scope, value) if source != target else None
    if BY_REFERENCE in node.attrs and value.is_ref:
        text = f"initialized({emitter.use(scope, emitter.holder(value))})"
    elif (
        node.attrs["send_device"] != node.attrs["recv_device"]
        and is_torch_type(value.dtype)
        and emitter.device.torch_device is not None
    ):
        text = _leaving(emitter, scope, value, source == target, node)
    elif variable is not None:
        text = f"lendable({emitter.tensor(scope, value)}, {variable})"
    elif value.is_ref:
        text = emitter.host(scope, value)
    else:
        text = emitter.any_memory(scope, value)
    value.root.shared = True
    emitter.uses_context = True
    key = emitter.bind(key_of(node), "key")
    if source != target and scope.parent is None:
        if DEFERRABLE in node.attrs and _is_small(value):
            scope.has_held = True
        else:
            scope.has_unsent = True
        scope.write(f"context.rendezvous.send_later({key}, {text})", node)
    else:
        scope.write(f"context.rendezvous.send({key}, {text})", node)


def _leaving(
    emitter: Emitter, scope: Scope, value: Value, is_near: bool, node: Node
) -> str:
    """What leaves a device with memory of its own.

    It stays a tensor on its way to another device of the kind. To others it goes
    through host memory, inside of the task without holding up the kernels that follow.
    """
    if not is_near or value.is_ref or value.constant is not None or value.host_name:
        return emitter.host(scope, value)
    receiver: bytes = node.attrs["recv_device"]
    tensor = emitter.tensor(scope, value)
    if f"/device:{emitter.device.device_type}:" in receiver.decode():
        return tensor
    return f"device.leave({tensor})"


def _lendable(emitter: Emitter, scope: Scope, value: Value) -> str | None:
    """The name of the variable that a value is all of, if it may be large."""
    count = value.shape.num_elements()
    if not is_torch_type(value.dtype) or (
        count is not None and count * value.dtype.size < lendable_memory.LEAST
    ):
        return None
    if value.is_ref:
        held = value.read_of is not None and emitter.may_resize
        return None if held else emitter.use(scope, emitter.holder(value))
    return value.variable if value.tensor_name is not None else None


# Larger tensors, in elements, are sent as soon as they are there.
_MAX_HELD: Final = 16 * 1024


def _is_small(value: Value) -> bool:
    count = value.shape.num_elements()
    return count is not None and count <= _MAX_HELD


def _task(node: Node, attr: str) -> str:
    device: bytes = node.attrs[attr]
    return task_of(device.decode())


def emit_recv(emitter: Emitter, scope: Scope, node: Node) -> None:
    """Waits for a value in the step's rendezvous."""
    dtype = node.output_types[0]
    shape = node.output_shapes[0] if node.output_shapes else None
    host = not is_torch_type(dtype) or (
        shape is not None
        and memory.is_small(shape, dtype.is_integer, emitter.device.kernel_type)
    )
    by_reference = BY_REFERENCE in node.attrs
    # Other tasks' tensors come in host memory. Who wants a tensor makes one of it.
    is_from_elsewhere = _task(node, "send_device") != _task(node, "recv_device")
    host = host or by_reference or is_from_elsewhere
    value = emitter.define(scope, node, 0, host=host, root=Root(shared=True))
    value.is_ref = by_reference
    emitter.uses_context = True
    key = emitter.bind(key_of(node), "key")
    text = f"context.rendezvous.recv({key}, context.cancellation)"
    if is_torch_type(dtype) and not by_reference:
        text = f"received_host({text})" if host else f"received_tensor({text}, device)"
        emitter.uses_torch = emitter.uses_torch or not host
    scope.write(f"{value.host_name or value.tensor_name} = {text}", node)


STRUCTURE.update(
    {
        "Const": emit_const,
        "HostConst": emit_const,
        "NoOp": emit_nothing,
        "ControlTrigger": emit_nothing,
        "Identity": emit_identity,
        "StopGradient": emit_identity,
        "PreventGradient": emit_identity,
        "VariableV2": emit_variable,
        "Variable": emit_variable,
        "VarHandleOp": emit_variable,
        "_Arg": emit_arg,
        "_Retval": emit_retval,
        "_Send": emit_send,
        "_HostSend": emit_send,
        "Send": emit_send,
        "_Recv": emit_recv,
        "_HostRecv": emit_recv,
        "Recv": emit_recv,
    }
)
