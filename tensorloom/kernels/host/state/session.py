"""The kernels of tensors that stay in the session, and of mutexes."""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.control_flow.waiting import WaitableResource, node_resource
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.torch.state.variable_value import owned_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )
    from tensorloom.framework.runtime.resource import ResourceManager

# No name that a user's container can have: resetting containers leaves it alone.
_CONTAINER = "<session tensors>"


class _SessionTensors(Resource):
    """The tensors of a session by their handles."""

    def __init__(self, name: str) -> None:
        super().__init__(_CONTAINER, name)
        # Each with the step that kept it: to that step it is not there yet.
        self.values: dict[bytes, tuple[int, Any]] = {}
        self.numbers = itertools.count()

    def find(self, handle: bytes, step: int) -> Any:
        """The value of a handle that an earlier step made, or None."""
        made, value = self.values.get(handle, (step, None))
        return None if made == step else value


def _tensors(resources: ResourceManager | None) -> _SessionTensors:
    assert resources is not None
    name = resources.own_name("tensors")
    return resources.lookup_or_create(
        _CONTAINER, name, _SessionTensors, lambda: _SessionTensors(name)
    )


@host_kernel("GetSessionHandle", context=True, retains=("value",), large=True)
def get_session_handle(c: OpKernelConstruction) -> Compute:
    """Keeps the value under a handle: node, number and device."""
    tensors = _tensors(c.resources)

    def compute(context: OpKernelContext, value: Any) -> Any:
        handle = f"{c.node_name};{next(tensors.numbers)};{c.device}".encode()
        tensors.values[handle] = context.step_id, owned_array(value)
        return to_strings([handle], ())

    return compute


class _Held(Resource):
    """A value behind a resource handle."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(_CONTAINER, name)
        self.value = value


@host_kernel("GetSessionHandleV2", retains=("value",), large=True)
def get_session_handle_v2(c: OpKernelConstruction) -> Compute:
    """A resource that holds the value."""
    return lambda value: _Held(c.node_name, owned_array(value))


@host_kernel("GetSessionTensor", context=True, large=True)
def get_session_tensor(c: OpKernelConstruction) -> Compute:
    """The value of a handle."""
    tensors, dtype = _tensors(c.resources), c["dtype"]

    def compute(context: OpKernelContext, handle: Any) -> Any:
        value = tensors.find(handle.item(), context.step_id)
        if value is None:
            raise _unknown(handle)
        if value.dtype != dtype.as_numpy_dtype:
            raise errors.InternalError(
                None,
                None,
                f"The tensor with handle '{handle.item().decode()}' is of dtype "
                f"{value.dtype}, expected {dtype.name}",
            )
        return value

    return compute


@host_kernel("DeleteSessionTensor", context=True, large=True)
def delete_session_tensor(c: OpKernelConstruction) -> Compute:
    """Drops the value of a handle."""
    tensors = _tensors(c.resources)

    def compute(context: OpKernelContext, handle: Any) -> None:
        found = tensors.find(handle.item(), context.step_id)
        if found is None or tensors.values.pop(handle.item(), None) is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Failed to delete a tensor with handle "
                f"'{handle.item().decode(errors='replace')}' in the session store.",
            )

    return compute


def _unknown(handle: Any) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None,
        None,
        f"The tensor with handle '{handle.item().decode(errors='replace')}' is not in "
        "the session store.",
    )


# --- mutexes -----------------------------------------------------------------------


class _User:
    """Who has a mutex or waits for it, and since when."""

    __slots__ = ("node", "since", "step")

    def __init__(self, node: str, step: int) -> None:
        self.node, self.step = node, step
        self.since = concurrency.monotonic()

    def facts(self, now: float) -> dict[str, Any]:
        """For people."""
        return {"node": self.node, "step": self.step, "for_s": now - self.since}


class Mutex(WaitableResource):
    """A mutex that one lock holds at a time."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.holder: _User | None = None
        self._waiting: list[_User] = []

    def lock(self, user: _User, context: OpKernelContext) -> None:
        """Waits until nobody has it, and locks it.

        Raises:
          errors.CancelledError, errors.DeadlineExceededError: see `wait_until`.
        """
        with self.changed:
            self._waiting.append(user)
            try:
                self.wait_until(lambda: self.holder is None, context, "MutexLock")
            finally:
                self._waiting.remove(user)
            user.since = concurrency.monotonic()
            self.holder = user

    def unlock(self) -> None:
        """Lets the next one have it."""
        with self.changed:
            self.holder = None
            self.changed.notify_all()

    def facts(self) -> dict[str, Any] | None:
        """Who has it, and who waits for it."""
        # Without `changed`: what is made here may set off a collection of garbage, in
        # which a lock of this mutex releases it.
        now, holder = concurrency.monotonic(), self.holder
        return {
            "kind": "mutex",
            "holder": None if holder is None else holder.facts(now),
            "waiting": [user.facts(now) for user in list(self._waiting)],
        }


class MutexLock:
    """Holds a mutex until it is released or nobody has it any more."""

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex
        self._guard = threading.Lock()

    def release(self) -> None:
        """Unlocks the mutex, once."""
        with self._guard:
            mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.unlock()

    def __del__(self) -> None:
        self.release()


@host_kernel("MutexV2", large=True)
def mutex_v2(c: OpKernelConstruction) -> Compute:
    """The mutex of this node, or of its shared name."""
    return node_resource(c, Mutex, Mutex)


@host_kernel("MutexLock", context=True, blocking=True, large=True)
def mutex_lock(c: OpKernelConstruction) -> Compute:
    """Waits for the mutex and locks it."""
    name = c.node_name

    def compute(context: OpKernelContext, mutex: Mutex) -> MutexLock:
        mutex.lock(_User(name, context.step_id), context)
        lock = MutexLock(mutex)
        # The error of a step that fails may keep the lock for as long as it is kept.
        release = weakref.WeakMethod(lock.release)
        if context.cancellation.register(lambda: _call(release())) is None:
            lock.release()
        return lock

    return compute


def _call(method: Callable[[], None] | None) -> None:
    if method is not None:
        method()


@host_kernel("ConsumeMutexLock", large=True)
def consume_mutex_lock(c: OpKernelConstruction) -> Compute:
    """Unlocks the mutex."""

    def compute(lock: MutexLock) -> None:
        lock.release()

    return compute
