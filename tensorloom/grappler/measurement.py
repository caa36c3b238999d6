"""Steps on this machine's devices, timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.session.session import Session
from tensorloom.cluster.local import LOCAL_TASK
from tensorloom.devices.device import make_devices
from tensorloom.grappler import machine
from tensorloom.grappler.node_runs import NodeRun
from tensorloom.protos.config_pb2 import ConfigProto, RunMetadata, RunOptions
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig

if TYPE_CHECKING:
    from tensorloom.grappler.item_graph import ItemGraph

_WARMUPS: Final = 3
_STEPS: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found."""

    runs: list[NodeRun]
    #: Of a step, the mean.
    seconds: float
    step_stats: Any


def local_devices() -> dict[str, Any]:
    """The `DeviceProperties` of this machine's devices, by name."""
    return {
        device.name: machine.device_properties(device.device_type, device.memory_limit)
        for device in make_devices(LOCAL_TASK)
    }


def measure(item: ItemGraph, allow_soft_placement: bool = True) -> Measured:
    """Runs steps for the fetches, with zeros in the placeholders.

    Raises:
      errors.OpError: a step fails.
    """
    config = ConfigProto(allow_soft_placement=allow_soft_placement)
    # Each node for itself: what is fused runs under the name of its last node.
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    graph = item.graph
    feeds = item.feeds()
    with Session(graph=graph, config=config) as session:
        for name in item.initializations:
            session.run(graph.get_operation_by_name(name), feeds)
        targets = [graph.get_operation_by_name(name) for name in item.fetches]
        for _ in range(_WARMUPS):
            session.run(targets, feeds)
        begin = time.perf_counter()
        for _ in range(_STEPS):
            session.run(targets, feeds)
        seconds = (time.perf_counter() - begin) / _STEPS
        metadata = RunMetadata()
        options = RunOptions(
            trace_level=RunOptions.FULL_TRACE, output_partition_graphs=True
        )
        session.run(targets, feeds, options=options, run_metadata=metadata)
    return Measured(_runs(item, metadata), seconds, metadata.step_stats)


def _runs(item: ItemGraph, metadata: Any) -> list[NodeRun]:
    """Of the nodes that the passes left."""
    timed = {
        node.node_name: node
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    }
    known = {operation.name: operation for operation in item.operations()}
    runs: list[NodeRun] = []
    for partition in metadata.partition_graphs:
        for node in partition.node:
            operation = known.get(node.name)
            if operation is not None:
                stats = timed.get(node.name)
                start = stats.all_start_nanos if stats is not None else 0
                duration = stats.all_end_rel_nanos if stats is not None else 0
                runs.append(NodeRun(operation, node.device, start, start + duration))
    return runs
