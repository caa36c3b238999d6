"""Device names of the runtime: what master, workers and the wire call a device.

    /job:NAME/replica:N/task:N/device:TYPE:ID      a full name
    /job:worker/task:1, /device:GPU:*, /gpu:0      partial names
    CPU:0, /device:CPU:0                           a local name

Components come in any order, each optional; a repeated one overwrites; `*` leaves a
component open, as does a missing `:ID`. Names and types are a letter followed by
letters, digits and `_`; numbers are decimal. The older `/cpu:0` and `/gpu:0`, in
either case, stand for `/device:CPU:0` and `/device:GPU:0`.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from dataclasses import dataclass

_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_COMPONENT = re.compile(
    rf"/job:(?P<job>\*|{_NAME})"
    r"|/replica:(?P<replica>\*|[0-9]+)"
    r"|/task:(?P<task>\*|[0-9]+)"
    rf"|/device:(?P<type>\*|{_NAME})(?::(?P<id>\*|[0-9]+))?"
    r"|/(?P<old_type>cpu|CPU|gpu|GPU):(?P<old_id>\*|[0-9]+)"
)
_MAX_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A parsed name; None marks an open component."""

    #: Job name.
    job: str | None = None
    #: Replica index, >= 0.
    replica: int | None = None
    #: Task index, >= 0.
    task: int | None = None
    #: Device type, `CPU`, `GPU`, ...
    type: str | None = None
    #: Index among the devices of that type in the task, >= 0.
    id: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the name denotes one device."""
        return self.has_task and self.type is not None and self.id is not None

    @property
    def has_task(self) -> bool:
        """Whether job, replica and task are all known."""
        return (
            self.job is not None and self.replica is not None and self.task is not None
        )

    @property
    def task_name(self) -> str:
        """The components of the task: `/job:worker/replica:0/task:1`."""
        return str(dataclasses.replace(self, type=None, id=None))

    def covers(self, other: DeviceName) -> bool:
        """Whether every component known here has the same value in `other`."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in zip(_fields(self), _fields(other), strict=True)
        )

    def is_compatible_with(self, other: DeviceName) -> bool:
        """Whether some device satisfies both names."""
        return all(
            mine is None or theirs is None or mine == theirs
            for mine, theirs in zip(_fields(self), _fields(other), strict=True)
        )

    def merged_with(self, other: DeviceName) -> DeviceName:
        """This name with its open components filled from `other`."""
        return DeviceName(
            other.job if self.job is None else self.job,
            other.replica if self.replica is None else self.replica,
            other.task if self.task is None else self.task,
            other.type if self.type is None else self.type,
            other.id if self.id is None else self.id,
        )

    def __str__(self) -> str:
        text = ""
        if self.job is not None:
            text += f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.type is not None:
            text += f"/device:{self.type}:{_spell(self.id)}"
        return text


def _fields(name: DeviceName) -> tuple[str | int | None, ...]:
    return (name.job, name.replica, name.task, name.type, name.id)


def _spell(number: int | None) -> str:
    return "*" if number is None else str(number)


@functools.lru_cache(maxsize=4096)
def parse(name: str) -> DeviceName:
    """Parses a full or partial name; the empty string and `/` are empty names.

    Raises:
        ValueError: the name is malformed.
    """
    components: dict[str, str | int | None] = {}
    position = 0 if name != "/" else 1
    while position < len(name):
        match = _COMPONENT.match(name, position)
        if match is None or name[match.end() : match.end() + 1] not in ("", "/"):
            raise ValueError(f"Malformed device specification '{name}'")
        position = match.end()
        for field, text in match.groupdict().items():
            if text is not None:
                components[field.removeprefix("old_")] = _decode(field, text, name)
        if match["type"] is not None and match["id"] is None:
            components["id"] = None
    return DeviceName(**components)  # type: ignore[arg-type]


def _decode(field: str, text: str, name: str) -> str | int | None:
    if text == "*":
        return None
    if field == "old_type":
        return text.upper()
    if field in ("job", "type"):
        return text
    number = int(text)
    if number > _MAX_NUMBER:
        raise ValueError(f"Malformed device specification '{name}'")
    return number


@functools.lru_cache(maxsize=4096)
def parse_full(name: str) -> DeviceName:
    """Parses the name of one device.

    Raises:
        ValueError: the name is malformed or leaves a component open.
    """
    parsed = parse(name)
    if not parsed.is_complete:
        raise ValueError(f"Device name '{name}' does not name one device")
    return parsed


def full_name(job: str, replica: int, task: int, device_type: str, index: int) -> str:
    """The full name of a device."""
    return str(DeviceName(job, replica, task, device_type, index))


@functools.lru_cache(maxsize=4096)
def task_of(name: str) -> str:
    """The task part of a device name, `/job:worker/replica:0/task:1`.

    Raises:
        ValueError: the name is malformed.
    """
    return parse(name).task_name
