"""Resources: what outlives a step, by container and name.

A resource handle at run time is the resource object itself. The manager belongs to a
device's session state; `Session.reset` empties its containers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

DEFAULT_CONTAINER = "localhost"

# A variable of at most this many elements is kept in host memory on a CPU: step
# counters, learning rates and beta powers are read by host kernels, and a torch call
# costs more than their arithmetic. Short vectors are biases, whose readers are tensors.
HOST_VARIABLE_ELEMENTS = 1


# What begins the names of resources that no user can name.
_PRIVATE = "_private/"
_CONTAINER_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9.\-/]*")


def container_of(attr: bytes | None) -> str:
    """The container that a node's attr names; the default one when it is empty.

    Raises:
      errors.InvalidArgumentError: no container can have that name.
    """
    name = (attr or b"").decode(errors="backslashreplace")
    if not name:
        return DEFAULT_CONTAINER
    if not _CONTAINER_NAME.fullmatch(name):
        raise errors.InvalidArgumentError(
            None, None, f"container contains invalid characters: {name}"
        )
    return name


class Resource:
    """Base of everything that a ResourceManager holds."""

    def __init__(self, container: str, name: str, device: str = "") -> None:
        self.container = container
        self.name = name
        self.device = device

    def names(self) -> np.ndarray[Any, Any]:
        """What a reference to it shows: container and name, strings [2]."""
        pair = np.empty(2, object)
        pair[:] = self.container.encode(), self.name.encode()
        return pair

    def close(self) -> None:
        """Called when the resource is deleted; wakes the threads that wait on it."""

    def facts(self) -> dict[str, Any] | None:
        """What is shown of it to who looks at a running task; None: nothing."""
        return None


class Variable(Resource):
    """A mutable tensor. `value` is None until the first assignment.

    `value` is a NumPy value or a torch tensor, by `holds_host_value`. Any thread may
    read it; only an update under `lock` replaces or changes it. While a tensor is
    changed in place it is taken out, and `value` is None: a reader that finds None
    calls `value_between_updates`, so that no thread sees half an update.
    """

    def __init__(
        self,
        container: str,
        name: str,
        dtype: DType,
        shape: TensorShape,
        device: str = "",
    ) -> None:
        super().__init__(container, name, device)
        self.dtype = dtype
        self.shape = shape
        self.value: Any = None
        self.lock = concurrency.new_lock()
        # The lock of who changed it in place last: a slot of an optimizer changes
        # under the lock of its variable.
        self.guard = self.lock

    def facts(self) -> dict[str, Any] | None:
        """Dtype, shape and bytes; whether somebody holds its lock."""
        value = None if "_make" in vars(self) else self.value
        shape = getattr(value, "shape", self.shape)
        guard = self.guard
        if isinstance(guard, concurrency.WatchedLock):
            free = not guard.holder()
        else:
            free = guard.acquire(blocking=False)
            if free:
                guard.release()
        return {
            "device": self.device,
            "dtype": self.dtype.base_dtype.name,
            "shape": str(shape if value is None else tuple(shape)),
            "bytes": int(getattr(value, "nbytes", 0)),
            "locked": not free,
        }

    def value_between_updates(self) -> Any:
        """Waits for updates in progress; the value, or None before the first one."""
        while True:
            guard = self.guard
            with guard:
                value = self.value
                if value is not None or guard is self.guard:
                    return value

    def set_later(self, make: Callable[[], Any]) -> None:
        """Gives it the value that `make` returns, which is called when it is needed.

        To be called under `lock`, as is `make`.
        """
        self.value = None
        vars(self)["_make"] = make
        self.__class__ = _with_value_later(type(self))


class LegacyVariable(Variable):
    """A variable behind a reference: its name is not that of a resource variable."""


# By the kind of the variables.
_later_classes: dict[type[Variable], type[Variable]] = {}


def _with_value_later(kind: type[Variable]) -> type[Variable]:
    """The class of variables of a kind while their value is still to be made.

    So the others have a plain attribute, which is read in every step.
    """
    if kind in _later_classes:
        return _later_classes[kind]

    def get_value(variable: Variable) -> Any:
        with variable.lock:
            if type(variable) is later:
                value = vars(variable)["_make"]()
                set_value(variable, value)
            return variable.value

    def set_value(variable: Variable, value: Any) -> None:
        del vars(variable)["_make"]
        variable.__class__ = kind
        variable.value = value

    later = type(kind.__name__, (kind,), {"value": property(get_value, set_value)})
    return _later_classes.setdefault(kind, later)


def holds_host_value(dtype: DType, shape: TensorShape, device_type: str) -> bool:
    """Whether a variable of this static shape keeps its value in host memory.

    The decision rests on static facts alone, so that every piece of every session
    makes the same.
    """
    if not is_torch_type(dtype):
        return True
    dims = shape.dims_tuple
    if device_type != "CPU":
        # Of other devices' variables only counters: what steers the step is read in
        # host memory, and what is learnt comes from kernels.
        return dims == () and dtype.base_dtype.is_integer
    if dims is None or None in dims:
        return False
    elements = 1
    for dim in dims:
        elements *= dim  # type: ignore[operator]
    return elements <= HOST_VARIABLE_ELEMENTS


def is_torch_type(dtype: DType) -> bool:
    """True for the dtypes that torch tensors can hold."""
    return dtype.base_dtype.name not in _HOST_ONLY_TYPES


_HOST_ONLY_TYPES = frozenset(["string", "resource", "variant"])

R = TypeVar("R", bound=Resource)


class ResourceManager:
    """Resources by (container, kind, name). Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        # By container, then by (kind, name).
        self._containers: dict[str, dict[tuple[str, str], Resource]] = {}

    def lookup_or_create(
        self, container: str, name: str, kind: type[R], make: Callable[[], R]
    ) -> R:
        """The resource of that name, made by `make` when it does not exist."""
        key = kind.__name__, name
        with self._lock:
            held = self._containers.setdefault(container or DEFAULT_CONTAINER, {})
            found = held.get(key)
            if found is None:
                found = held[key] = make()
        assert isinstance(found, kind)
        return found

    def own_name(self, node: str) -> str:
        """The name of what belongs to one node alone; no user can give it."""
        return f"{_PRIVATE}{node}"

    def lookup(self, container: str, name: str, kind: type[R]) -> R:
        """The resource of that name.

        Raises:
          errors.NotFoundError: there is none.
        """
        container = container or DEFAULT_CONTAINER
        with self._lock:
            found = self._containers.get(container, {}).get((kind.__name__, name))
        if found is None:
            raise _missing(container, name, kind)
        assert isinstance(found, kind)
        return found

    def all(self) -> list[Resource]:
        """All that there is, in any container."""
        with self._lock:
            return [r for held in self._containers.values() for r in held.values()]

    def named(self, container: str, name: str) -> list[Resource]:
        """The resources of that name, of whatever kinds; none that is a node's own."""
        if name.startswith(_PRIVATE):
            return []
        with self._lock:
            held = self._containers.get(container, {})
            return [found for (_, other), found in held.items() if other == name]

    def delete(self, resource: Resource) -> None:
        """Removes and closes a resource.

        Raises:
          errors.NotFoundError: it is not there.
        """
        container = resource.container or DEFAULT_CONTAINER
        with self._lock:
            held = self._containers.get(container, {})
            for key, value in held.items():
                if value is resource:
                    del held[key]
                    break
            else:
                raise _missing(container, resource.name, type(resource))
        resource.close()

    def has_container(self, container: str) -> bool:
        """Whether something was ever put into a container that is still there."""
        return container in self._containers

    def cleanup(self, containers: Iterable[str] = ()) -> None:
        """Removes and closes all resources of the containers; of all when none."""
        wanted = list(containers)
        with self._lock:
            gone = [
                self._containers.pop(name)
                for name in wanted or list(self._containers)
                if name in self._containers
            ]
        for held in gone:
            for resource in held.values():
                resource.close()


class SessionResources(ResourceManager):
    """A task's resources, as one session sees them.

    Nodes of the same name find the same variable in every session. But a queue, table
    or iterator without a shared name is its node's alone and ends with the session: a
    program that runs again, or elsewhere at the same time, has its own.
    """

    def __init__(self, shared: ResourceManager, session: str) -> None:
        """Makes the view of a session; `shared` holds the resources."""
        self._lock = shared._lock
        self._containers = shared._containers
        self._prefix = f"{_PRIVATE}{session}/"
        self._is_over = False

    def own_name(self, node: str) -> str:
        """The name of what belongs to one node of this session alone."""
        return self._prefix + node

    def lookup_or_create(
        self, container: str, name: str, kind: type[R], make: Callable[[], R]
    ) -> R:
        """The resource of that name, made by `make` when it does not exist."""
        if self._is_over and name.startswith(self._prefix):
            # A last step, or a dataset that outlives the session: nobody would free it.
            return make()
        return super().lookup_or_create(container, name, kind, make)

    def end(self) -> None:
        """Removes and closes what belongs to the session's nodes."""
        self._is_over = True
        gone: list[Resource] = []
        with self._lock:
            for held in self._containers.values():
                own = [key for key in held if key[1].startswith(self._prefix)]
                gone += [held.pop(key) for key in own]
        for resource in gone:
            resource.close()


def _missing(container: str, name: str, kind: type) -> errors.NotFoundError:
    return errors.NotFoundError(
        None, None, f"Resource {container}/{name}/{kind.__name__} does not exist."
    )
