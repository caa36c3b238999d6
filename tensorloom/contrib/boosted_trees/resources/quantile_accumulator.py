"""Sketches of the quantiles of features, between the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.contrib.boosted_trees.resources.batched_operations import (
    ScheduledStampedResourceOp,
)
from tensorloom.contrib.boosted_trees.resources.stamped_resource import (
    StampedResource,
    StampedSaveable,
    scope_name,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor

_HANDLE = "quantile_accumulator_handle"


class QuantileAccumulatorSaveable(StampedSaveable):
    """The stream and the boundaries of a sketch.

    Args:
      resource_handle: of the sketch.
      create_op: makes it.
      name: of it in checkpoints.
    """

    def __init__(
        self, resource_handle: Tensor, create_op: Operation, name: str
    ) -> None:
        handle: dict[str, Any] = {_HANDLE: resource_handle}
        parts = apply_op("QuantileAccumulatorSerialize", **handle)
        ends = ("_stamp", "_state", "_are_buckets_ready", "buckets")

        def restore(stamp: Any, state: Any, are_ready: Any, buckets: Any) -> Operation:
            restored: Operation = apply_op(
                "QuantileAccumulatorDeserialize",
                **handle,
                stamp_token=stamp,
                stream_state=state,
                are_buckets_ready=are_ready,
                buckets=buckets,
            )
            return restored

        saved = list(zip(ends, parts, strict=True))
        super().__init__(resource_handle, create_op, saved, name, name, restore)


def _get_buckets(handles: Any, stamp: Any) -> Any:
    return apply_op(
        "QuantileAccumulatorGetBuckets",
        quantile_accumulator_handles=handles,
        stamp_token=stamp,
    )


def _add_summaries(handles: Any, stamp: Any, summaries: Any) -> Operation:
    added: Operation = apply_op(
        "QuantileAccumulatorAddSummaries",
        quantile_accumulator_handles=handles,
        stamp_token=stamp,
        summaries=summaries,
    )
    return added


class QuantileAccumulator(StampedResource):
    """A sketch of the quantiles of a feature.

    Args:
      init_stamp_token: the first stamp, an int64 scalar.
      epsilon: how far off quantiles may be.
      num_quantiles: how many `flush` makes.
      max_elements: of the values that are added; None for 2**40.
      name: of the sketch.
      container: of the resource.
      generate_quantiles: whether there are just that many, even equal ones.
    """

    def __init__(
        self,
        init_stamp_token: Any,
        epsilon: float,
        num_quantiles: int,
        max_elements: int | None = None,
        name: str | None = None,
        container: str | None = None,
        generate_quantiles: bool = False,
    ) -> None:
        self._epsilon = epsilon
        most: dict[str, Any] = {}
        if max_elements is not None:
            most["max_elements"] = max_elements

        def create(handle: Tensor) -> Operation:
            made: Operation = apply_op(
                "CreateQuantileAccumulator",
                quantile_accumulator_handle=handle,
                stamp_token=init_stamp_token,
                epsilon=epsilon,
                num_quantiles=num_quantiles,
                generate_quantiles=generate_quantiles,
                **most,
            )
            return made

        super().__init__(
            scope_name(name or ""),
            "QuantileAccumulator",
            (
                "QuantileStreamResourceHandleOp",
                "QuantileAccumulatorIsInitialized",
                _HANDLE,
            ),
            create,
            container,
        )

    def _make_saveable(self) -> StampedSaveable:
        return QuantileAccumulatorSaveable(
            self.resource_handle, self.initializer, self._name
        )

    def get_buckets(self, stamp_token: Any) -> tuple[Tensor, Tensor]:
        """(whether there are boundaries, the boundaries) of the last flush."""
        are_ready, buckets = _get_buckets([self.resource_handle], stamp_token)
        return are_ready[0], buckets[0]

    def schedule_get_buckets(self) -> ScheduledStampedResourceOp:
        """As `get_buckets`, together with other sketches."""
        return ScheduledStampedResourceOp(self.resource_handle, _get_buckets)

    def _make_summary(self, column: Any, example_weights: Any) -> Tensor:
        sparse = isinstance(column, SparseTensor)
        summaries = apply_op(
            "MakeQuantileSummaries",
            dense_float_features=[] if sparse else [column],
            sparse_float_feature_indices=[column.indices] if sparse else [],
            sparse_float_feature_values=[column.values] if sparse else [],
            sparse_float_feature_shapes=[column.dense_shape] if sparse else [],
            example_weights=example_weights,
            epsilon=self._epsilon / 2,
        )
        summary: Tensor = summaries[1 if sparse else 0][0]
        return summary

    def add_summary(
        self, stamp_token: Any, column: Any, example_weights: Any
    ) -> Operation:
        """The operation that adds the values of a column.

        Args:
          stamp_token: dropped if it is not the newest.
          column: float32 [n, 1], or a SparseTensor of floats.
          example_weights: float32 [n, 1].
        """
        summary = self._make_summary(column, example_weights)
        return self.add_prebuilt_summary(stamp_token, summary)

    def add_prebuilt_summary(self, stamp_token: Any, summary: Any) -> Operation:
        """The operation that adds a serialized summary."""
        return _add_summaries([self.resource_handle], stamp_token, [summary])

    def schedule_add_summary(
        self, stamp_token: Any, column: Any, example_weights: Any
    ) -> ScheduledStampedResourceOp:
        """As `add_summary`, together with other sketches, whose stamp is used."""
        return ScheduledStampedResourceOp(
            self.resource_handle,
            _add_summaries,
            summaries=self._make_summary(column, example_weights),
        )

    def _flushed(self, op: str, stamp: Any, after: Any) -> Any:
        handle: dict[str, Any] = {_HANDLE: self.resource_handle}
        return apply_op(op, **handle, stamp_token=stamp, next_stamp_token=after)

    def flush(self, stamp_token: Any, next_stamp_token: Any) -> Operation:
        """The operation that makes boundaries; the sketch begins anew."""
        flushed: Operation = self._flushed(
            "QuantileAccumulatorFlush", stamp_token, next_stamp_token
        )
        return flushed

    def flush_summary(self, stamp_token: Any, next_stamp_token: Any) -> Tensor:
        """The serialized summary; the sketch begins anew."""
        summary: Tensor = self._flushed(
            "QuantileAccumulatorFlushSummary", stamp_token, next_stamp_token
        )
        return summary
