"""Tensors of all processes: their sum or mean, one after the other, or the root's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tensorloom.framework.collective import process_group
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import device
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.hvd.compression import Compression
from tensorloom.hvd.top_k import Chosen, TopK, scattered
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.math.cast import cast

#: The reductions, by Horovod's numbers. The mean is made of the sum.
Average: Final = 0
Sum: Final = process_group.SUM
Adasum: Final = process_group.ADASUM


def rank_op(name: str | None = None) -> Any:
    """int32 scalar: this process's number when the step runs."""
    return apply_op("HorovodRank", name=name)


def size_op(name: str | None = None) -> Any:
    """int32 scalar: how many processes there are when the step runs."""
    return apply_op("HorovodSize", name=name)


def local_rank_op(name: str | None = None) -> Any:
    """int32 scalar: this process's number on its machine."""
    return apply_op("HorovodLocalRank", name=name)


def local_size_op(name: str | None = None) -> Any:
    """int32 scalar: how many processes this machine has."""
    return apply_op("HorovodLocalSize", name=name)


def _name_for(tensor: Any, kind: str, name: str | None) -> str:
    return name or f"Horovod{kind}_" + re.sub("[^a-zA-Z0-9_]", "_", tensor.name)


def _reduced(tensor: Any, name: str | None = None, op: int = Sum) -> Any:
    name = _name_for(tensor, "Allreduce", name)
    return apply_op("HorovodAllreduce", tensor=tensor, reduce_op=op, name=name)


def allgather(tensor: Any, name: str | None = None) -> Any:
    """The rows of the tensors of all processes, in the order of their ranks.

    Args:
      tensor: of one dtype and of one shape in all processes, but for its first
        dimension.
      name: of the operation, by which the processes meet: the same in all of them.
    """
    tensor = convert_to_tensor(tensor)
    name = _name_for(tensor, "Allgather", name)
    return apply_op("HorovodAllgather", tensor=tensor, name=name)


def broadcast(tensor: Any, root_rank: int, name: str | None = None) -> Any:
    """The tensor of process `root_rank`, in all processes.

    Args:
      tensor: of one dtype and shape in all processes.
      root_rank: whose value it is.
      name: of the operation, by which the processes meet: the same in all of them.
    """
    tensor = convert_to_tensor(tensor)
    name = _name_for(tensor, "Broadcast", name)
    return apply_op("HorovodBroadcast", tensor=tensor, root_rank=root_rank, name=name)


def reduction(op: int | None, average: bool | None) -> int:
    """The reduction that `op` and the older argument `average` ask for together.

    Raises:
      ValueError: both are given, or `op` is none of the three.
    """
    if op is not None and average is not None:
        raise ValueError("op and average are given; average is the older form of op")
    if average is not None:
        return Average if average else Sum
    if op not in (None, Average, Sum, Adasum):
        raise ValueError(f"op must be hvd.Average, hvd.Sum or hvd.Adasum, is {op!r}")
    return Average if op is None else op


def allreduce(
    tensor: Any,
    average: bool | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    op: int | None = None,
) -> Any:
    """The mean (or the sum) of the tensors of all processes.

    Args:
      tensor: a tensor or variable, of one dtype and shape in all processes; or
        IndexedSlices, whose rows are gathered.
      average: the older form of `op`: True for the mean, False for the sum.
      device_dense, device_sparse: where it runs.
      compression: what travels: `Compression.none`, `fp16`, `bf16`, or `topk(ratio)`.
      op: `Average`, `Sum` or `Adasum`; None is Average.

    Raises:
      ValueError: `op` and `average` are both given, or IndexedSlices or
        `Compression.topk` with Adasum.
    """
    return allreduce_all(
        [tensor], device_dense, device_sparse, compression, reduction(op, average)
    )[0]


def allreduce_all(
    values: Sequence[Any],
    device_dense: str,
    device_sparse: str,
    compression: Any,
    op: int,
) -> list[Any]:
    """`allreduce` of each value.

    All are handed in before the first is waited for, so they are made in this order:
    what travels of each, the sums, and what becomes of the sums.
    """
    sent: list[Any] = []
    for value in values:
        if isinstance(value, IndexedSlices):
            if op == Adasum:
                raise ValueError(
                    "hvd.Adasum does not reduce IndexedSlices: pass "
                    "sparse_as_dense=True to the DistributedOptimizer"
                )
            sent.append(value)
            continue
        with device(device_dense):
            sent.append(_prepared(convert_to_tensor(value), compression, op))
    reduced = []
    for each in sent:
        if isinstance(each, IndexedSlices):
            with device(device_sparse):
                reduced.append((allgather(each.values), allgather(each.indices)))
            continue
        with device(device_dense):
            if isinstance(each[1], Chosen):
                reduced.append(Chosen(*map(allgather, each[1])))
            else:
                reduced.append(_reduced(each[1], op=Adasum if op == Adasum else Sum))
    return [
        _gathered_slices(each, found, op, device_sparse)
        if isinstance(each, IndexedSlices)
        else _dense_result(each, found, op, compression, device_dense)
        for each, found in zip(sent, reduced, strict=True)
    ]


def _prepared(dense: Any, compression: Any, op: int) -> tuple[Any, Any, Any]:
    """A tensor, what travels of it, and what is to be known of that."""
    if not isinstance(compression, TopK):
        return dense, *compression.compress(dense)
    if op == Adasum:
        raise ValueError("hvd.Adasum reduces whole tensors: leave out Compression.topk")
    count = compression.count(dense)
    if count is None:
        return dense, dense, None
    return dense, compression.choose(dense, count), None


def _gathered_slices(slices: Any, found: Any, op: int, where: str) -> IndexedSlices:
    values, indices = found
    with device(where):
        if op == Average:
            values = values / cast(size_op(), values.dtype)
    return IndexedSlices(values, indices, slices.dense_shape)


def _dense_result(each: Any, found: Any, op: int, compression: Any, where: str) -> Any:
    dense, _, told = each
    with device(where):
        if isinstance(compression, TopK):
            result = _whole(found, dense)
        else:
            result = compression.decompress(found, told)
        if op != Average:
            return result
        return result / cast(size_op(), dense.dtype)


def _whole(found: Any, dense: Any) -> Any:
    if not isinstance(found, Chosen):
        return found
    return reshape(scattered(found, dense.shape.num_elements()), dense.shape)
