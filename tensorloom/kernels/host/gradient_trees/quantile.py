"""Kernels of sketches of quantiles, and of the buckets that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees import weighted_quantiles
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.boosted_trees.weighted_quantiles import (
    Entry,
    QuantileStream,
)
from tensorloom.kernels.host.gradient_trees.stamped_resource import StampedResource
from tensorloom.protos.gradient_trees_quantiles_pb2 import (
    QuantileConfig,
    QuantileStreamState,
    QuantileSummaryState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]
_F = np.float32


class Quantiles(StampedResource):
    """A stream of summaries, and the boundaries that the last flush made."""

    kind = "QuantileStreamResource"

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._epsilon, self._count, self._most, self._exactly = 0.01, 0, 1, False
        self.stream = QuantileStream(self._epsilon, self._most)
        self.boundaries: _Array = np.zeros(0, _F)
        self.is_ready = False

    def create(
        self, stamp: int, epsilon: float, count: int, most: int, exactly: bool
    ) -> None:
        """Begins, unless it has begun.

        Args:
          stamp: the first one.
          epsilon: how far off quantiles may be.
          count: of the quantiles.
          most: how many values are added, at most.
          exactly: whether there are that many, even equal ones.
        """
        if not self.is_created:
            self._epsilon, self._count = epsilon, count
            self._most, self._exactly = most, exactly
            self.is_created, self.stamp = True, stamp
            self.stream = QuantileStream(epsilon, most)

    def finish(self, stamp: int, after: int) -> list[Entry]:
        """The summary of what was added; then begins anew."""
        self.check_stamp(stamp)
        entries = self.stream.finish()
        self.stamp = after
        self.stream = QuantileStream(self._epsilon, self._most)
        return entries

    def flush(self, stamp: int, after: int) -> None:
        """Makes boundaries of what was added; then begins anew."""
        entries = self.finish(stamp, after)
        if self._exactly:
            found = weighted_quantiles.quantiles(entries, self._count)
        else:
            found = weighted_quantiles.boundaries(entries, self._count)
        self.boundaries, self.is_ready = np.array(found, _F), True


def _text(message: Any) -> Any:
    return np.array(message.SerializeToString(deterministic=True), object)


def _write(entries: Sequence[Entry], summary: QuantileSummaryState) -> None:
    for entry in entries:
        summary.entries.add(
            value=entry.value,
            weight=entry.weight,
            min_rank=entry.min_rank,
            max_rank=entry.max_rank,
        )


def _read(summary: QuantileSummaryState) -> list[Entry]:
    return [
        Entry(_F(e.value), _F(e.weight), _F(e.min_rank), _F(e.max_rank))
        for e in summary.entries
    ]


def _parsed(kind: Any, serialized: Any, wrong: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(np.reshape(serialized, -1)[0])
    except DecodeError:
        raise invalid_argument(wrong) from None


def _one(value: Any) -> Any:
    """The number of a scalar, or of a vector of one element."""
    return np.reshape(value, -1)[0]


# --- sketches ----------------------------------------------------------------


@host_kernel("QuantileStreamResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The sketch of a shared name; not created yet."""
    return named_resource(c, Quantiles)


@host_kernel("QuantileAccumulatorIsInitialized", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether it was created."""
    return lambda sketch: np.bool_(sketch.is_created)


@host_kernel("CreateQuantileAccumulator", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Creates the sketch, unless it is there."""
    epsilon = float(_F(c["epsilon"]))
    options = c["num_quantiles"], c["max_elements"], c["generate_quantiles"]

    def compute(sketch: Quantiles, stamp: Any) -> None:
        if not epsilon > 0:
            raise invalid_argument("An epsilon value of zero is not allowed.")
        with sketch.lock:
            sketch.create(int(stamp), epsilon, *options)

    return compute


@host_kernel("QuantileAccumulatorAddSummaries", large=True)
def add_summaries(c: OpKernelConstruction) -> Compute:
    """Adds to each sketch; what comes with an old stamp is dropped."""
    count = c["num_resource_handles"]

    def compute(*inputs: Any) -> None:
        stamp, summaries = int(inputs[count]), inputs[count + 1 :]
        for sketch, summary in zip(inputs[:count], summaries, strict=True):
            with sketch.lock:
                sketch.check_created()
                if sketch.stamp == stamp:
                    wrong = "Unable to parse quantile summary."
                    parsed = _parsed(QuantileSummaryState, summary, wrong)
                    sketch.stream.push_summary(_read(parsed))

    return compute


@host_kernel("QuantileAccumulatorGetBuckets", large=True)
def get_buckets(c: OpKernelConstruction) -> Compute:
    """Whether there are boundaries of this stamp, and which."""
    count = c["num_resource_handles"]

    def compute(*inputs: Any) -> Any:
        ready, buckets = [], []
        for sketch in inputs[:count]:
            with sketch.lock:
                sketch.check_created()
                is_ready = sketch.stamp == int(inputs[count]) and sketch.is_ready
                ready.append(np.bool_(is_ready))
                buckets.append(sketch.boundaries.copy() if is_ready else _none())
        return tuple(ready + buckets)

    return compute


def _none() -> _Array:
    return np.zeros(0, _F)


@host_kernel("QuantileAccumulatorFlush", large=True)
def flush(c: OpKernelConstruction) -> Compute:
    """Makes boundaries; the sketch begins anew."""

    def compute(sketch: Quantiles, stamp: Any, after: Any) -> None:
        with sketch.lock:
            sketch.flush(int(stamp), int(after))

    return compute


@host_kernel("QuantileAccumulatorFlushSummary", large=True)
def flush_summary(c: OpKernelConstruction) -> Compute:
    """The summary; the sketch begins anew."""

    def compute(sketch: Quantiles, stamp: Any, after: Any) -> Any:
        with sketch.lock:
            entries = sketch.finish(int(stamp), int(after))
        summary = QuantileSummaryState()
        _write(entries, summary)
        return _text(summary)

    return compute


@host_kernel("QuantileAccumulatorSerialize", large=True)
def serialize(c: OpKernelConstruction) -> Compute:
    """(stamp, the levels of the stream, whether there are boundaries, boundaries)."""

    def compute(sketch: Quantiles) -> Any:
        state = QuantileStreamState()
        with sketch.lock:
            sketch.check_created()
            for level in sketch.stream.levels:
                _write(level, state.summaries.add())
            state.summaries.add()  # TensorFlow's place for a summary being made
            buckets = sketch.boundaries.copy() if sketch.is_ready else _none()
            return (
                np.int64(sketch.stamp),
                _text(state),
                np.bool_(sketch.is_ready),
                buckets,
            )

    return compute


@host_kernel("QuantileAccumulatorDeserialize", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces what the sketch holds."""

    def compute(
        sketch: Quantiles, stamp: Any, state: Any, is_ready: Any, buckets: _Array
    ) -> None:
        wrong = "Unable to parse quantile stream state."
        parsed = _parsed(QuantileStreamState, state, wrong)
        with sketch.lock:
            sketch.check_created()
            sketch.stream.set_levels([_read(level) for level in parsed.summaries[:-1]])
            sketch.boundaries = np.array(buckets, _F)
            sketch.stamp, sketch.is_ready = int(_one(stamp)), bool(_one(is_ready))

    return compute


# --- summaries and buckets ---------------------------------------------------


class _Columns:
    """The values of each feature with their weights: dense ones, then sparse ones.

    Raises:
      errors.InvalidArgumentError: there are no features.
    """

    def __init__(self, c: OpKernelConstruction) -> None:
        self._dense, self._sparse = c["num_dense_features"], c["num_sparse_features"]
        if self._dense + self._sparse == 0:
            raise invalid_argument("Please provide at least sparse or dense features.")

    def read(self, inputs: Sequence[_Array]) -> list[tuple[_Array, _Array]]:
        """(values, weights) of each."""
        weights = np.reshape(inputs[-1], -1).astype(_F)
        count = len(weights)
        found = []
        for values in inputs[: self._dense]:
            flat = np.reshape(values, -1)
            if len(flat) < count:
                raise invalid_argument(
                    f"A feature must have {count} values, got {len(flat)}"
                )
            found.append((flat[:count], weights))
        sparse = inputs[self._dense : -1]
        for index in range(self._sparse):
            indices, values, shape = sparse[index :: self._sparse]
            if np.reshape(shape, -1)[0] != count:
                raise invalid_argument(
                    "Sparse column shape doesn't match the batch size."
                )
            rows = np.reshape(indices, (-1, 2))[:, 0]
            if len(rows) and not 0 <= rows.min() <= rows.max() < count:
                raise invalid_argument(
                    f"A value is of example {rows.max()}, of {count}."
                )
            found.append((np.reshape(values, -1)[: len(rows)], weights[rows]))
        return found


def _summary(values: _Array, weights: _Array, epsilon: float, most: int) -> list[Entry]:
    stream = QuantileStream(epsilon, most)
    stream.push_values(values, weights)
    return stream.finish()


@host_kernel("MakeQuantileSummaries", large=True)
def make_summaries(c: OpKernelConstruction) -> Compute:
    """A serialized summary of each feature."""
    columns, epsilon = _Columns(c), float(_F(c["epsilon"]))

    def compute(*inputs: _Array) -> Any:
        most = np.size(inputs[-1]) + 1
        out = []
        for values, weights in columns.read(inputs):
            summary = QuantileSummaryState()
            _write(_summary(values, weights, epsilon, most), summary)
            out.append(_text(summary))
        return tuple(out)

    return compute


@host_kernel("QuantileBuckets", large=True)
def quantile_buckets(c: OpKernelConstruction) -> Compute:
    """The boundaries of each feature."""
    columns = _Columns(c)
    configs: list[QuantileConfig] = []
    for kind in ("dense", "sparse"):
        found = list(c[f"{kind}_config"])
        if len(found) != c[f"num_{kind}_features"]:
            raise invalid_argument(f"Mismatch in number of {kind} quantile configs.")
        wrong = "Malformed QuantileConfig passed in."
        configs += [_parsed(QuantileConfig, [text], wrong) for text in found]

    def compute(*inputs: _Array) -> Any:
        most = max(np.size(inputs[-1]), 1)
        out = []
        for (values, weights), config in zip(
            columns.read(inputs), configs, strict=True
        ):
            if not 0 < config.eps < 1:
                raise invalid_argument("An epsilon value of zero is not allowed.")
            entries = _summary(values, weights, config.eps, most)
            found = weighted_quantiles.boundaries(entries, config.num_quantiles)
            out.append(np.array(found, _F))
        return tuple(out)

    return compute


@host_kernel("Quantiles", large=True)
def quantiles(c: OpKernelConstruction) -> Compute:
    """The bucket and the dimension of each value, int32 [values, 2]."""
    dense, sparse = c["num_dense_features"], c["num_sparse_features"]
    if dense + sparse == 0:
        raise invalid_argument("Please provide at least sparse or dense features.")
    count = dense + sparse

    def compute(*inputs: _Array) -> Any:
        values, buckets, indices = (
            inputs[:count],
            inputs[count : 2 * count],
            inputs[2 * count :],
        )
        for kind, first in (("Dense", 0), ("Sparse", dense)):
            some = buckets[first : first + 1] if kind == "Sparse" or dense else ()
            if some and np.ndim(some[0]) != 1:
                raise invalid_argument(f"{kind} buckets should be flat vectors")
        out = []
        for feature, (numbers, limits) in enumerate(zip(values, buckets, strict=True)):
            places = _bucketized(np.reshape(numbers, -1), limits, feature)
            if feature >= dense:
                places[:, 1] = indices[feature - dense][: len(places), 1]
            out.append(places)
        return tuple(out)

    return compute


def _bucketized(values: _Array, limits: _Array, feature: int) -> _Array:
    if len(values) and not np.size(limits):
        raise invalid_argument(f"Got empty buckets for feature {feature}")
    limits = np.reshape(limits, -1)
    found = np.searchsorted(limits, values, side="left")
    places = np.zeros((len(values), 2), np.int32)
    places[:, 0] = np.minimum(found, max(len(limits) - 1, 0))
    return places
