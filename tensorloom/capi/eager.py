"""Ops that run one at a time: what the TFE_... functions of C call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorloom.capi import descriptions, servers, sessions
from tensorloom.capi.attributes import ATTR_TYPES
from tensorloom.cluster.local import LOCAL_TASK
from tensorloom.devices.cpu import CpuDevice
from tensorloom.eager import Context, EagerOperation, PlacementPolicy, TensorHandle
from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import session_config
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.dtypes import as_dtype
from tensorloom.framework.types.tensor_shape import MAX_RANK

# Where values are that come from outside, before there is a context.
_HOST: Final = CpuDevice(LOCAL_TASK, 0)

# --- Contexts ---------------------------------------------------------------------


def new_context(config: bytes | None, policy: int) -> Context:
    """A context with the options of a serialized ConfigProto.

    Raises:
      InvalidArgumentError: there is no such policy.
    """
    decoded = None
    if config is not None:
        decoded = session_config.from_proto(sessions.parsed_config(config))
    return Context(decoded, policy=_policy(policy))


def _policy(number: int) -> PlacementPolicy:
    try:
        return PlacementPolicy(number)
    except ValueError:
        raise invalid_argument(
            f"There is no device placement policy {number}"
        ) from None


def close(context: Context) -> None:
    """Ends a context; its handles stay."""
    context.close()


def join_cluster(context: Context, serialized: bytes) -> None:
    """Makes a context a task of the cluster of a serialized ServerDef.

    Raises:
      InvalidArgumentError: the bytes are none, or its task is not in its cluster.
      errors.OpError: the task's address is taken, or another task cannot be reached.
    """
    context.join(servers.parsed_server_def(serialized))


def devices(context: Context) -> list[tuple[str, str, int, int]]:
    """(name, type, memory limit in bytes, incarnation) of each device."""
    return [
        (d.name, d.device_type, d.memory_limit, d.incarnation % 2**64)
        for d in context.devices
    ]


def clear_caches(context: Context) -> None:
    """Forgets kernels."""
    context.clear_kernel_cache()


def set_thread_policy(context: Context, policy: int) -> None:
    """Sets the placement policy of the calling thread."""
    context.placement.set_thread_policy(_policy(policy))


def policy(context: Context) -> int:
    """The placement policy of the calling thread."""
    return context.placement.policy.value


def add_function(context: Context, definition: bytes) -> None:
    """Adds a function, a serialized FunctionDef."""
    context.add_function(definition)


def remove_function(context: Context, name: bytes) -> None:
    """Removes a function."""
    context.remove_function(_text(name))


def has_function(context: Context, name: bytes) -> bool:
    """Whether there is a function of that name."""
    return context.has_function(_text(name))


def record(context: Context) -> None:
    """Begins to record what ops cost."""
    context.enable_run_metadata()


def stop_recording(context: Context) -> None:
    """Ends that."""
    context.disable_run_metadata()


def run_metadata(context: Context) -> bytes:
    """What was recorded, as a serialized RunMetadata."""
    return context.export_run_metadata().SerializeToString()


def start_step(context: Context) -> None:
    """Begins a step."""
    context.start_step()


def end_step(context: Context) -> None:
    """Ends it."""
    context.end_step()


# --- Handles ----------------------------------------------------------------------


def new_handle(value: Any, dtype: int) -> TensorHandle:
    """A handle of a value of the host, over its memory.

    Raises:
      TypeError: there is no such dtype.
    """
    found = as_dtype(dtype)
    if found.name in ("resource", "variant"):
        return TensorHandle(value, found, _HOST)
    return TensorHandle.of_array(value, found, _HOST)


def facts(handle: TensorHandle) -> tuple[int, tuple[int, ...], bytes, bytes]:
    """The number of the dtype, the sizes, the device, and that which has the memory."""
    return (
        handle.dtype.as_datatype_enum,
        handle.dims,
        handle.device_name.encode(),
        handle.backing_device_name.encode(),
    )


def resolved(handle: TensorHandle) -> Any:
    """The value of a handle in host memory; of a resource or variant the object."""
    if handle.dtype.name in ("resource", "variant"):
        return handle.value
    return handle.array()


def copied(handle: TensorHandle, context: Context, device: bytes) -> TensorHandle:
    """The value on a device of a context, as another handle.

    Raises:
      InvalidArgumentError: there is no such device.
    """
    target = context.device_named(_text(device))
    made = handle.copy_to_device(target)
    return made.shared() if made is handle else made


def shared(handle: TensorHandle) -> TensorHandle:
    """Another handle of the same value."""
    return handle.shared()


# --- Ops --------------------------------------------------------------------------


class Op:
    """An op that is put together, and what is wrong with its attrs."""

    def __init__(self, context: Context, op_type: bytes) -> None:
        """Begins it.

        Raises:
          NotFoundError: there is no such op or function.
        """
        self.operation = EagerOperation(context, _text(op_type))
        self.problem: errors.OpError | None = None  # the first

    @property
    def attrs(self) -> dict[str, Any]:
        """The attrs that are set."""
        return self.operation.attrs


def set_device(op: Op, name: bytes) -> None:
    """Asks for a device.

    Raises:
      InvalidArgumentError: it is no device name.
    """
    op.operation.set_device(_text(name))


def device(op: Op) -> bytes:
    """The full name of the device that was asked for; empty if there is none such."""
    name = op.operation.device
    if not name:
        return b""
    try:
        return op.operation.context.device_named(name).name.encode()
    except errors.InvalidArgumentError:
        return b""


def add_input(op: Op, handle: TensorHandle) -> None:
    """Adds an input."""
    op.operation.add_input(handle)


def add_input_list(op: Op, handles: Sequence[TensorHandle]) -> None:
    """Adds a list of inputs."""
    op.operation.add_input_list(handles)


def set_attr(op: Op, given: tuple[str | None, str, Any]) -> None:
    """Sets an attr, as `descriptions.set_attr`; a `call` is another op's function."""
    name, kind, value = given
    if kind == "call":
        given = name, "function", None if value is None else _called(value)
    elif kind == "list(call)":
        calls = None if value is None else [_called(item) for item in value]
        given = name, "list(function)", calls
    descriptions.set_attr(op, given)


def _called(op: Op) -> NameAttrList:
    return NameAttrList(op.operation.op_type, dict(op.attrs))


def set_shape(op: Op, given: tuple[str | None, str, Any]) -> None:
    """Sets an attr that has shapes.

    Raises:
      InvalidArgumentError: one is none, or has too many dimensions.
    """
    name, _, value = given
    for dims in value or ():
        if dims is not None and len(dims) > MAX_RANK:
            raise invalid_argument(
                f"Value specified for `{name}` has {len(dims)} dimensions which is "
                f"over the limit of {MAX_RANK}."
            )
    before = op.problem
    op.problem = None
    set_attr(op, given)
    problem, op.problem = op.problem, before
    if problem is not None:
        raise problem


def attr_type(op: Op, name: bytes) -> tuple[int, bool]:
    """The TF_AttrType of an attr, and whether it is a list.

    Raises:
      InvalidArgumentError: there is no such attr.
    """
    kind, is_list = op.operation.attr_type(_text(name))
    return ATTR_TYPES[kind], is_list


def input_length(op: Op, name: bytes) -> int:
    """How many tensors an input argument stands for."""
    return op.operation.input_length(_text(name))


def output_length(op: Op, name: bytes) -> int:
    """How many tensors an output argument stands for."""
    return op.operation.output_length(_text(name))


def execute(op: Op, room: int) -> list[TensorHandle]:
    """Runs an op.

    Raises:
      InvalidArgumentError: there are more outputs than there is room for, or attrs or
        inputs do not fit.
      OpError: the kernel's.
    """
    if op.problem is not None:
        raise op.problem
    return op.operation.run(room)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
