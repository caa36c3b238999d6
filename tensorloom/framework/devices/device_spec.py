"""`DeviceSpec`: where a client program wants operations to run, partly said.

A spec string is a path of `/job:NAME`, `/replica:N`, `/task:N` and
`/device:TYPE:INDEX` (`*` as index: any), each optional, in any order. The older
`/cpu:0` and `/gpu:0`, in any case, stand for `/device:CPU:0` and `/device:GPU:0`.
Scopes merge: the inner spec wins component by component.

This is the client's grammar, with the leniency of TensorFlow's Python front end (a job
name is not checked, for example). Names on the wire follow the stricter rules of
`device_name.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias, final

from tensorloom.framework.export import export

_Components: TypeAlias = (
    "tuple[str | None, str | None, str | None, str | None, int | None]"
)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _device_type(value: Any) -> str | None:
    return value.upper() if value in ("cpu", "gpu") else _text(value)


# The components, in the order of the constructor, and what makes each of a value.
_COMPONENTS: Final[dict[str, Callable[[Any], Any]]] = {
    "job": _text,
    "replica": _number,
    "task": _number,
    "device_type": _device_type,
    "device_index": _number,
}


class DeviceSpecV2:
    """A device or a set of devices, by up to five components, which do not change.

    `job` and `device_type` are strings; `replica`, `task` and `device_index` are ints
    and are converted. The lower-case types `cpu` and `gpu` are made upper-case. None
    leaves a component open. It is `tf.DeviceSpec` of TensorFlow 2.

    Raises:
        ValueError: a number is not one.
    """

    __slots__ = (
        "_as_string",
        "_device_index",
        "_device_type",
        "_job",
        "_replica",
        "_task",
    )

    _as_string: str | None

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self._job = _text(job)
        self._replica = _number(replica)
        self._task = _number(task)
        self._device_type = _device_type(device_type)
        self._device_index = _number(device_index)
        self._as_string = None

    @property
    def job(self) -> str | None:
        """Name of the job."""
        return self._job

    @property
    def replica(self) -> int | None:
        """Index of the replica; 0 in practice."""
        return self._replica

    @property
    def task(self) -> int | None:
        """Index of the task in its job."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """Type of the device, as `CPU` or `GPU`."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """Index among the task's devices of that type."""
        return self._device_index

    @classmethod
    def from_string(cls, spec: str | None) -> Self:
        """Parses a spec string.

        Raises:
            ValueError: a component is unknown, two device types are given, or a number
                is not one.
        """
        return cls(*_parse(spec))

    def parse_from_string(self, spec: str | None) -> Self:
        """`from_string`: this one stays as it is.

        Raises:
            ValueError: as in `from_string`.
        """
        return self.from_string(spec)

    def to_string(self) -> str:
        """The canonical spelling; empty if nothing is said."""
        if self._as_string is None:
            self._as_string = self._spell()
        return self._as_string

    def _spell(self) -> str:
        text = ""
        if self._job is not None:
            text += f"/job:{self._job}"
        if self._replica is not None:
            text += f"/replica:{self._replica}"
        if self._task is not None:
            text += f"/task:{self._task}"
        if self._device_type is not None:
            index = "*" if self._device_index is None else self._device_index
            text += f"/device:{self._device_type}:{index}"
        return text

    def make_merged_spec(self, dev: DeviceSpecV2) -> Self:
        """A new spec: components of `dev`, where it has none those of this one."""
        said = {name: getattr(dev, name) for name in _COMPONENTS}
        return self.replace(**{k: v for k, v in said.items() if v is not None})

    def replace(self, **kwargs: Any) -> Self:
        """A copy with the given components (arguments of the constructor) changed.

        Raises:
            TypeError: there is no such component.
        """
        components = {name: getattr(self, name) for name in _COMPONENTS}
        return type(self)(**{**components, **kwargs})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in _COMPONENTS]
        return f"<DeviceSpec({', '.join(parts)})>"


def _settable(name: str) -> Any:
    """The property of that name, which may be set too."""
    convert, slot = _COMPONENTS[name], f"_{name}"

    def change(self: DeviceSpec, value: Any) -> None:
        setattr(self, slot, convert(value))
        self._as_string = None

    return getattr(DeviceSpecV2, name).setter(change)


@export("DeviceSpec")
@final
class DeviceSpec(DeviceSpecV2):
    """A device or a set of devices, by up to five components.

    `job` and `device_type` are strings; `replica`, `task` and `device_index` are ints
    and are converted. The lower-case types `cpu` and `gpu` are made upper-case. None
    leaves a component open. Attributes may be set, as in TensorFlow 1.

    Raises:
        ValueError: a number is not one.
    """

    __slots__ = ()

    job = _settable("job")
    replica = _settable("replica")
    task = _settable("task")
    device_type = _settable("device_type")
    device_index = _settable("device_index")

    def parse_from_string(self, spec: str | None) -> Self:
        """Replaces all components by those of the string, and returns itself.

        Raises:
            ValueError: as in `from_string`.
        """
        parsed = self.from_string(spec)
        for name in _COMPONENTS:
            setattr(self, name, getattr(parsed, name))
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Takes over the components that `dev` has."""
        for name in _COMPONENTS:
            value = getattr(dev, name)
            if value is not None:
                setattr(self, name, value)


@functools.lru_cache(maxsize=4096)
def _parse(spec: str | None) -> _Components:
    spec = spec or ""
    job: str | None = None
    replica: str | None = None
    task: str | None = None
    device: tuple[str, int | None] | None = None
    for part in spec.split("/"):
        match part.split(":"):
            case ["job", value]:
                job = value
            case ["replica", value]:
                replica = value
            case ["task", value]:
                task = value
            case [""] | ["", *_]:
                pass
            case words:
                found = _parse_device(words, spec)
                if device is not None:
                    raise ValueError(f"Cannot specify multiple device types: {spec}")
                device = found
    return (job, replica, task, *(device or (None, None)))


def _parse_device(words: list[str], spec: str) -> tuple[str, int | None]:
    if words[0].upper() in ("CPU", "GPU") and len(words) <= 2:
        kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
    elif words[0] == "device" and len(words) == 3:
        kind, index = words[1], words[2]
    else:
        raise ValueError(f"Unknown attribute: {words[0]!r} in {spec!r}")
    return kind, None if index == "*" else int(index)


def canonical_name(device: DeviceSpecV2 | str | None) -> str:
    """The canonical spelling of a spec; empty for None.

    Raises:
        ValueError: the string is not valid.
    """
    if isinstance(device, DeviceSpecV2):
        return device.to_string()
    return DeviceSpec.from_string(device).to_string() if device else ""


def check_valid(spec: str) -> None:
    """Checks a spec string.

    Raises:
        ValueError: it is not valid.
    """
    DeviceSpec.from_string(spec)
