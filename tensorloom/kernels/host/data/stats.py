"""Statistics of datasets, as resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.data.pipeline.statistics import StatsAggregator

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel(
    [
        "StatsAggregatorHandle",
        "StatsAggregatorHandleV2",
        "ExperimentalStatsAggregatorHandle",
    ],
    large=True,
)
def stats_aggregator_handle(c: OpKernelConstruction) -> Compute:
    """The statistics of this node, or of its shared name."""
    return node_resource(c, StatsAggregator, StatsAggregator)


@host_kernel(
    ["StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"], large=True
)
def stats_aggregator_summary(c: OpKernelConstruction) -> Compute:
    """What was counted so far, as a Summary."""
    return lambda aggregator: np.array(_checked(aggregator).summary(), object)


@host_kernel("StatsAggregatorSetSummaryWriter", large=True)
def stats_aggregator_set_summary_writer(c: OpKernelConstruction) -> Compute:
    """What is counted from now on is written as events."""
    return lambda aggregator, writer: _checked(aggregator).set_writer(writer)


def _checked(aggregator: Any) -> StatsAggregator:
    if not isinstance(aggregator, StatsAggregator):
        raise errors.InvalidArgumentError(
            None, None, "Trying to access a handle that is no StatsAggregator."
        )
    return aggregator
