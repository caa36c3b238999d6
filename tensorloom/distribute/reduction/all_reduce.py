"""Reductions on all devices at once: by NCCL, or by copies in two groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.program import program_log
from tensorloom.client.session.device_lib import list_local_devices
from tensorloom.distribute.reduction import copies
from tensorloom.distribute.reduction.cross_device import (
    CrossDeviceOps,
    Pairs,
    ReductionToOneDevice,
    all_devices_match,
    devices_match,
)
from tensorloom.distribute.reduction.packing import (
    AggregateSmallTensorPacker,
    ConcatAndSplitPacker,
    DeviceGrads,
    Packer,
)
from tensorloom.distribute.values.device_names import canonicalize
from tensorloom.distribute.values.distributed_values import Mirrored
from tensorloom.distribute.values.regrouping import regroup
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.collective.nccl_functions import all_sum
from tensorloom.ops.math import math_ops


def group_value_by_device(per_replica_values: Sequence[Any]) -> DeviceGrads:
    """Of each device, pairs of its part of a value and None."""
    devices = per_replica_values[0].devices
    for value in per_replica_values:
        assert value.devices == devices
    return [
        [(value.values[i], None) for value in per_replica_values]
        for i in range(len(devices))
    ]


def mirrored_results(
    grouped: DeviceGrads, like: Any, reduce_op: ReduceOp, num_workers: int = 1
) -> list[Any]:
    """A Mirrored value of each sum; for a mean, divided by the number of replicas."""
    device_map = like.device_map
    count = device_map.num_replicas_in_graph * num_workers
    results = []
    for parts in zip(*grouped, strict=True):
        values = [value for value, _ in parts]
        if reduce_op == ReduceOp.MEAN:
            values = [_divided(value, count) for value in values]
        results.append(regroup(device_map, values, wrap_class=Mirrored))
    return results


def _divided(value: Any, count: int) -> Any:
    with device(value.device):
        return copies.divide_by_n_tensors_or_indexed_slices(value, count)


@export("contrib.distribute.AllReduceCrossDeviceOps")
class AllReduceCrossDeviceOps(CrossDeviceOps):
    """All devices get the reduction; what goes elsewhere is reduced on one device.

    Args:
      all_reduce_alg: "nccl" or "hierarchical_copy".
      num_packs: into how many tensors dense values are packed; 0 packs none.
      agg_small_grads_max_bytes: without packs, what small values are aggregated; 0 for
        none.
      agg_small_grads_max_group: how many of them at most.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        self._all_reduce_alg = all_reduce_alg
        self._num_packs = num_packs
        self._agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group
        self._simple_cross_replica_ops = ReductionToOneDevice()
        super().__init__()

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The reduction on all devices, or on one for other destinations."""
        if devices_match(per_replica_value, destinations):
            return self._batch_all_reduce(reduce_op, [per_replica_value])[0]
        return self._simple_cross_replica_ops.reduce(
            reduce_op, per_replica_value, destinations
        )

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Pairs
    ) -> list[Any]:
        """All reductions together, if they are of the same devices."""
        if all_devices_match(value_destination_pairs):
            return self._batch_all_reduce(
                reduce_op, [value for value, _ in value_destination_pairs]
            )
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]

    def _batch_all_reduce(self, reduce_op: ReduceOp, values: list[Any]) -> list[Any]:
        dense, dense_places, sparse, sparse_places = copies.split_by_sparsity(values)
        dense_results = self._reduce_dense(reduce_op, dense) if dense else []
        sparse_results = []
        if sparse:
            program_log.log_first_n(
                program_log.WARN,
                f"Efficient allreduce is not supported for {len(sparse)} IndexedSlices",
                10,
            )
            sparse_results = self._simple_cross_replica_ops.batch_reduce(
                reduce_op, zip(sparse, sparse, strict=True)
            )
        return copies.stitch_values(
            [(dense_results, dense_places), (sparse_results, sparse_places)]
        )

    def _packer(self) -> Packer | None:
        if self._num_packs > 0:
            return ConcatAndSplitPacker(self._num_packs)
        small, group = self._agg_small_grads_max_bytes, self._agg_small_grads_max_group
        if small > 0 and group > 0:
            return AggregateSmallTensorPacker(small, group)
        return None

    def _reduce_dense(self, reduce_op: ReduceOp, values: list[Any]) -> list[Any]:
        program_log.log_first_n(
            program_log.INFO,
            f"batch_all_reduce: {len(values)} all-reduces with algorithm = "
            f"{self._all_reduce_alg}, num_packs = {self._num_packs}, "
            f"agg_small_grads_max_bytes = {self._agg_small_grads_max_bytes} and "
            f"agg_small_grads_max_group = {self._agg_small_grads_max_group}",
            10,
        )
        packer = self._packer()
        grads = group_value_by_device(values)
        packed = grads if packer is None else packer.pack(grads)
        if self._all_reduce_alg == "nccl":
            reduced = _by_nccl(packed)
        else:
            reduced = _by_hierarchical_copy(values[0].devices, packed)
        if packer is not None:
            reduced = packer.unpack(reduced)
        return mirrored_results(reduced, values[0], reduce_op)


@export("distribute.NcclAllReduce")
class NcclAllReduce(AllReduceCrossDeviceOps):
    """All-reduce by NCCL, of GPUs; its ops have no kernels for CPUs.

    Args:
      num_packs: into how many tensors values are packed; 0 packs none.

    Raises:
      ValueError: it is negative.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(
                f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified"
            )
        super().__init__(all_reduce_alg="nccl", num_packs=num_packs)


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """All-reduce by copies: in two groups of devices, then between them.

    Args:
      num_packs: into how many tensors values are packed; 0 packs none.

    Raises:
      ValueError: it is negative.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(
                f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is "
                "specified"
            )
        super().__init__(all_reduce_alg="hierarchical_copy", num_packs=num_packs)


def _by_nccl(grads: DeviceGrads) -> DeviceGrads:
    columns = []
    for pairs in zip(*grads, strict=True):
        summed = all_sum([grad for grad, _ in pairs])
        columns.append(
            [(value, of) for value, (_, of) in zip(summed, pairs, strict=True)]
        )
    return list(zip(*columns, strict=True))


def _by_hierarchical_copy(names: Sequence[str], grads: DeviceGrads) -> DeviceGrads:
    """The devices are two groups; each gradient has a main device in both."""
    count, half = len(names), len(names) // 2
    columns = []
    for index, pairs in enumerate(zip(*grads, strict=True)):
        main = index % count
        other = (main + half) % count
        first = 0 if main < half else half
        sums = []
        for where, begin in ((main, first), (other, half - first)):
            with device(names[where]):
                group = [grad for grad, _ in pairs[begin : begin + half]]
                sums.append(math_ops.add_n(group))
        with device(names[main]):
            total = math_ops.add_n(sums)
        # From the main devices of the groups to all of them.
        with device(names[main]):
            near = identity_ops.identity(total)
        with device(names[other]):
            far = identity_ops.identity(total)
        column = []
        for place, (_, of) in enumerate(pairs):
            with device(names[place]):
                is_near = (main < half) == (place < half)
                column.append((identity_ops.identity(near if is_near else far), of))
        columns.append(column)
    return list(zip(*columns, strict=True))


def choose_the_best(
    devices: Sequence[str], session_config: Any = None
) -> CrossDeviceOps:
    """What reduces best on the devices: a reduction to one of them here.

    Logs a warning if a device is not one of this process.
    """
    wanted = {canonicalize(name) for name in devices}
    found = {
        each.name
        for each in list_local_devices(session_config)
        if canonicalize(each.name) in wanted
    }
    if len(found) != len(wanted):
        missing = ",".join(sorted(wanted - {canonicalize(name) for name in found}))
        program_log.warning(
            "Some requested devices in `tf.distribute.Strategy` are not visible "
            "to TensorFlow: %s",
            missing,
        )
    elif any("gpu" not in name.lower() for name in found):
        program_log.warning(
            "There is non-GPU devices in `tf.distribute.Strategy`, not using nccl "
            "allreduce."
        )
    else:
        program_log.warning("Nccl kernel is not found, not using nccl allreduce.")
    return ReductionToOneDevice()
