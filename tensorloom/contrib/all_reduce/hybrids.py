"""One reduction within each task, another among tasks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.all_reduce.exchanges import (
    build_recursive_hd_all_reduce,
    build_ring_all_reduce,
    build_shuffle_all_reduce,
    gathered,
    scattered,
)
from tensorloom.contrib.all_reduce.flat_tensors import (
    BinaryOp,
    UnaryOp,
    each_applied,
    flattened,
    in_shape,
)
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array.identity import identity
from tensorloom.ops.collective.nccl_functions import all_sum
from tensorloom.ops.math.binary import add

_PLACE = "contrib.all_reduce.python.all_reduce"
_Upper = Callable[[list[Any]], list[Any]]


@export(f"{_PLACE}.build_nccl_all_reduce")
def build_nccl_all_reduce(
    input_tensors: Sequence[Any], red_op: BinaryOp, un_op: UnaryOp | None = None
) -> list[Any]:
    """The sum of all tensors, on the GPU of each, by NCCL's ops.

    Args:
      input_tensors: one of each GPU of a task.
      red_op: `tf.add`.
      un_op: applied to the sums.

    Raises:
      ValueError: another `red_op`, no tensors, or one without a device.
    """
    if inspect.unwrap(red_op) is not inspect.unwrap(add):
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    if not input_tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    sums = all_sum(input_tensors)
    return each_applied(un_op, sums) if un_op else sums


@export(f"{_PLACE}.build_nccl_then_ring")
def build_nccl_then_ring(
    input_tensors: Sequence[Any],
    subdiv: int,
    red_op: BinaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """NCCL within each task, a ring among tasks; see both."""
    return _nccl_hybrid(input_tensors, red_op, _ring(subdiv, red_op, un_op))


@export(f"{_PLACE}.build_nccl_then_recursive_hd")
def build_nccl_then_recursive_hd(
    input_tensors: Sequence[Any], red_op: BinaryOp, un_op: UnaryOp | None = None
) -> list[Any]:
    """NCCL within each task, halving and doubling among tasks; see both."""
    return _nccl_hybrid(
        input_tensors,
        red_op,
        lambda values: build_recursive_hd_all_reduce(values, red_op, un_op),
    )


@export(f"{_PLACE}.build_nccl_then_shuffle")
def build_nccl_then_shuffle(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    nccl_red_op: BinaryOp,
    shuffle_red_op: UnaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """NCCL within each task, shuffling among tasks; see both."""
    return _nccl_hybrid(
        input_tensors,
        nccl_red_op,
        lambda values: build_shuffle_all_reduce(
            values, gather_devices, shuffle_red_op, un_op
        ),
    )


@export(f"{_PLACE}.build_shuffle_then_ring")
def build_shuffle_then_ring(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: UnaryOp,
    red_op: BinaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """Shuffling within each task, a ring among tasks; see both.

    Args:
      input_tensors: one of each device.
      gather_devices: one of each task.
      subdiv: how many rings there are.
      red_n_op: reduces a list of tensors.
      red_op: reduces two tensors.
      un_op: applied to what is reduced.
    """
    return _shuffle_hybrid(
        input_tensors, gather_devices, red_n_op, _ring(subdiv, red_op, un_op)
    )


@export(f"{_PLACE}.build_shuffle_then_shuffle")
def build_shuffle_then_shuffle(
    input_tensors: Sequence[Any],
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: UnaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """Shuffling within each task, and among tasks; see `build_shuffle_all_reduce`."""

    def among_tasks(values: list[Any]) -> list[Any]:
        return build_shuffle_all_reduce(values, second_gather_devices, red_op, un_op)

    return _shuffle_hybrid(
        input_tensors, first_gather_devices, red_op, _of_several(among_tasks, un_op)
    )


def _ring(subdiv: int, red_op: BinaryOp, un_op: UnaryOp | None) -> _Upper:
    def among_tasks(values: list[Any]) -> list[Any]:
        return build_ring_all_reduce(values, len(values), subdiv, [0], red_op, un_op)

    return _of_several(among_tasks, un_op)


def _of_several(reduce: _Upper, un_op: UnaryOp | None) -> _Upper:
    """`reduce`, but `un_op` alone where there is one task."""

    def upper(values: list[Any]) -> list[Any]:
        if len(values) > 1:
            return reduce(values)
        return each_applied(un_op, values) if un_op else values

    return upper


def _by_task(tensors: Sequence[Any]) -> list[list[Any]]:
    tasks: dict[Any, list[Any]] = {}
    for tensor in tensors:
        spec = DeviceSpec.from_string(tensor.device)
        if spec.task is None:
            raise AssertionError(f"failed to parse device {tensor.device}")
        key = (spec.job or "localhost", spec.replica or 0, spec.task)
        tasks.setdefault(key, []).append(tensor)
    return list(tasks.values())


def _nccl_hybrid(
    input_tensors: Sequence[Any], red_op: BinaryOp, upper: _Upper
) -> list[Any]:
    tensors, shape = flattened(input_tensors)
    tasks = _by_task(tensors)
    of_tasks = []
    for values in tasks:
        sums = build_nccl_all_reduce(values, red_op)
        # NCCL ends when all of its nodes have run, and only one is read.
        with control_dependencies(sums), device(sums[0].device):
            of_tasks.append(identity(sums[0]))
    outputs = []
    for value, values in zip(upper(of_tasks), tasks, strict=True):
        with device(values[0].device):
            own = identity(value)
            sent = apply_op("NcclBroadcast", input=own, shape=own.shape)
        for tensor in values:
            with device(tensor.device):
                outputs.append(identity(sent))
    return in_shape(outputs, shape)


def _shuffle_hybrid(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    red_op: UnaryOp,
    upper: _Upper,
) -> list[Any]:
    tensors, shape = flattened(input_tensors)
    tasks = _by_task(tensors)
    if len(gather_devices) != len(tasks):
        raise ValueError(
            "For shuffle hybrid, gather_devices must contain one device per worker. "
        )
    of_tasks = [
        gathered(values, [place], red_op)[0]
        for values, place in zip(tasks, gather_devices, strict=True)
    ]
    outputs = []
    for value, values in zip(upper(of_tasks), tasks, strict=True):
        outputs += scattered([value], [tensor.device for tensor in values])
    return in_shape(outputs, shape)
