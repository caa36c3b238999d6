"""Operations on many resources that are run as one on each device."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.framework.graph.graph import Operation, Tensor, device


class ScheduledOp(abc.ABC):
    """An operation that can run together with others of its kind."""

    @abc.abstractmethod
    def batching_key(self) -> Any:
        """What operations that run together have in common."""

    @abc.abstractmethod
    def batch_runner_fn(self) -> Callable[..., Any]:
        """A function of such operations and a stamp that runs them all."""


class ScheduledStampedResourceOp(ScheduledOp):
    """An operation on a resource with a stamp.

    Args:
      resource_handle: of the resource.
      op: a function of handles, a stamp, and lists by the names of `kwargs`.
      **kwargs: what it is given of this resource.
    """

    def __init__(
        self, resource_handle: Tensor, op: Callable[..., Any], **kwargs: Any
    ) -> None:
        self.resource_handle = resource_handle
        self.op = op
        self.args = kwargs

    def batching_key(self) -> Any:
        """The device and the operation."""
        return self.resource_handle.device, self.op

    def batch_runner_fn(self) -> Callable[..., Any]:
        """Runs all with one operation."""
        return _run_batch


def _run_batch(batch: list[ScheduledStampedResourceOp], stamp: Any) -> Any:
    names = set(batch[0].args)
    for scheduled in batch:
        if set(scheduled.args) != names:
            raise ValueError(
                f"Mismatching arguments: {set(scheduled.args)}, {names}: operations "
                "that run together take the same ones."
            )
    handles = [scheduled.resource_handle for scheduled in batch]
    lists = {name: [one.args[name] for one in batch] for name in sorted(names)}
    with device(handles[0].device):
        return batch[0].op(handles, stamp, **lists)


def run_handler_scheduled_ops(
    per_handler_ops: Mapping[Any, Iterable[ScheduledOp]], stamp: Any, worker_device: Any
) -> dict[Any, list[Any]]:
    """Runs what handlers have scheduled, together where that is possible.

    Args:
      per_handler_ops: the operations of each handler.
      stamp: of the resources.
      worker_device: where the results are used; TensorFlow's argument, and unused: a
        step moves what it has to.

    Returns:
      Of each handler its operations' results: a tuple of each operation that has
      outputs, else the operation.

    Raises:
      ValueError: operations that should run together take different arguments.
    """
    batches: dict[Any, list[ScheduledOp]] = {}
    for scheduled in per_handler_ops.values():
        for one in scheduled:
            key = one.batching_key(), one.batch_runner_fn()
            batches.setdefault(key, []).append(one)
    results: dict[ScheduledOp, Any] = {}
    for batch in batches.values():
        found = batch[0].batch_runner_fn()(batch, stamp)
        for index, one in enumerate(batch):
            if found is None or isinstance(found, Operation):
                results[one] = found
            else:
                results[one] = tuple(output[index] for output in found)
    return {
        handler: [results[one] for one in scheduled]
        for handler, scheduled in per_handler_ops.items()
    }
