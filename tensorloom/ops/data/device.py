"""Statistics, thread pools and iterators over several devices, of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape
from tensorloom.ops.data.shapes import output_shapes_attr

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _shard_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(1, 0)
    c.with_rank(2, 0)
    return list(output_shapes_attr(c))


register_op(
    "StatsAggregatorHandle",
    outputs=["handle: resource"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of a collection of statistics.",
)

register_op(
    "StatsAggregatorHandleV2",
    outputs=["handle: resource"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of statistics that go to a summary writer.",
)

register_op(
    "StatsAggregatorSetSummaryWriter",
    inputs=["stats_aggregator: resource", "summary: resource"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Sends the statistics to a summary writer.",
)

register_op(
    "StatsAggregatorSummary",
    inputs=["iterator: resource"],
    outputs=["summary: string"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The statistics as a serialized Summary.",
)

register_op(
    "SetStatsAggregatorDataset",
    inputs=[
        "input_dataset: variant",
        "stats_aggregator: resource",
        "tag: string",
        "counter_prefix: string",
    ],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The same dataset; its statistics go to an aggregator.",
)

register_op(
    "ThreadPoolDataset",
    inputs=["input_dataset: variant", "thread_pool: resource"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The same dataset, run by a thread pool.",
)

register_op(
    "ThreadPoolHandle",
    outputs=["handle: resource"],
    attrs=[
        "num_threads: int",
        "max_intra_op_parallelism: int = 1",
        "display_name: string",
        "container: string = ''",
        "shared_name: string = ''",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of a thread pool.",
)

register_op(
    "MultiDeviceIterator",
    outputs=["handle: resource"],
    attrs=[
        "devices: list(string) >= 1",
        "shared_name: string",
        "container: string",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of an iterator that serves several devices.",
)

register_op(
    "AnonymousMultiDeviceIterator",
    outputs=["handle: resource", "deleter: variant"],
    attrs=[
        "devices: list(string) >= 1",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="An iterator for several devices, and what deletes it.",
)

register_op(
    "AnonymousMultiDeviceIteratorV3",
    outputs=["handle: resource"],
    attrs=[
        "devices: list(string) >= 1",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="An iterator for several devices that nobody else names.",
)

register_op(
    "DeleteMultiDeviceIterator",
    inputs=[
        "multi_device_iterator: resource",
        "iterators: N * resource",
        "deleter: variant",
    ],
    attrs=["N: int >= 0"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Deletes an iterator for several devices.",
)

register_op(
    "MultiDeviceIteratorFromStringHandle",
    inputs=["string_handle: string"],
    outputs=["multi_device_iterator: resource"],
    attrs=[
        "output_types: list(type) >= 0 = []",
        "output_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The iterator of a string handle.",
)

register_op(
    "MultiDeviceIteratorToStringHandle",
    inputs=["multi_device_iterator: resource"],
    outputs=["string_handle: string"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The string handle of an iterator.",
)

register_op(
    "MultiDeviceIteratorInit",
    inputs=[
        "dataset: variant",
        "multi_device_iterator: resource",
        "max_buffer_size: int64",
    ],
    outputs=["incarnation_id: int64"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Begins an iterator for several devices.",
)

register_op(
    "MultiDeviceIteratorGetNextFromShard",
    inputs=[
        "multi_device_iterator: resource",
        "shard_num: int32",
        "incarnation_id: int64",
    ],
    outputs=["components: output_types"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=_shard_shape,
    stateful=True,
    doc="The next element for one device.",
)
