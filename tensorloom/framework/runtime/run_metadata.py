"""`RunOptions` and `RunMetadata`: protos to and from what the runtime speaks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.debug import watches
from tensorloom.framework.interfaces import (
    NodeStats,
    StepContext,
    StepMetadata,
    StepOptions,
)
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.protos.graph_pb2 import GraphDef


def check_type(run_metadata: Any) -> None:
    """Raises AttributeError for what is no proto, as TensorFlow does."""
    run_metadata.ParseFromString  # noqa: B018 - the access is the check


def decode_options(
    options: Any, default: StepOptions | None, pools: int = 0
) -> StepOptions:
    """Decodes a `RunOptions`; without a timeout of its own the session's counts.

    Args:
      options: the message; nothing of it counts where it is None or empty.
      default: of the session.
      pools: how many thread pools the session's config has.

    Raises:
      AttributeError: it is no proto.
      errors.InvalidArgumentError: it names a thread pool that the session has not.
    """
    from tensorloom.protos.config_pb2 import RunOptions

    timeout_s = default.timeout_s if default is not None else None
    if not options and not hasattr(options, "SerializeToString"):
        return default or StepOptions()
    if not isinstance(options, RunOptions):  # as TensorFlow: what its bytes say
        options = RunOptions.FromString(options.SerializeToString())
    # A pool of its own would be no faster here; -1 is the thread that calls.
    if not -1 <= options.inter_op_thread_pool < max(1, pools):
        raise errors.InvalidArgumentError(
            None, None, f"Invalid inter_op_thread_pool: {options.inter_op_thread_pool}"
        )
    if options.timeout_in_ms > 0:
        timeout_s = options.timeout_in_ms / 1000
    return StepOptions(
        timeout_s=timeout_s,
        trace=options.trace_level > 0,
        output_partition_graphs=options.output_partition_graphs,
        debug=watches.decode(options.debug_options),
        collective_graph_key=options.experimental.collective_graph_key,
    )


def fill(run_metadata: Any, step: StepContext, with_costs: bool) -> None:
    """Replaces the contents of a `RunMetadata` by what a step recorded.

    Args:
      run_metadata: the message.
      step: what was recorded.
      with_costs: whether what a traced step cost comes into it.
    """
    from tensorloom.protos.config_pb2 import RunMetadata

    filled = RunMetadata()
    if step.options.trace:
        filled.step_stats.SetInParent()
        fill_step_stats(filled.step_stats, step.metadata.node_stats)
        if with_costs:
            _fill_cost_graph(filled.cost_graph, step.metadata.node_stats)
    if step.options.output_partition_graphs:
        _add_graphs(filled.partition_graphs, step.metadata.partition_graphs)
    run_metadata.ParseFromString(filled.SerializeToString())


def fill_step_stats(step_stats: Any, nodes: Iterable[NodeStats]) -> None:
    devices: dict[str, Any] = {}
    for node in sorted(nodes, key=lambda n: n.start_ns):
        device = devices.get(node.device)
        if device is None:
            device = devices[node.device] = step_stats.dev_stats.add()
            device.device = node.device
        _fill_node_stats(device.node_stats.add(), node)


# Ops whose output is memory that stays when the step is over.
_KEEPERS = ("Variable", "VariableV2", "TemporaryVariable")


def _fill_node_stats(proto: Any, node: NodeStats) -> None:
    duration_ns = node.end_ns - node.start_ns
    proto.node_name = node.node_name
    proto.timeline_label = node.label or f"{node.node_name} = {node.op}()"
    proto.thread_id = node.thread_id
    proto.all_start_nanos = node.start_ns
    proto.all_start_micros = node.start_ns // 1000
    proto.op_start_rel_nanos = 0
    proto.op_end_rel_nanos = proto.all_end_rel_nanos = duration_ns
    proto.op_end_rel_micros = proto.all_end_rel_micros = max(1, duration_ns // 1000)
    for slot, (dtype, shape, size) in enumerate(node.outputs):
        output = proto.output.add()
        output.slot = slot
        description = output.tensor_description
        description.dtype = dtypes.as_dtype(dtype).as_datatype_enum
        description.shape.SetInParent()  # a scalar has one, too: TensorBoard reads it
        for dim in shape:
            description.shape.dim.add().size = -1 if dim is None else dim
        description.allocation_description.requested_bytes = size
        description.allocation_description.allocator_name = _allocator(node.device)
    proto.memory.add(
        allocator_name=_allocator(node.device),
        total_bytes=node.allocated,
        peak_bytes=node.allocated,
        live_bytes=node.allocated,
    )
    if node.op in _KEEPERS:
        kept = sum(size for _, _, size in node.outputs)
        proto.memory_stats.persistent_memory_size = kept


def _allocator(device: str) -> str:
    """What TensorFlow calls the allocator of a device."""
    kind, _, number = device.rpartition("/device:")[2].partition(":")
    return f"{kind}_{number}_bfc" if kind == "GPU" else "cpu"


def _fill_cost_graph(cost_graph: Any, nodes: Iterable[NodeStats]) -> None:
    for number, node in enumerate(nodes):
        proto = cost_graph.node.add()
        proto.id = number
        proto.name = node.node_name
        proto.device = node.device
        proto.compute_cost = (node.end_ns - node.start_ns) // 1000
        for dtype, shape, size in node.outputs:
            output = proto.output_info.add()
            output.size = size
            output.alias_input_port = -1
            output.dtype = dtypes.as_dtype(dtype).as_datatype_enum
            for dim in shape:
                output.shape.dim.add().size = -1 if dim is None else dim


def _add_graphs(field: Any, graphs: Iterable[GraphIR | GraphDef]) -> None:
    from tensorloom.framework.graph import graph_def
    from tensorloom.framework.graph.graph_ir import GraphIR

    for graph in graphs:
        field.append(graph_def.to_proto(graph) if isinstance(graph, GraphIR) else graph)


def fill_worker_response(response: Any, step: StepContext) -> None:
    """Fills what a `RunGraphResponse` tells beside tensors."""
    if step.options.trace:
        fill_step_stats(response.step_stats, step.metadata.node_stats)
    if step.options.output_partition_graphs:
        _add_graphs(response.partition_graph, step.metadata.partition_graphs)


def read(run_metadata: Any, step: StepContext) -> None:
    """Adds what a master elsewhere tells of a step."""
    if step.options.trace:
        read_step_stats(run_metadata.step_stats, step.metadata)
    if step.options.output_partition_graphs:
        step.metadata.partition_graphs.extend(run_metadata.partition_graphs)


def read_step_stats(step_stats: Any, metadata: StepMetadata) -> None:
    """Adds what another task recorded."""
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            start_ns = node.all_start_nanos or node.all_start_micros * 1000
            duration_ns = node.all_end_rel_nanos or node.all_end_rel_micros * 1000
            metadata.node_stats.append(
                NodeStats(
                    device.device,
                    node.node_name,
                    _op_of(node),
                    start_ns,
                    start_ns + duration_ns,
                    node.thread_id,
                    tuple(_read_output(output) for output in node.output),
                    node.timeline_label,
                    sum(used.total_bytes for used in node.memory),
                )
            )


def _op_of(node: Any) -> str:
    """The op in a label such as `y = Add(x, x)`."""
    return str(node.timeline_label.rpartition("= ")[2].partition("(")[0])


def _read_output(output: Any) -> tuple[str, tuple[int, ...], int]:
    description = output.tensor_description
    dtype = dtypes.as_dtype(int(description.dtype) or dtypes.float32.as_datatype_enum)
    return (
        dtype.base_dtype.name,
        tuple(dim.size for dim in description.shape.dim),
        description.allocation_description.requested_bytes,
    )
