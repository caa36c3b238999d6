"""Waiting in a kernel for what another step does, until the step is cancelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.resource import Resource, container_of

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        OpKernelConstruction,
        OpKernelContext,
    )

R = TypeVar("R", bound=Resource)


class WaitableResource(Resource):
    """A resource whose users wait for each other.

    `changed` guards its state; whoever changes it notifies. Deleting the resource
    cancels all that wait.
    """

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.changed = concurrency.Condition(concurrency.Lock())
        self.deleted = False

    def wait_until(
        self, ready: Callable[[], bool], context: OpKernelContext, what: str
    ) -> None:
        """Returns when `ready()` is true; to be called while holding `changed`.

        Raises:
          errors.CancelledError: the step was cancelled, or the resource deleted.
          errors.DeadlineExceededError: the step's time is over.
        """
        if ready():
            return
        cancellation = context.cancellation
        token = cancellation.register(self._wake)
        try:
            while not ready():
                if self.deleted or cancellation.cancelled:
                    self._raise_cancelled(context, what)
                self.changed.wait()
        finally:
            if token is not None:
                cancellation.deregister(token)

    def _raise_cancelled(self, context: OpKernelContext, what: str) -> None:
        if isinstance(context.cancellation.cause, errors.DeadlineExceededError):
            context.cancellation.check()
        raise errors.CancelledError(None, None, f"{what} operation was cancelled")

    def _wake(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        """The resource is deleted: wakes everybody."""
        with self.changed:
            self.deleted = True
            self.changed.notify_all()


def node_resource(
    c: OpKernelConstruction, kind: type[R], make: Callable[[str, str], R]
) -> Callable[[], R]:
    """Finds the resource of a node: that of its shared name, or one of its own.

    Args:
      make: gets the container and the name.
    """
    assert c.resources is not None
    resources = c.resources
    shared = (c.get("shared_name") or b"").decode()
    container = container_of(c.get("container"))
    name = shared or c.node_name
    key = shared or resources.own_name(c.node_name)

    def find() -> R:
        return resources.lookup_or_create(
            container, key, kind, lambda: make(container, name)
        )

    return find
