"""A part of a graph with the nodes of a debugger, which is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.debug import publishers
from tensorloom.framework.graph import graph_def, node_shapes
from tensorloom.framework.partition import graph_partition
from tensorloom.worker.debug.debug_nodes import with_debug_nodes

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.worker.run.worker import Worker


def debugged(graph: GraphIR, watches: DebugWatches, worker: Worker) -> GraphIR:
    """The graph with debug nodes; what each device has of it is published.

    Raises:
      errors.FailedPreconditionError: a watch is not valid.
      errors.UnavailableError: nobody serves the scheme of a debug URL.
    """
    decorated = node_shapes.infer_missing(
        with_debug_nodes(
            graph, watches, lambda name: worker.device_named(name).kernel_type
        )
    )
    parts = graph_partition.partition(
        decorated,
        lambda node: node.device,
        {device.name: device.incarnation for device in worker.local_devices},
    )
    told = {url: publishers.publisher_of(url) for url in watches.urls}
    for publisher in told.values():
        if watches.resets_disk_usage:
            publisher.reset_usage()
    for device, part in parts.items():
        message = graph_def.to_proto(part).SerializeToString()
        for url, publisher in told.items():
            publisher.graph(url, device, message)
    return decorated
