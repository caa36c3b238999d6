"""`Cluster`: the devices on which a graph is run, or would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster.local import has_kernel
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.registry import op_registry
from tensorloom.grappler import machine, measurement
from tensorloom.grappler.node_runs import NodeRun, op_performance, step_stats
from tensorloom.grappler.op_costs import device_speed
from tensorloom.grappler.peak_memory import LiveTensor, peak_memory
from tensorloom.grappler.simulation import simulate
from tensorloom.protos.step_stats_pb2 import StepStats

if TYPE_CHECKING:
    from tensorloom.grappler.items import Item


class Cluster:
    """This machine, or devices that are only described.

    On this machine costs are measured; on described devices they are estimated.
    """

    def __init__(
        self,
        allow_soft_placement: bool = True,
        disable_detailed_stats: bool = True,
        disable_timeline: bool = True,
        devices: Sequence[Any] | None = None,
    ) -> None:
        """Describes a cluster.

        Args:
          allow_soft_placement: whether nodes go to another device where the one that
            they ask for has no kernel.
          disable_detailed_stats: whether only the time of the whole step is measured.
          disable_timeline: whether `MeasureCosts` leaves out the `StepStats`.
          devices: `NamedDevice` messages; None: the devices of this machine.
        """
        self._soft_placement = allow_soft_placement
        self._detailed = not disable_detailed_stats
        self._timeline = not disable_timeline
        self.is_virtual: Final = devices is not None
        if devices is None:
            self._devices = measurement.local_devices()
        else:
            self._devices = {device.name: device.properties for device in devices}
        self._is_open = True

    def Shutdown(self) -> None:
        """Ends the cluster; it has no devices then."""
        self._devices = {}
        self._is_open = False

    @property
    def tf_cluster(self) -> Cluster | None:
        """The cluster itself; None after `Shutdown`."""
        return self if self._is_open else None

    @property
    def devices(self) -> dict[str, Any]:
        """`DeviceProperties` by name."""
        return dict(self._devices)

    def ListDevices(self) -> list[Any]:
        """A `NamedDevice` for each device."""
        return [machine.named_device(*device) for device in self._devices.items()]

    def ListAvailableOps(self) -> list[str]:
        """The names of all ops, sorted."""
        return sorted(op_registry.registered_ops())

    def GetSupportedDevices(self, item: Item) -> dict[str, list[str]]:
        """For each node the devices that can run it.

        Of devices that are only described any can; on this machine there has to be a
        kernel.
        """
        item_graph = item.tf_item
        if self.is_virtual:
            every = sorted(self._devices)
            return {op.name: list(every) for op in item_graph.operations()}
        proto = item_graph.graph.as_graph_def()
        nodes = graph_def.from_proto(proto).nodes
        return {
            name: [
                device
                for device, properties in sorted(self._devices.items())
                if has_kernel(node, properties.type)
            ]
            for name, node in nodes.items()
        }

    def EstimatePerformance(self, device: Any) -> float:
        """The billions of operations that a `NamedDevice` does in a second."""
        return device_speed(device.properties).operations

    def MeasureCosts(self, item: Item) -> tuple[list[Any], float, Any]:
        """What a step costs.

        Returns:
          An `OpPerformance` for each node that runs (none without detailed stats), the
          seconds of a step, and its `StepStats` (empty without a timeline).
        """
        self._check_open()
        if self.is_virtual:
            runs = simulate(item.tf_item, self._devices)
            seconds = max((run.end_ns for run in runs), default=0) // 1000 / 1e6
            stats = step_stats(runs) if self._timeline else StepStats()
        else:
            measured = measurement.measure(item.tf_item, self._soft_placement)
            runs, seconds = measured.runs, measured.seconds
            stats = measured.step_stats if self._timeline else StepStats()
        if not self._detailed:
            return [], seconds, stats
        local = machine.cpu_properties()
        devices = {
            run.device: self._devices.get(run.device, local)
            if self.is_virtual
            else local
            for run in runs
        }
        return (
            [op_performance(run, devices[run.device]) for run in runs],
            seconds,
            stats,
        )

    def DeterminePeakMemoryUsage(
        self, item: Item
    ) -> dict[str, tuple[int, list[LiveTensor]]]:
        """For each device the most bytes that are taken at once, and by what.

        Returns:
          By device the bytes and the tensors: node, output, bytes, and from when to
          when it lives. They are simulated; with detailed stats on this machine they
          are of a run.
        """
        self._check_open()
        runs: Sequence[NodeRun]
        if self.is_virtual or not self._detailed:
            runs = simulate(item.tf_item, self._devices)
        else:
            runs = measurement.measure(item.tf_item, self._soft_placement).runs
        return peak_memory(runs, self._devices)

    def _check_open(self) -> None:
        if not self._is_open:
            raise errors.UnavailableError(None, None, "The cluster was shut down")


@contextmanager
def Provision(
    allow_soft_placement: bool = True,
    disable_detailed_stats: bool = True,
    disable_timeline: bool = True,
    devices: Sequence[Any] | None = None,
) -> Iterator[Cluster]:
    """A `Cluster` for a `with` statement, which ends it."""
    cluster = Cluster(
        allow_soft_placement, disable_detailed_stats, disable_timeline, devices
    )
    yield cluster
    cluster.Shutdown()
