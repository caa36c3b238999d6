"""The step that all ops of a context belong to."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.worker.run.step import Step

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.errors import OpError
    from tensorloom.framework.registry.op_kernel import OpKernelContext
    from tensorloom.framework.runtime.resource import ResourceManager


class StepState:
    """One step after the other. What belongs to a step alone, as tensor arrays do,
    ends with it; without `begin` and `end` it lives as long as the context.
    """

    def __init__(self, resources: ResourceManager, devices: Sequence[Device]) -> None:
        self._resources = resources
        self._step = Step(resources)
        self._contexts = {
            device.name: self._step.context(device.name) for device in devices
        }
        self._active = 0
        self._lock = threading.Lock()

    def of(self, device: Device) -> OpKernelContext:
        """What the kernels of a device know of the step; the same object for all."""
        return self._contexts[device.name]

    def begin(self) -> None:
        """Begins a step, or one more that is a part of it."""
        with self._lock:
            self._active += 1

    def end(self) -> None:
        """Ends what `begin` began; the last one frees what belonged to the step."""
        with self._lock:
            self._active = max(0, self._active - 1)
            if self._active:
                return
            ended, self._step = self._step, Step(self._resources)
            for context in self._contexts.values():
                context.step_id = self._step.step_id
                context.step_container = self._step.container
        ended.finish()

    def cancel(self, error: OpError) -> None:
        """Wakes the ops that wait, for good."""
        for context in self._contexts.values():
            context.cancellation.cancel(error)
        self._step.finish()
