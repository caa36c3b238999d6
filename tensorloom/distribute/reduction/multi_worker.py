"""`MultiWorkerAllReduce`: reductions between the workers of one graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.distribute.reduction.all_reduce import (
    AllReduceCrossDeviceOps,
    group_value_by_device,
    mirrored_results,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device, name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.collective.nccl_functions import all_sum
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp
    from tensorloom.distribute.reduction.packing import DeviceGrads


class AllReduceSpecTuple(NamedTuple):
    """Which gradients are reduced how."""

    alg: str  # "pscpu", "psgpu", "pscpu/pscpu", "xring" or "nccl"
    shards: int = 1  # into how many parts a tensor is divided
    limit: int = -1  # of larger tensors others are the algorithm; -1 for none


@export("contrib.distribute.MultiWorkerAllReduce")
class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """Reductions between the workers of one graph.

    Args:
      worker_devices: the workers.
      num_gpus_per_worker: how many devices each has.
      all_reduce_spec: an algorithm, a tuple (algorithm, shards, limit), or a list of
        such tuples, for tensors of more and more elements.
      num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: see
        AllReduceCrossDeviceOps.

    Raises:
      ValueError: a tuple of another size.
    """

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        self._worker_devices = worker_devices
        self._num_gpus_per_worker = num_gpus_per_worker
        super().__init__(
            num_packs=num_packs,
            agg_small_grads_max_bytes=agg_small_grads_max_bytes,
            agg_small_grads_max_group=agg_small_grads_max_group,
        )
        if isinstance(all_reduce_spec, str):
            all_reduce_spec = (all_reduce_spec,)
        if isinstance(all_reduce_spec, tuple):
            all_reduce_spec = [all_reduce_spec]
        self._all_reduce_spec = [_checked(spec) for spec in all_reduce_spec]

    def _batch_all_reduce(self, reduce_op: ReduceOp, values: list[Any]) -> list[Any]:
        program_log.log_first_n(
            program_log.INFO,
            f"Distributed batch_all_reduce: {len(values)} all-reduces with "
            f"allreduce_spec = {self._all_reduce_spec!r}, num_packs = "
            f"{self._num_packs}",
            10,
        )
        remaining = list(range(len(values)))
        for value in values:
            if not value.values[0].shape.is_fully_defined():
                raise ValueError(f"Shape is unknown for node {value.values[0]!r}")
        reduced: dict[int, Any] = {}
        for spec in self._all_reduce_spec:
            chosen = [i for i in remaining if _fits(spec, values[i].values[0])]
            remaining = [i for i in remaining if i not in set(chosen)]
            if chosen:
                grads = group_value_by_device([values[i] for i in chosen])
                sums = self._sums(spec, grads)
                results = mirrored_results(sums, values[chosen[0]], reduce_op)
                reduced.update(zip(chosen, results, strict=True))
        assert not remaining
        return [reduced[i] for i in range(len(values))]

    def _sums(self, spec: AllReduceSpecTuple, grads: DeviceGrads) -> DeviceGrads:
        packer = self._packer()
        packed = grads if packer is None else packer.pack(grads)
        workers = list(self._worker_devices)
        columns = []
        for number, pairs in enumerate(zip(*packed, strict=True)):
            with name_scope("allreduce"):
                tensors = [tensor for tensor, _ in pairs]
                summed = _sum(spec, tensors, workers, number)
            columns.append(
                [(value, of) for value, (_, of) in zip(summed, pairs, strict=True)]
            )
        result: DeviceGrads = list(zip(*columns, strict=True))
        return result if packer is None else packer.unpack(result)


def _checked(spec: Any) -> AllReduceSpecTuple:
    if not isinstance(spec, tuple):
        raise ValueError(f"A tuple is expected for all-reduce spec: {spec!r}")
    if not 0 < len(spec) <= 3:
        raise ValueError(f"Too many elements in the all-reduce spec tuple: {spec!r}")
    return AllReduceSpecTuple(*spec)


def _fits(spec: AllReduceSpecTuple, tensor: Any) -> bool:
    return spec.limit < 0 or tensor.shape.num_elements() <= spec.limit


def _sum(
    spec: AllReduceSpecTuple, tensors: list[Any], workers: list[str], number: int
) -> list[Any]:
    """The sum of tensors, on the device of each.

    Raises:
      ValueError: an unknown algorithm.
    """
    kind = "cpu" if "pscpu" in spec.alg else "gpu"
    helpers = [f"{worker}/device:{kind.upper()}:0" for worker in workers]
    shards = min(spec.shards, len(helpers))
    if spec.alg in ("pscpu", "psgpu"):
        first = (number * shards) % len(helpers)
        gather = (helpers[first:] + helpers[:first])[:shards]
        return shuffled_sum(tensors, gather)
    if spec.alg == "pscpu/pscpu":
        return _in_two_levels(tensors, helpers, helpers[:shards])
    if spec.alg == "xring":
        return ring_sum(tensors)
    if spec.alg == "nccl":
        return all_sum(tensors)
    raise ValueError("unsupported all_reduce alg: ", spec.alg)


def _in_two_levels(
    tensors: list[Any], helpers: list[str], gather: list[str]
) -> list[Any]:
    """The devices of each worker add up at its helper, the workers at some of these."""
    size = len(tensors) // len(helpers)
    sums = []
    for index, helper in enumerate(helpers):
        with device(helper):
            sums.append(math_ops.add_n(tensors[index * size : (index + 1) * size]))
    totals = shuffled_sum(sums, gather)
    results = []
    for index, tensor in enumerate(tensors):
        with device(tensor.device):
            results.append(array_ops.identity(totals[index // size]))
    return results


def _in_parts(
    tensors: Sequence[Any], count: int
) -> tuple[list[list[Any]], Callable[[list[Any]], Any]]:
    """Each tensor as so many vectors on its device, and what puts vectors together."""
    shape = tensors[0].shape
    size = shape.num_elements()
    each, extra = divmod(size, count)
    sizes = [each + (index < extra) for index in range(count)]
    parts = []
    for tensor in tensors:
        with device(tensor.device):
            flat = array_ops.reshape(tensor, [-1])
            parts.append(array_ops.split(flat, sizes) if count > 1 else [flat])
    return parts, lambda vectors: array_ops.reshape(array_ops.concat(vectors, 0), shape)


def shuffled_sum(tensors: Sequence[Any], gather_devices: Sequence[str]) -> list[Any]:
    """The sum, part by part: each part is added up on one of the gather devices."""
    parts, together = _in_parts(tensors, len(gather_devices))
    sums = []
    for number, name in enumerate(gather_devices):
        with device(name):
            sums.append(math_ops.add_n([part[number] for part in parts]))
    return _on_each(tensors, lambda _: together(sums))


def ring_sum(tensors: Sequence[Any]) -> list[Any]:
    """The sum, part by part: each part goes around a ring of the devices."""
    count = len(tensors)
    parts, together = _in_parts(tensors, count)
    totals = []
    for number in range(count):
        total = parts[number][number]
        for step in range(1, count):
            place = (number + step) % count
            with device(tensors[place].device):
                total = math_ops.add(total, parts[place][number])
        totals.append(total)
    return _on_each(tensors, lambda _: together(totals))


def _on_each(tensors: Sequence[Any], make: Callable[[int], Any]) -> list[Any]:
    results = []
    for index, tensor in enumerate(tensors):
        with device(tensor.device):
            results.append(make(index))
    return results
