"""Buckets of continuous features, by quantiles of the training examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.boosted_trees import weighted_quantiles
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.boosted_trees.weighted_quantiles import (
    Entry,
    QuantileStream,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]
# What a stream takes at least, with its lists, in bytes.
_STREAM_SIZE = 512


class QuantileStreams(Resource):
    """Streams of several features, and the boundaries that were made of them."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._epsilon, self._most = 0.0, 0
        self.streams: list[QuantileStream] | None = None
        self.boundaries: list[_Array] = []

    def create(self, epsilon: float, count: int, most: int) -> None:
        """Makes the streams, unless they are there."""
        if self.streams is None:
            check_shape((count, _STREAM_SIZE), dtypes.uint8, "CPU:0")
            self._epsilon, self._most = epsilon, most
            self.boundaries = [np.empty(0, np.float32)] * count
            self.streams = self._new(count)

    def _new(self, count: int) -> list[QuantileStream]:
        return [QuantileStream(self._epsilon, self._most) for _ in range(count)]

    def created(self) -> list[QuantileStream]:
        """The streams.

        Raises:
          errors.NotFoundError: they were not made yet.
        """
        if self.streams is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/"
                "BoostedTreesQuantileStreamResource does not exist.",
            )
        return self.streams

    def finish(self) -> list[list[Entry]]:
        """The summaries of all streams, which then begin anew."""
        summaries = [stream.finish() for stream in self.created()]
        self.streams = self._new(len(summaries))
        return summaries


@host_kernel("BoostedTreesQuantileStreamResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The streams of this node, or of its shared name; not made yet."""
    return named_resource(c, QuantileStreams)


@host_kernel("IsBoostedTreesQuantileStreamResourceInitialized", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether they were made."""
    return lambda resource: np.bool_(resource.streams is not None)


@host_kernel("BoostedTreesCreateQuantileStreamResource", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Makes the streams."""
    most = c["max_elements"]

    def compute(resource: QuantileStreams, epsilon: Any, count: Any) -> None:
        if not epsilon > 0:
            raise invalid_argument("An epsilon value of zero is not allowed.")
        resource.create(float(epsilon), int(count), most)

    return compute


def _rows(entries: list[Entry]) -> _Array:
    return np.array(entries, np.float32).reshape(-1, 4)


@host_kernel("BoostedTreesMakeQuantileSummaries", large=True)
def make_summaries(c: OpKernelConstruction) -> Compute:
    """Summaries [n, 4] of each feature: value, weight, lowest and highest rank.

    The first feature tells how many values of each are read.
    """

    def compute(*inputs: Any) -> Any:
        *features, weights, epsilon = inputs
        if np.isnan(epsilon):
            raise invalid_argument("epsilon must be a number")
        size = np.size(features[0]) if features else 0
        if np.size(weights) not in (1, size):
            raise invalid_argument(
                f"There must be 1 weight, or {size}, got {np.size(weights)}"
            )
        spread = np.broadcast_to(np.reshape(weights, -1), size)
        return tuple(
            _summary(np.reshape(values, -1), spread, float(epsilon))
            for values in features
        )

    return compute


def _summary(values: _Array, weights: _Array, epsilon: float) -> _Array:
    if len(values) < len(weights):
        raise invalid_argument(
            f"A feature must have {len(weights)} values, got {len(values)}"
        )
    stream = QuantileStream(epsilon, len(weights) + 1)
    stream.push_values(values[: len(weights)], weights)
    return _rows(stream.finish())


@host_kernel("BoostedTreesFlushQuantileSummaries", large=True)
def flush_summaries(c: OpKernelConstruction) -> Compute:
    """The summaries of all streams, which then begin anew."""
    return lambda resource: tuple(_rows(entries) for entries in resource.finish())


@host_kernel("BoostedTreesQuantileStreamResourceAddSummaries", large=True)
def add_summaries(c: OpKernelConstruction) -> Compute:
    """Adds a summary to each stream."""

    def compute(resource: QuantileStreams, *summaries: _Array) -> None:
        for stream, rows in zip(resource.created(), summaries, strict=False):
            stream.push_summary([Entry(*row) for row in rows.astype(np.float32)])

    return compute


@host_kernel("BoostedTreesQuantileStreamResourceFlush", large=True)
def flush(c: OpKernelConstruction) -> Compute:
    """Makes boundaries, and begins the streams anew."""
    exactly = c["generate_quantiles"]

    def make(entries: list[Entry], buckets: int) -> list[np.float32]:
        if exactly:
            return weighted_quantiles.quantiles(entries, buckets - 1)
        return weighted_quantiles.boundaries(entries, buckets)

    def compute(resource: QuantileStreams, count: Any) -> None:
        resource.boundaries = [
            np.array(make(entries, int(count)), np.float32)
            for entries in resource.finish()
        ]

    return compute


@host_kernel("BoostedTreesQuantileStreamResourceDeserialize", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Sets the boundaries."""

    def compute(resource: QuantileStreams, *boundaries: _Array) -> None:
        resource.created()
        resource.boundaries = [np.array(b, np.float32) for b in boundaries]

    return compute


@host_kernel("BoostedTreesQuantileStreamResourceGetBucketBoundaries", large=True)
def bucket_boundaries(c: OpKernelConstruction) -> Compute:
    """The boundaries; empty before the first flush."""

    def compute(resource: QuantileStreams) -> Any:
        resource.created()
        return tuple(b.copy() for b in resource.boundaries)

    return compute


@host_kernel("BoostedTreesBucketize", large=True)
def bucketize(c: OpKernelConstruction) -> Compute:
    """The first boundary that is not below the value; the last for larger values.

    Without boundaries all are in bucket 0: a model predicts before it has any.
    """
    count = c["num_features"]

    def compute(*inputs: _Array) -> Any:
        buckets = []
        if count and np.ndim(inputs[count]) != 1:
            raise invalid_argument("The boundaries of a feature must be a vector")
        for values, limits in zip(inputs[:count], inputs[count:], strict=True):
            limits = np.reshape(limits, -1)
            found = np.searchsorted(limits, values, side="left")
            buckets.append(np.minimum(found, max(len(limits) - 1, 0)).astype(np.int32))
        return tuple(buckets)

    return compute
