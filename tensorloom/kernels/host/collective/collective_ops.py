"""Collectives among devices.

Where members are on other tasks, the step's `StepCollectives` brings them together.
Within one task they meet in a `_Collective` of their step: each brings its value and
waits for the others; the last one wakes them, and so does one that cannot belong to
them. A member waits no longer than its step runs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.collective.requests import (
    BROADCAST,
    GATHERING,
    LEADER_ATTR,
    MERGES,
    REDUCTION,
    CollectiveRequest,
    divided,
)
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from tensorloom.framework.collective.requests import StepCollectives
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Terms:
    """What the members of a collective must agree on."""

    group: tuple[int, int, int]  # its size, the group's key, the instance's key
    kind: str
    dtype: np.dtype[Any] | None  # of the values; None where any will do
    shape: tuple[int, ...] | None  # likewise


class _Collective:
    """One instance in one step: its terms, and the values of each round.

    In a loop each member comes once an iteration: its n-th time is round n.
    """

    def __init__(self, terms: _Terms) -> None:
        self.terms = terms
        self.error: errors.OpError | None = None
        self.rounds: dict[int, dict[_Member, Any]] = {}  # that lack members
        self.times: dict[_Member, int] = {}  # how often each has come

    def join(self, me: _Member, value: Any) -> dict[_Member, Any]:
        """The values of a member's round, its own among them."""
        number = self.times.get(me, 0)
        self.times[me] = number + 1
        values = self.rounds.setdefault(number, {})
        values[me] = value
        if len(values) == self.terms.group[0]:
            del self.rounds[number]
        return values


class _StepGroups:
    """The collectives of one step."""

    def __init__(self) -> None:
        self.collectives: dict[tuple[int, int], _Collective] = {}
        self.sizes: dict[int, int] = {}  # by the group's key
        self.devices: dict[int, set[str]] = {}

    def find(self, terms: _Terms, device: str) -> _Collective:
        """The collective that a member on a device belongs to, by its terms.

        One that its terms do not fit gets an error, for all its members.
        """
        size, group_key, instance_key = terms.group
        key = group_key, instance_key
        found = self.collectives.setdefault(key, _Collective(terms))
        known = self.sizes.setdefault(group_key, size)
        devices = self.devices.setdefault(group_key, set())
        devices.add(device)
        if known != size:
            found.error = _internal(
                f"{device} joins collective group {group_key} with size {size}, but "
                f"the group has size {known}"
            )
        elif len(devices) > size:
            found.error = _internal(
                f"{device} joins collective group {group_key}, whose {size} members "
                "are there already"
            )
        elif not found.error:
            found.error = _disagreement(found.terms, terms, device)
        return found


def _disagreement(first: _Terms, other: _Terms, device: str) -> errors.OpError | None:
    """Why a member on a device cannot take part, or None."""
    where = f"Collective instance {first.group[2]}"
    if (first.kind, first.dtype) != (other.kind, other.dtype):
        return _internal(
            f"{where} is a {first.kind} of {first.dtype}, but {device} comes for a "
            f"{other.kind} of {other.dtype}"
        )
    if first.shape != other.shape:
        shapes = [format_shape(s) for s in (first.shape or (), other.shape or ())]
        return invalid_argument(
            f"Shape mismatch in {where[0].lower()}{where[1:]}: its members have "
            f"{shapes[0]} and {shapes[1]} on {device}"
        )
    return None


_Member = tuple[str, str]  # device, node
# One condition for all: meetings are few and short.
_changed = threading.Condition(threading.Lock())
# By the rendezvous of the step, which all its pieces share.
_steps: WeakKeyDictionary[Any, _StepGroups] = WeakKeyDictionary()


def _wake() -> None:
    with _changed:
        _changed.notify_all()


def _meet(
    c: OpKernelConstruction, context: OpKernelContext, terms: _Terms, value: Any
) -> tuple[list[tuple[_Member, Any]], int]:
    """All members with their values in the order of the devices; this one's rank.

    Raises:
      errors.InternalError: the members disagree about the collective.
      errors.InvalidArgumentError: they do about the shape, or there can be none.
    """
    size = terms.group[0]
    if size <= 0:
        raise invalid_argument(f"group_size must be positive integer but got {size}")
    me = c.device, c.node_name
    if size == 1:
        return [(me, value)], 0
    token = context.cancellation.register(_wake)
    try:
        with _changed:
            groups = _steps.setdefault(context.rendezvous, _StepGroups())
            collective = groups.find(terms, c.device)
            values = collective.join(me, value)
            _changed.notify_all()
            while not collective.error and len(values) < size:
                context.cancellation.check()
                _changed.wait()
            if collective.error:
                raise collective.error
    finally:
        if token is not None:
            context.cancellation.deregister(token)
    members = sorted(values.items(), key=lambda item: item[0])
    return members, [member for member, _ in members].index(me)


def _across_tasks(
    c: OpKernelConstruction,
    context: OpKernelContext,
    group: tuple[int, int, int],
    kind: int,
    value: Any,
    like: tuple[np.dtype[Any], tuple[int, ...]] | None = None,
) -> tuple[bool, Any]:
    """Whether the collective has members on other tasks; its result if it has.

    `like` has dtype and shape of a value that comes from another member.
    """
    collectives: StepCollectives | None = context.rendezvous.collectives
    if collectives is None:
        return False, None
    request = _request(c, group, kind, value, like)
    is_across, result = collectives.run(request, context.cancellation)
    return is_across, result[()] if is_across else None


def _request(
    c: OpKernelConstruction,
    group: tuple[int, int, int],
    kind: int,
    value: Any,
    like: tuple[np.dtype[Any], tuple[int, ...]] | None = None,
) -> CollectiveRequest:
    array = None if value is None else np.asarray(value)
    dtype, shape = like or (np.asarray(value).dtype, np.shape(value))
    size, group_key, instance_key = group
    return CollectiveRequest(
        kind,
        size,
        group_key,
        instance_key,
        c.device,
        c.node_name,
        dtype,
        tuple(shape),
        array,
        c.get("merge_op", b"Add"),
        c.get("final_op", b"Id") == b"Div",
        tuple(c.get("subdiv_offsets", ())),
        c.get(LEADER_ATTR, b"").decode(),
        c.get("timeout_seconds", 0.0),
    )


def _terms(group: tuple[int, int, int], kind: str, value: Any) -> _Terms:
    value = np.asarray(value)
    return _Terms(group, kind, value.dtype, value.shape)


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
    return [np.asarray(value) for _, value in members]


def _reduced(values: list[_Array], merge: bytes, divide: bool) -> Any:
    result = np.asarray(functools.reduce(MERGES[merge], values))
    if divide:
        result = divided(result, len(values))
    return result.astype(values[0].dtype)[()]


@host_kernel(
    ["CollectiveReduce", "CollectiveReduceV2"], context=True, blocking=True, large=True
)
def reduce(c: OpKernelConstruction) -> Compute:
    """The reduction of the members' values."""
    merge, divide = c["merge_op"], c["final_op"] == b"Div"

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        is_across, result = _across_tasks(c, context, group, REDUCTION, value)
        if is_across:
            return result
        members, _ = _meet(c, context, _terms(group, "reduction", value), value)
        return _reduced(_values(members), merge, divide)

    return compute


@host_kernel("_CollectiveReduceMany", context=True, blocking=True, large=True)
def reduce_many(c: OpKernelConstruction) -> Compute:
    """The reductions of several values: of one value that has them all, if they may.

    Members of TensorFlow, and those of one task, come for each of them.
    """
    merge, divide = c["merge_op"], c["final_op"] == b"Div"
    size, group_key, keys = c["group_size"], c["group_key"], c["instance_keys"]
    together = size, group_key, keys[0]

    def compute(context: OpKernelContext, *inputs: Any) -> list[Any]:
        values = [np.asarray(value) for value in inputs]
        collectives: StepCollectives | None = context.rendezvous.collectives
        if collectives is not None:
            request = _request(c, together, REDUCTION, values[0])
            if collectives.is_among_own(request, context.cancellation):
                flat = np.concatenate([value.reshape(-1) for value in values])
                _, whole = _across_tasks(c, context, together, REDUCTION, flat)
                return _as_before(whole, values)
        return [
            _reduced_alone(context, (size, group_key, key), value)
            for key, value in zip(keys, values, strict=True)
        ]

    def _reduced_alone(
        context: OpKernelContext, group: tuple[int, int, int], value: _Array
    ) -> Any:
        is_across, result = _across_tasks(c, context, group, REDUCTION, value)
        if is_across:
            return result
        members, _ = _meet(c, context, _terms(group, "reduction", value), value)
        return _reduced(_values(members), merge, divide)

    return compute


def _as_before(whole: _Array, values: Sequence[_Array]) -> list[Any]:
    """A value that has several, as these."""
    ends = np.cumsum([value.size for value in values])[:-1]
    return [
        part.reshape(value.shape)[()]
        for part, value in zip(np.split(whole, ends), values, strict=True)
    ]


@host_kernel("CollectiveReduceScatterV2", context=True, blocking=True, large=True)
def reduce_scatter(c: OpKernelConstruction) -> Compute:
    """A part of the reduction for each member."""
    merge, divide = c["merge_op"], c["final_op"] == b"Div"

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        terms = _terms(group, "scattered reduction", value)
        members, rank = _meet(c, context, terms, value)
        whole = np.asarray(_reduced(_values(members), merge, divide))
        return _parts(whole, len(members))[rank]

    return compute


def _parts(value: _Array, count: int) -> list[_Array]:
    if not value.ndim or len(value) % count:
        raise invalid_argument(
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
        if not np.ndim(value):
            raise invalid_argument(
                "A value to be gathered must have rows, not be a scalar"
            )
        is_across, result = _across_tasks(c, context, group, GATHERING, value)
        if is_across:
            return result
        members, _ = _meet(c, context, _terms(group, "gathering", value), value)
        return np.concatenate(_values(members))

    return compute


@host_kernel("CollectiveAllToAllV2", context=True, blocking=True, large=True)
def all_to_all(c: OpKernelConstruction) -> Compute:
    """Part i of each value for member i."""

    def compute(context: OpKernelContext, *inputs: Any) -> Any:
        group, value = _split_inputs(c, inputs, has_value=True)
        members, rank = _meet(c, context, _terms(group, "exchange", value), value)
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
        terms = _terms(group, "broadcast", value)
        declared = c.attrs.get("shape")
        if declared is not None and not declared.is_compatible_with(terms.shape):
            raise _internal(
                f"The broadcast's shape {declared} is not that of its value, "
                f"{format_shape(terms.shape or ())}"
            )
        if not _across_tasks(c, context, group, BROADCAST, value)[0]:
            _sent(_meet(c, context, terms, value)[0])
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
        dims = c["shape"].as_list() if "shape" in c.attrs else inputs[3]
        shape = tuple(int(d) for d in dims)
        is_across, result = _across_tasks(
            c, context, group, BROADCAST, None, (dtype, shape)
        )
        if is_across:
            return result
        terms = _Terms(group, "broadcast", dtype, shape)
        return np.array(_sent(_meet(c, context, terms, None)[0]))[()]

    return compute


def _sent(members: list[tuple[_Member, Any]]) -> Any:
    """The one value that the members of a broadcast give."""
    sent = [value for _, value in members if value is not None]
    if len(sent) != 1:
        raise _internal(
            f"A broadcast has one sender, but {len(sent)} of the {len(members)} "
            "members of this one send"
        )
    return sent[0]


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
            raise invalid_argument(f"rank must be in [0, {int(size)}), got {int(rank)}")
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
        raise invalid_argument("group_assignment must be a matrix")
    found = np.argwhere(assignment == index)
    if len(found) != 1:
        raise invalid_argument(
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
        terms = _terms(_group_of(place, rows), "reduction", value)
        members, _ = _meet(c, context, terms, value)
        return _reduced(_values(members), merge, False)

    return compute


@host_kernel("CollectiveAllToAllV3", context=True, blocking=True, large=True)
def all_to_all_v3(c: OpKernelConstruction) -> Compute:
    """Part i of each value for member i of a communicator."""

    def compute(
        context: OpKernelContext, value: Any, place: _Communicator, rows: Any
    ) -> Any:
        terms = _terms(_group_of(place, rows), "exchange", value)
        members, rank = _meet(c, context, terms, value)
        values = _values(members)
        return np.concatenate([_parts(v, len(values))[rank] for v in values])

    return compute


@host_kernel("CollectiveAssignGroupV2", large=True)
def assign_group(c: OpKernelConstruction) -> Compute:
    """Size and key of a device's group."""

    def compute(assignment: Any, index: Any, base_key: Any) -> tuple[Any, Any]:
        groups = np.asarray(assignment)
        if groups.ndim != 2:
            raise invalid_argument("group_assignment must be a matrix")
        if ((groups < 0) | (groups >= groups.size)).any():
            raise invalid_argument(
                "Devices of group_assignment must be in [0, their number)"
            )
        found = np.argwhere(groups == int(index))
        if not len(found):
            raise invalid_argument(f"Device {index} is in no group of the assignment")
        # Of several the first, as in TensorFlow.
        return np.int32(groups.shape[1]), np.int32(int(base_key) + found[0][0])

    return compute


def _internal(message: str) -> errors.InternalError:
    return errors.InternalError(None, None, message)
