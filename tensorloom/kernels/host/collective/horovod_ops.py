"""Horovod's operations: kernels that hand values to the process's group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.collective import process_group
from tensorloom.framework.collective.process_group import Pending, Request
from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )


def _run(context: OpKernelContext, request: Request) -> Any:
    pending = process_group.current().submit(request)
    return pending.result(context.cancellation)[()]


@host_kernel("HorovodAllreduce", context=True, blocking=True, large=True)
def allreduce(c: OpKernelConstruction) -> Compute:
    """The sum over all processes."""
    name, reduction = c.node_name, c["reduce_op"]

    def compute(context: OpKernelContext, value: Any) -> Any:
        request = Request(name, "allreduce", np.asarray(value), reduction)
        return _run(context, request)

    return compute


@host_kernel("HorovodAllgather", context=True, blocking=True, large=True)
def allgather(c: OpKernelConstruction) -> Compute:
    """The rows of all processes."""
    name = c.node_name

    def compute(context: OpKernelContext, value: Any) -> Any:
        return _run(context, Request(name, "allgather", np.asarray(value)))

    return compute


@host_kernel("HorovodBroadcast", context=True, blocking=True, large=True)
def broadcast(c: OpKernelConstruction) -> Compute:
    """The value of the root."""
    name, root = c.node_name, c["root_rank"]

    def compute(context: OpKernelContext, value: Any) -> Any:
        request = Request(name, "broadcast", np.asarray(value), root=root)
        return _run(context, request)

    return compute


@host_kernel("_AllreduceStart", context=True, aliases=True, large=True)
def allreduce_start(c: OpKernelConstruction) -> Compute:
    """Hands a value in; what is pending is the output."""
    name, reduction = c["collective"].decode(), c["reduce_op"]

    def compute(context: OpKernelContext, value: Any) -> Pending:
        request = Request(name, "allreduce", np.asarray(value), reduction)
        return process_group.current().submit(request)

    return compute


@host_kernel("_AllreduceWait", context=True, blocking=True, large=True)
def allreduce_wait(c: OpKernelConstruction) -> Compute:
    """What has become of it."""

    def compute(context: OpKernelContext, pending: Pending) -> Any:
        return pending.result(context.cancellation)[()]

    return compute


def _place(op: str, attribute: str) -> None:
    @host_kernel(op)
    def factory(c: OpKernelConstruction) -> Compute:
        return lambda: np.int32(getattr(process_group.current(), attribute))


for _op, _attribute in (
    ("HorovodRank", "rank"),
    ("HorovodSize", "size"),
    ("HorovodLocalRank", "local_rank"),
    ("HorovodLocalSize", "local_size"),
):
    _place(_op, _attribute)
