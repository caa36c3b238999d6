"""Batching the calls of concurrent steps.

A step joins the open batch. The one that opened it is its leader: it waits until the
batch is full or its time is over, computes for all, and hands out the parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime import concurrency
from tensorloom.kernels.host.control_flow.waiting import WaitableResource, node_resource
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_Array = NDArray[Any]
_Rows = Sequence[_Array]
_numbers = itertools.count(1)


class _Batch:
    """The calls that are computed together."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, _Rows]] = []  # (number of the call, its inputs)
        self.rows = 0
        self.is_closed = False
        self.results: dict[int, Any] | None = None
        self.error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return self.results is not None or self.error is not None


class _Batcher(WaitableResource):
    """Forms batches; `limits` are the attrs of the op."""

    def __init__(self, container: str, name: str, limits: dict[str, Any]) -> None:
        super().__init__(container, name)
        self.max_rows: int = limits["max_batch_size"]
        self.timeout_s: float = limits["batch_timeout_micros"] / 1e6
        self.max_enqueued: int = limits["max_enqueued_batches"]
        self.allowed: list[int] = list(limits["allowed_batch_sizes"])
        self._open: _Batch | None = None
        self._pending = 0  # batches that are not done

    def call(
        self, inputs: _Rows, compute: Callable[[_Batch], dict[int, Any]], context: Any
    ) -> Any:
        """This call's part of what `compute` makes of a batch."""
        number = next(_numbers)
        with self.changed:
            batch, leads = self._join(number, inputs)
            if leads:
                self._wait_for_others(batch, context)
        if leads:
            self._compute(batch, compute)
        with self.changed:
            self.wait_until(lambda: batch.is_done, context, "Batch")
        if batch.error is not None:
            raise batch.error
        assert batch.results is not None
        return batch.results[number]

    def _join(self, number: int, inputs: _Rows) -> tuple[_Batch, bool]:
        rows = _row_count(inputs)
        if rows > self.max_rows:
            raise invalid_argument(
                f"Batching input tensors have size {rows}, which is larger than the "
                f"maximum batch size {self.max_rows}"
            )
        batch = self._open
        leads = batch is None or batch.is_closed or batch.rows + rows > self.max_rows
        if leads:
            if self._pending >= self.max_enqueued:
                raise errors.UnavailableError(
                    None,
                    None,
                    "The batch scheduling queue to which this task was submitted is "
                    "full",
                )
            if batch is not None:
                batch.is_closed = True
            batch = self._open = _Batch()
            self._pending += 1
        assert batch is not None
        batch.calls.append((number, inputs))
        batch.rows += rows
        if batch.rows >= self.max_rows:
            batch.is_closed = True
        self.changed.notify_all()
        return batch, leads

    def _wait_for_others(self, batch: _Batch, context: Any) -> None:
        due = concurrency.monotonic() + self.timeout_s
        while not batch.is_closed:
            left = due - concurrency.monotonic()
            # A cancelled leader computes at once: the others do not share its fate.
            if left <= 0 or context.cancellation.cancelled or self.deleted:
                break
            self.changed.wait(min(left, 0.05))
        batch.is_closed = True

    def _compute(
        self, batch: _Batch, compute: Callable[[_Batch], dict[int, Any]]
    ) -> None:
        results: dict[int, Any] | None = None
        failure: BaseException | None = None
        try:
            results = compute(batch)
        except BaseException as error:
            failure = error
        with self.changed:
            batch.results, batch.error = results, failure
            self._pending -= 1
            self.changed.notify_all()

    def padding(self, rows: int) -> int:
        """How many rows to add so that the size is an allowed one."""
        return next((size - rows for size in self.allowed if size >= rows), 0)


def _row_count(inputs: _Rows) -> int:
    for value in inputs:
        if not value.ndim:
            raise invalid_argument(
                "Batching input tensors must have at least one dimension"
            )
        if len(value) != len(inputs[0]):
            raise invalid_argument(
                "Batching input tensors supplied in a given op invocation must have "
                "equal 0th-dimension size"
            )
    return len(inputs[0])


def _joined(batch: _Batch, padding: int) -> list[_Array]:
    columns = zip(*(inputs for _, inputs in batch.calls), strict=True)
    joined = []
    for parts in columns:
        for part in parts[1:]:
            if part.shape[1:] != parts[0].shape[1:]:
                raise invalid_argument(
                    "Batching input tensors must agree in their rows: "
                    f"{format_shape(parts[0].shape)} and {format_shape(part.shape)}"
                )
        # Rows that fill up repeat the first: they are sure to be computable.
        filling = [np.repeat(parts[0][:1], padding, axis=0)] if padding else []
        joined.append(np.concatenate([*parts, *filling]))
    return joined


def _check_limits(c: OpKernelConstruction) -> dict[str, Any]:
    if c["num_batch_threads"] <= 0:
        raise invalid_argument(
            f"num_batch_threads must be positive; was {c['num_batch_threads']}"
        )
    allowed = list(c["allowed_batch_sizes"])
    if allowed and allowed != sorted(set(allowed)):
        raise invalid_argument(
            "allowed_batch_sizes entries must be monotonically increasing"
        )
    if allowed and allowed[-1] != c["max_batch_size"]:
        raise invalid_argument(
            "final entry in allowed_batch_sizes must equal max_batch_size when "
            "enable_large_batch_splitting is False"
        )
    return dict(c.attrs)


def _find_batcher(c: OpKernelConstruction) -> Callable[[], _Batcher]:
    limits = _check_limits(c)
    return node_resource(c, _Batcher, lambda place, name: _Batcher(place, name, limits))


@host_kernel("BatchFunction", context=True, blocking=True, large=True)
def batch_function(c: OpKernelConstruction) -> Compute:
    """Calls the function for several steps at a time."""
    find, function = _find_batcher(c), c.function(c["f"], host_results=True)
    count = len(c["Tin"])

    def compute(context: OpKernelContext, *arguments: Any) -> tuple[Any, ...]:
        inputs, captured = arguments[:count], arguments[count:]
        batcher = find()

        def run(batch: _Batch) -> dict[int, Any]:
            joined = _joined(batch, batcher.padding(batch.rows))
            outputs = [np.asarray(out) for out in function(context, *joined, *captured)]
            return _split(batch, outputs, len(joined[0]))

        return batcher.call(inputs, run, context)  # type: ignore[no-any-return]

    return compute


def _split(batch: _Batch, outputs: list[_Array], rows: int) -> dict[int, Any]:
    for output in outputs:
        if not output.ndim or len(output) != rows:
            raise errors.FailedPreconditionError(
                None,
                None,
                "Batched output tensor's 0th dimension does not equal the sum of the "
                "0th dimension sizes of the input tensors",
            )
    results: dict[int, Any] = {}
    begin = 0
    for number, inputs in batch.calls:
        end = begin + len(inputs[0])
        results[number] = tuple(output[begin:end] for output in outputs)
        begin = end
    return results


@host_kernel("Batch", context=True, blocking=True, large=True)
def batch(c: OpKernelConstruction) -> Compute:
    """The batch for its first call, and empty tensors for the others."""
    find = _find_batcher(c)

    def compute(context: OpKernelContext, *inputs: Any) -> tuple[Any, ...]:
        batcher = find()

        def run(batch: _Batch) -> dict[int, Any]:
            joined = _joined(batch, batcher.padding(batch.rows))
            index = []
            begin = 0
            for number, rows in batch.calls:
                index.append([number, begin, begin + len(rows[0])])
                begin = index[-1][2]
            empty = tuple(value[:0] for value in joined)
            nothing = np.empty((0, 3), np.int64)
            results: dict[int, Any] = {
                number: (*empty, nothing, np.int64(number)) for number, _ in batch.calls
            }
            leader = batch.calls[0][0]
            results[leader] = (*joined, np.array(index, np.int64), np.int64(leader))
            return results

        return batcher.call(inputs, run, context)  # type: ignore[no-any-return]

    return compute


class _Exchange(WaitableResource):
    """Values by the number of the call that waits for them."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.values: dict[int, Any] = {}


@host_kernel("Unbatch", context=True, blocking=True, large=True)
def unbatch(c: OpKernelConstruction) -> Compute:
    """The rows of this call; the leader hands out those of the others."""
    find = node_resource(c, _Exchange, _Exchange)
    timeout_s = c["timeout_micros"] / 1e6

    def compute(context: OpKernelContext, value: Any, index: Any, number: Any) -> Any:
        exchange, key = find(), int(number)
        due = concurrency.monotonic() + timeout_s
        with exchange.changed:
            for call, begin, end in np.asarray(index).tolist():
                exchange.values[call] = value[begin:end]
            exchange.changed.notify_all()
            while key not in exchange.values:
                context.cancellation.check()
                left = due - concurrency.monotonic()
                if left <= 0:
                    raise errors.DeadlineExceededError(
                        None, None, "Batched data did not arrive within timeout window."
                    )
                exchange.changed.wait(min(left, 0.05))
            return exchange.values.pop(key)

    return compute


@host_kernel("UnbatchGrad", context=True, blocking=True, large=True)
def unbatch_grad(c: OpKernelConstruction) -> Compute:
    """The gradients of all calls for the leader, and nothing for the others."""
    find = node_resource(c, _Exchange, _Exchange)

    def compute(
        context: OpKernelContext, original: Any, index: Any, grad: Any, number: Any
    ) -> Any:
        exchange = find()
        calls = [row[0] for row in np.asarray(index).tolist()]
        with exchange.changed:
            exchange.values[int(number)] = np.array(grad)
            exchange.changed.notify_all()
            if not calls:
                return np.empty((0, *grad.shape[1:]), grad.dtype)
            exchange.wait_until(
                lambda: all(call in exchange.values for call in calls),
                context,
                "UnbatchGrad",
            )
            parts = [exchange.values.pop(call) for call in calls]
        missing = len(original) - sum(len(part) for part in parts)
        filling = [np.zeros((missing, *grad.shape[1:]), grad.dtype)] if missing else []
        return np.concatenate([*parts, *filling])

    return compute
