"""Who is in a group, and what its members agree on: the tables of the leading task.

Each task asks the leader (`CompleteGroup`, `CompleteInstance`), which answers when all
members have come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import Pending
from tensorloom.framework.collective.requests import BROADCAST
from tensorloom.framework.devices.device_name import parse_full, task_of
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import concurrency

#: A member that sends no broadcast says so, as does a collective that is none.
NO_SOURCE: Final = -1


@dataclass(frozen=True)
class Group:
    """The members of a group: devices, one after the other in rank order."""

    key: int
    size: int
    device_type: str
    joined: tuple[str, ...]  # the devices as they came

    @property
    def devices(self) -> tuple[str, ...]:
        """By rank: sorted by name, those of a task side by side."""
        by_task: dict[str, list[str]] = {}
        for device in sorted(self.joined):
            by_task.setdefault(task_of(device), []).append(device)
        return tuple(device for found in by_task.values() for device in found)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks in the order of their ranks."""
        return tuple(dict.fromkeys(task_of(device) for device in self.devices))


@dataclass(frozen=True, slots=True)
class Terms:
    """What the members of an instance agree on."""

    kind: int
    data_type: int  # DataType
    shape: tuple[int, ...]
    group_key: int


@dataclass
class _Forming:
    """A group that not all members have joined yet."""

    size: int
    device_type: str
    devices: list[str] = field(default_factory=list)
    waiting: list[Pending] = field(default_factory=list)


class GroupTable:
    """The groups that a task leads, by key. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._forming: dict[int, _Forming] = {}
        self._complete: dict[int, Group] = {}

    def join(self, key: int, size: int, device_type: str, device: str) -> Pending:
        """Adds a member; the result is the `Group` once all have come.

        It fails with an InternalError where the members do not agree; then those that
        wait for the group get the error as well.

        Raises:
          errors.InvalidArgumentError: no group has that size, or no device that name.
        """
        if size < 1:
            raise invalid_argument(
                f"group_size must be positive integer but got {size}"
            )
        _check_device(device)
        pending = Pending()
        with self._lock:
            known = self._complete.get(key)
            if known is not None:
                error = _misfit(known.size, known.device_type, key, size, device_type)
                if error is None and device not in known.joined:
                    error = _not_a_member(device, key)
                _settle([pending], known, error)
                return pending
            forming = self._forming.setdefault(key, _Forming(size, device_type))
            forming.waiting.append(pending)
            error = _misfit(forming.size, forming.device_type, key, size, device_type)
            if error is not None:
                del self._forming[key]
                _settle(forming.waiting, None, error)
                return pending
            if device not in forming.devices:
                forming.devices.append(device)
            if len(forming.devices) == size:
                del self._forming[key]
                group = Group(key, size, device_type, tuple(forming.devices))
                self._complete[key] = group
                _settle(forming.waiting, group, None)
        return pending


def is_full_name(device: str) -> bool:
    """Whether a text is a device's full name, as tasks spell it."""
    try:
        return str(parse_full(device)) == device
    except ValueError:
        return False


def _check_device(name: str) -> None:
    if not is_full_name(name):
        raise invalid_argument(
            f"A member of a collective: {name!r} is not the full name of a device"
        )


def _settle(
    waiting: Sequence[Pending], group: Group | None, error: errors.OpError | None
) -> None:
    for pending in waiting:
        if error is not None:
            pending.fail(error)
        else:
            pending.resolve(group)


def _misfit(
    known_size: int, known_type: str, key: int, size: int, device_type: str
) -> errors.OpError | None:
    if device_type != known_type:
        return _internal(
            f"A collective op has device type {device_type} and group_key {key}, but "
            f"that group has type {known_type}"
        )
    if size != known_size:
        return _internal(
            f"A collective op has group_size {size} and group_key {key}, but that "
            f"group has size {known_size}"
        )
    return None


def _not_a_member(device: str, key: int) -> errors.OpError:
    return _internal(
        f"A collective op is assigned to device {device} and group_key {key}, but that "
        "group doesn't contain that device"
    )


@dataclass
class _Instance:
    terms: Terms
    step_id: int
    sends: dict[str, bool] = field(default_factory=dict)  # by member
    waiting: list[Pending] = field(default_factory=list)
    source_rank: int = NO_SOURCE


class InstanceTable:
    """The instances of the groups that a task leads. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._instances: dict[tuple[int, int], _Instance] = {}

    def complete(
        self,
        group: Group,
        instance_key: int,
        terms: Terms,
        device: str,
        is_source: bool,
        step_id: int = 0,
    ) -> Pending:
        """Adds a member's terms; the result is the rank of a broadcast's source.

        A broadcast waits for all members, others are answered at once. It fails with
        an InvalidArgumentError where shapes differ, with an InternalError where
        anything else does; those that wait get the error as well.

        Args:
          step_id: of the step, 0 if nobody says it. An instance of another step with
            other terms is of another graph, and is forgotten.
        """
        key = group.key, instance_key
        pending = Pending()
        with self._lock:
            known = self._instances.get(key)
            if known is not None and known.terms != terms:
                if step_id and known.step_id and step_id != known.step_id:
                    _fail(known.waiting, _disagreement(instance_key, known, terms))
                    known = None
                else:
                    error = _disagreement(instance_key, known, terms, device)
                    _fail([*known.waiting, pending], error)
                    known.waiting.clear()
                    return pending
            if known is None:
                known = self._instances[key] = _Instance(terms, step_id)
            if terms.kind != BROADCAST:
                pending.resolve(NO_SOURCE)
                return pending
            known.waiting.append(pending)
            wrong = _note_source(known, group, instance_key, device, is_source)
            if wrong is not None:
                del self._instances[key]
                _fail(known.waiting, wrong)
            elif len(known.sends) == group.size:
                for each in known.waiting:
                    each.resolve(known.source_rank)
                known.waiting.clear()
        return pending


def _note_source(
    instance: _Instance, group: Group, key: int, device: str, is_source: bool
) -> errors.OpError | None:
    """Takes a broadcast's member; an error if there is not one sender."""
    rank = group.devices.index(device)
    if is_source and instance.source_rank not in (NO_SOURCE, rank):
        return _internal(
            f"Instance {key} already has source {instance.source_rank}, received "
            f"second claim from {rank}"
        )
    if is_source:
        instance.source_rank = rank
    instance.sends[device] = is_source
    if len(instance.sends) == group.size and instance.source_rank == NO_SOURCE:
        return _internal(
            f"Instance {key} found no source for broadcast.  This could mean that "
            f"there were group_size={group.size} BcastRecvs but no BcastSend."
        )
    return None


def _disagreement(
    key: int, known: _Instance, other: Terms, device: str = ""
) -> errors.OpError:
    first = known.terms
    if (first.kind, first.data_type) != (other.kind, other.data_type):
        return _internal(
            f"Collective instance {key}: the op at device {device} is of kind "
            f"{other.kind} and DataType {other.data_type}, another member's of kind "
            f"{first.kind} and DataType {first.data_type}"
        )
    return invalid_argument(
        f"Shape mismatch in the collective instance {key}. Op at device {device} "
        f"expected shape {list(other.shape)} but another member in the group expected "
        f"shape {list(first.shape)}. This is likely due to different input shapes at "
        "different members of the collective op."
    )


def _fail(waiting: Sequence[Pending], error: errors.OpError) -> None:
    for pending in waiting:
        pending.fail(error)


def _internal(message: str) -> errors.InternalError:
    return errors.InternalError(None, None, message)
