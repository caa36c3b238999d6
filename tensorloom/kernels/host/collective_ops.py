"""Collectives among the devices of one process.

Members meet in a `_Meeting` of their step: each brings its value and waits for the
others; the last one wakes them. A member waits no longer than its step runs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import host_kernel
from tensorloom.framework.resource import Resource
from tensorloom.kernels.variable_value import format_shape

if TYPE_CHECKING:
    from tensorloom.framework.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_Array = NDArray[Any]
_MERGES: Final[dict[bytes, Callable[[Any, Any], Any]]] = {
    b"Add": np.add,
    b"Mul": np.multiply,
    b"Min": np.minimum,
    b"Max": np.maximum,
}


class _Meeting:
    """The values of a group's members in one step, by (device, node)."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.values: dict[tuple[str, str], Any] = {}
        self.left = 0  # members that have taken the values

    def ordered(self) -> list[tuple[tuple[str, str], Any]]:
        """Members and values, in the order of the devices."""
        return sorted(self.values.items(), key=lambda item: item[0])


_Key = tuple[int, int, int, str]
# One condition for all: meetings are few and short.
_changed = threading.Condition(threading.Lock())
_meetings: dict[_Key, _Meeting] = {}


def _wake() -> None:
    with _changed:
        _changed.notify_all()


def _meet(
    c: OpKernelConstruction,
    context: OpKernelContext,
    group: tuple[int, int, int],
    value: Any,
    what: str,
) -> tuple[list[tuple[tuple[str, str], Any]], int]:
    """All members with their values, and this member's rank."""
    size, group_key, instance_key = group
    if size <= 0:
        raise _invalid(f"group_size must be positive integer but got {size}")
    me = c.device, c.node_name
    if size == 1:
        return [(me, value)], 0
    # All pieces of a step share its rendezvous.
    key = id(context.rendezvous), group_key, instance_key, what
    token = context.cancellation.register(_wake)
    try:
        with _changed:
            meeting = _meetings.setdefault(key, _Meeting(size))
            if meeting.size != size:
                raise _invalid(
                    f"Collective group {group_key} has members that ask for group "
                    f"sizes {meeting.size} and {size}"
                )
            meeting.values[me] = value
            _changed.notify_all()
            try:
                while len(meeting.values) < size:
                    context.cancellation.check()
                    _changed.wait()
            except BaseException:
                _meetings.pop(key, None)
                raise
            meeting.left += 1
            if meeting.left == size:
                _meetings.pop(key, None)
            members = meeting.ordered()
    finally:
        if token is not None:
            context.cancellation.deregister(token)
    return members, [member for member, _ in members].index(me)


def _attr_group(c: OpKernelConstruction) -> tuple[int, int, int]:
    return c["group_size"], c["group_key"], c["instance_key"]


def _split_inputs(
    c: OpKernelConstruction, inputs: Sequence[Any], has_value: bool
) -> tuple[tuple[int, int, int], Any]:
    """The group, from attrs or inputs, and the value that comes first."""
    value = inputs[0] if has_value else None
    rest = inputs[1:] if has_value else inputs
    if "group_size" in c.attrs:
        return _attr_group(c), value
    size, group_key, instance_key = (int(x) for x in rest[:3])
    return (size, group_key, instance_key), value


def _values(members: list[tuple[Any, Any]]) -> list[_Array]:
    values = [np.asarray(value) for _, value in members]
    for value in values[1:]:
        if value.shape != values[0].shape:
            raise _invalid(
                "Shape mismatch in the collective instance: "
                f"{format_shape(values[0].shape)} and {format_shape(value.shape)}"
            )
    return values


def _reduced(values: list[_Array], merge: bytes, divide: bool) -> Any:
    result = functools.reduce(_MERGES[merge], values)
    if divide:
        count = np.asarray(len(values), result.dtype)
        exact = result.dtype.kind in "iu"
        result = result // count if exact else result / count
    return result.astype(values[0].dtype)[()]


@host_kernel(
    ["CollectiveReduce", "CollectiveReduceV2"], context=True, blocking=True, large=True
)
def reduce(c: OpKernelConstruction) -> Compute:
    """The reduction of the members' values."""
    merge, divide = c["merge_op"], c["final_op"] == b"Div"

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        members, _ = _meet(c, context, group, value, "reduce")
        return _reduced(_values(members), merge, divide)

    return compute


@host_kernel("CollectiveReduceScatterV2", context=True, blocking=True, large=True)
def reduce_scatter(c: OpKernelConstruction) -> Compute:
    """A part of the reduction for each member."""
    merge, divide = c["merge_op"], c["final_op"] == b"Div"

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        members, rank = _meet(c, context, group, value, "reduce_scatter")
        whole = np.asarray(_reduced(_values(members), merge, divide))
        return _parts(whole, len(members))[rank]

    return compute


def _parts(value: _Array, count: int) -> list[_Array]:
    if not value.ndim or len(value) % count:
        raise _invalid(
            f"The first dimension of {format_shape(value.shape)} must be a multiple of "
            f"the group size {count}"
        )
    return np.split(value, count)


@host_kernel(
    ["CollectiveGather", "CollectiveGatherV2"], context=True, blocking=True, large=True
)
def gather(c: OpKernelConstruction) -> Compute:
    """The members' values along dimension 0."""

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        members, _ = _meet(c, context, group, value, "gather")
        values = [np.asarray(value) for _, value in members]
        if any(v.ndim == 0 or v.shape[1:] != values[0].shape[1:] for v in values):
            raise _invalid("Input tensors to be gathered must agree in their rows")
        return np.concatenate(values)

    return compute


@host_kernel("CollectiveAllToAllV2", context=True, blocking=True, large=True)
def all_to_all(c: OpKernelConstruction) -> Compute:
    """Part i of each value for member i."""

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        members, rank = _meet(c, context, group, value, "all_to_all")
        values = _values(members)
        return np.concatenate([_parts(v, len(values))[rank] for v in values])

    return compute


@host_kernel(
    ["CollectiveBcastSend", "CollectiveBcastSendV2"],
    context=True,
    blocking=True,
    large=True,
    aliases=True,
)
def broadcast_send(c: OpKernelConstruction) -> Compute:
    """Gives the value to the others."""

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        _meet(c, context, group, value, "broadcast")
        return value

    return compute


@host_kernel(
    ["CollectiveBcastRecv", "CollectiveBcastRecvV2"],
    context=True,
    blocking=True,
    large=True,
)
def broadcast_recv(c: OpKernelConstruction) -> Compute:
    """The value that one of the others gives."""
    dtype = np.dtype(c["T"].as_numpy_dtype)

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, _ = _split_inputs(c, inputs, has_value=False)
        members, _ = _meet(c, context, group, None, "broadcast")
        sent = [value for _, value in members if value is not None]
        if len(sent) != 1:
            raise _invalid(f"A broadcast has one sender, not {len(sent)}")
        value = np.array(sent[0])
        if value.dtype != dtype:
            raise _invalid(f"Broadcast of {value.dtype} received as {dtype}")
        return value[()]

    return compute


# --- communicators -------------------------------------------------------------------


class _Communicator(Resource):
    """A member's place in a group."""

    def __init__(self, group_key: int, rank: int, size: int) -> None:
        super().__init__("", f"communicator/{group_key}/{rank}")
        self.group_key = group_key
        self.rank = rank
        self.size = size


@host_kernel("CollectiveInitializeCommunicator", large=True)
def initialize_communicator(c: OpKernelConstruction) -> Compute:
    """The place as a resource."""

    def compute(group_key: Any, rank: Any, size: Any) -> _Communicator:
        if not 0 <= int(rank) < int(size):
            raise _invalid(f"rank must be in [0, {int(size)}), got {int(rank)}")
        return _Communicator(int(group_key), int(rank), int(size))

    return compute


def _group_of(communicator: _Communicator, assignment: Any) -> tuple[int, int, int]:
    """The group of a member: its row of the assignment, or everybody."""
    rows = np.asarray(assignment)
    if rows.size == 0:
        return communicator.size, communicator.group_key, 0
    size, row = _row_of(rows, communicator.rank)
    return size, communicator.group_key, 1 + row


def _row_of(assignment: _Array, index: int) -> tuple[int, int]:
    if assignment.ndim != 2:
        raise _invalid("group_assignment must be a matrix")
    found = np.argwhere(assignment == index)
    if len(found) != 1:
        raise _invalid(
            f"Device {index} must be in exactly one group of the assignment, is in "
            f"{len(found)}"
        )
    return assignment.shape[1], int(found[0][0])


@host_kernel("CollectiveReduceV3", context=True, blocking=True, large=True)
def reduce_v3(c: OpKernelConstruction) -> Compute:
    """The reduction of the values of a communicator's members."""
    merge = c["reduction"]

    def compute(
        context: OpKernelContext, value: Any, place: _Communicator, rows: Any
    ) -> Any:
        members, _ = _meet(c, context, _group_of(place, rows), value, "reduce_v3")
        return _reduced(_values(members), merge, False)

    return compute


@host_kernel("CollectiveAllToAllV3", context=True, blocking=True, large=True)
def all_to_all_v3(c: OpKernelConstruction) -> Compute:
    """Part i of each value for member i of a communicator."""

    def compute(
        context: OpKernelContext, value: Any, place: _Communicator, rows: Any
    ) -> Any:
        group = _group_of(place, rows)
        members, rank = _meet(c, context, group, value, "all_to_all_v3")
        values = _values(members)
        return np.concatenate([_parts(v, len(values))[rank] for v in values])

    return compute


@host_kernel("CollectiveAssignGroupV2", large=True)
def assign_group(c: OpKernelConstruction) -> Compute:
    """Size and key of a device's group."""

    def compute(assignment: Any, index: Any, base_key: Any) -> tuple[Any, Any]:
        size, row = _row_of(np.asarray(assignment), int(index))
        return np.int32(size), np.int32(int(base_key) + row)

    return compute


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
