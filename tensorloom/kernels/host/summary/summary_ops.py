"""Making `Summary` messages."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def _serialized(summary: Any) -> Any:
    return object_scalar(summary.SerializeToString())


@host_kernel("ScalarSummary", large=True)
def scalar_summary(c: OpKernelConstruction) -> Compute:
    """A simple value for each tag."""

    def compute(tags: Any, values: Any) -> Any:
        from tensorloom.protos import summary_pb2

        if tags.shape != values.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"tags and values not the same shape: {format_shape(tags.shape)} != "
                f"{format_shape(values.shape)}{_single_tag(tags)}",
            )
        summary = summary_pb2.Summary()
        for tag, value in zip(tags.ravel(), np.ravel(values), strict=True):
            summary.value.add(tag=tag.decode(), simple_value=float(value))
        return _serialized(summary)

    return compute


def _single_tag(tags: Any) -> str:
    return f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""


@functools.cache
def _bucket_limits() -> np.ndarray[Any, Any]:
    """TensorFlow's: growing by a tenth from 1e-12 to 1e20, on both sides of 0."""
    limits = []
    limit = 1.0e-12
    while limit < 1.0e20:
        limits.append(limit)
        limit *= 1.1
    limits.append(sys.float_info.max)
    return np.array([*(-x for x in reversed(limits)), 0.0, *limits])


class Histogram:
    """How many finite values lie in each of TensorFlow's buckets, so far."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(_bucket_limits()), np.int64)
        self._count, self._sum, self._squares = 0, 0.0, 0.0
        self._least, self._most = sys.float_info.max, -sys.float_info.max

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Counts float64 values [n]."""
        if not len(values):
            return
        # The last bucket has its limit in it: nothing is larger.
        places = np.searchsorted(_bucket_limits()[:-1], values, side="right")
        self._counts += np.bincount(places, minlength=len(self._counts))
        self._count += len(values)
        with np.errstate(over="ignore"):  # the sums of large numbers are infinite
            self._sum += float(values.sum())
            self._squares += float(np.square(values).sum())
        # Of zeros with both signs TensorFlow tells the first.
        self._least = min(self._least, float(values[values.argmin()]))
        self._most = max(self._most, float(values[values.argmax()]))

    def fill(self, histogram: Any) -> None:
        """Writes a `HistogramProto`."""
        limits, counts = _bucket_limits(), self._counts
        histogram.min, histogram.max = self._least, self._most
        histogram.num = self._count
        histogram.sum, histogram.sum_squares = self._sum, self._squares
        # A run of empty buckets is written as one.
        kept = (counts > 0) | np.append(counts[1:] > 0, True)
        histogram.bucket_limit.extend(limits[kept].tolist())
        histogram.bucket.extend(counts[kept].astype(np.float64).tolist())


@host_kernel("HistogramSummary", large=True)
def histogram_summary(c: OpKernelConstruction) -> Compute:
    """A histogram of the values."""

    def compute(tag: Any, values: Any) -> Any:
        from tensorloom.protos import summary_pb2

        if tag.ndim:
            raise errors.InvalidArgumentError(None, None, "tags must be scalar")
        summary = summary_pb2.Summary()
        histogram = summary.value.add(tag=tag.item().decode()).histo
        fill_histogram(histogram, values, c.node_name)
        return _serialized(summary)

    return compute


def fill_histogram(histogram: Any, tensor: Any, name: str) -> None:
    """Counts the elements of a tensor in a `HistogramProto`.

    Raises:
      errors.InvalidArgumentError: one is not finite.
    """
    values = np.ravel(tensor).astype(np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        what = "Nan" if np.isnan(values[bad][0]) else "Infinity"
        raise errors.InvalidArgumentError(
            None, None, f"{what} in summary histogram for: {name}"
        )
    counted = Histogram()
    counted.add(values)
    counted.fill(histogram)


@host_kernel("MergeSummary", large=True)
def merge_summary(c: OpKernelConstruction) -> Compute:
    """The values of all inputs in one message."""

    def compute(*inputs: Any) -> Any:
        from google.protobuf.message import DecodeError

        from tensorloom.protos import summary_pb2

        merged = summary_pb2.Summary()
        tags: set[str] = set()
        for text in (t for value in inputs for t in np.ravel(value)):
            try:
                summary = summary_pb2.Summary.FromString(text)
            except DecodeError as error:
                raise errors.InvalidArgumentError(
                    None, None, "Could not parse one of the summary inputs"
                ) from error
            for value in summary.value:
                # The tag of a value may be empty: then it repeats nothing.
                if value.tag and value.tag in tags:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"Duplicate tag {value.tag} found in summary inputs",
                    )
                tags.add(value.tag)
                merged.value.append(value)
        return _serialized(merged)

    return compute
