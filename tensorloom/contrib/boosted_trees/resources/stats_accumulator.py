"""Sums of gradients and hessians by leaf and feature, between the steps."""

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

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor

_HANDLE = "stats_accumulator_handle"
# The ends of the names in a checkpoint; the last one has no underscore.
_SAVED = (
    ("stamp_token", "_stamp"),
    ("num_updates", "_num_updates"),
    ("partition_ids", "_partition_ids"),
    ("feature_ids", "_feature_ids"),
    ("gradients", "_gradients"),
    ("hessians", "hessians"),
)


class StatsAccumulatorSaveable(StampedSaveable):
    """The sums of an accumulator.

    Args:
      resource_handle: of the accumulator.
      create_op: makes it.
      is_scalar: whether gradients and hessians are numbers.
      name: of the object.
    """

    def __init__(
        self, resource_handle: Tensor, create_op: Operation, is_scalar: bool, name: str
    ) -> None:
        self._handle = resource_handle
        self._kind = _kind(is_scalar)
        saved = zip((end for _, end in _SAVED), self.serialize(), strict=True)
        super().__init__(
            resource_handle,
            create_op,
            list(saved),
            resource_handle.name,
            name,
            self.deserialize,
        )

    def serialize(self) -> Any:
        """(stamp, updates, partitions, features, gradients, hessians)."""
        return apply_op(f"{self._kind}Serialize", stats_accumulator_handle=self._handle)

    def deserialize(
        self,
        stamp_token: Any,
        num_updates: Any,
        partition_ids: Any,
        feature_ids: Any,
        gradients: Any,
        hessians: Any,
    ) -> Operation:
        """The operation that replaces the sums."""
        values = (
            stamp_token,
            num_updates,
            partition_ids,
            feature_ids,
            gradients,
            hessians,
        )
        named = zip((name for name, _ in _SAVED), values, strict=True)
        replaced: Operation = apply_op(
            f"{self._kind}Deserialize",
            stats_accumulator_handle=self._handle,
            **dict(named),
        )
        return replaced


def _kind(is_scalar: bool) -> str:
    return "StatsAccumulatorScalar" if is_scalar else "StatsAccumulatorTensor"


def _add_scalars(handles: Any, stamp: Any, **slots: Any) -> Operation:
    return _added(True, handles, stamp, slots)


def _add_tensors(handles: Any, stamp: Any, **slots: Any) -> Operation:
    return _added(False, handles, stamp, slots)


def _added(is_scalar: bool, handles: Any, stamp: Any, slots: Any) -> Operation:
    added: Operation = apply_op(
        f"{_kind(is_scalar)}Add",
        stats_accumulator_handles=handles,
        stamp_token=stamp,
        **slots,
    )
    return added


class StatsAccumulator(StampedResource):
    """Adds up gradients and hessians by leaf, feature and dimension.

    `flush` gives the sums and changes the stamp; what is added with an older stamp is
    dropped.

    Args:
      stamp_token: the first stamp, an int64 scalar.
      gradient_shape: TensorShape of a gradient.
      hessian_shape: TensorShape of a hessian.
      name: of the accumulator.
      container: of the resource.
    """

    def __init__(
        self,
        stamp_token: Any,
        gradient_shape: Any,
        hessian_shape: Any,
        name: str | None = None,
        container: str | None = None,
    ) -> None:
        self._is_scalar = gradient_shape.rank == 0 and hessian_shape.rank == 0
        self._kind = kind = _kind(self._is_scalar)
        shapes = {}
        if not self._is_scalar:
            shapes = {
                "per_slot_gradient_shape": gradient_shape.as_list(),
                "per_slot_hessian_shape": hessian_shape.as_list(),
            }

        def create(handle: Tensor) -> Operation:
            made: Operation = apply_op(
                kind.replace("Stats", "CreateStats"),
                stats_accumulator_handle=handle,
                stamp_token=stamp_token,
                **shapes,
            )
            return made

        super().__init__(
            None if name is None else scope_name(name),
            "StatsAccumulator",
            (f"{kind}ResourceHandleOp", f"{kind}IsInitialized", _HANDLE),
            create,
            container,
        )

    def _make_saveable(self) -> StampedSaveable:
        return StatsAccumulatorSaveable(
            self.resource_handle, self.initializer, self._is_scalar, self._name
        )

    def _make_summary(
        self, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any
    ) -> Any:
        return apply_op(
            f"{self._kind}MakeSummary",
            partition_ids=partition_ids,
            feature_ids=feature_ids,
            gradients=gradients,
            hessians=hessians,
        )

    def serialize(self) -> Any:
        """(stamp, updates, partitions, features, gradients, hessians)."""
        return apply_op(
            f"{self._kind}Serialize", stats_accumulator_handle=self.resource_handle
        )

    def _named_summary(self, *slots: Any) -> dict[str, Any]:
        names = [name for name, _ in _SAVED[2:]]
        return dict(zip(names, self._make_summary(*slots), strict=True))

    def add(
        self,
        stamp_token: Any,
        partition_ids: Any,
        feature_ids: Any,
        gradients: Any,
        hessians: Any,
    ) -> Operation:
        """The operation that adds.

        Args:
          stamp_token: dropped if it is not the newest.
          partition_ids: int32 [n], leaves.
          feature_ids: int64 [n, 2], features and their dimensions.
          gradients: float32 [n, ...].
          hessians: float32 [n, ...].
        """
        slots = self._named_summary(partition_ids, feature_ids, gradients, hessians)
        lists = {name: [values] for name, values in slots.items()}
        return _added(self._is_scalar, [self.resource_handle], stamp_token, lists)

    def schedule_add(
        self, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any
    ) -> ScheduledStampedResourceOp:
        """As `add`, together with other accumulators."""
        return ScheduledStampedResourceOp(
            self.resource_handle,
            _add_scalars if self._is_scalar else _add_tensors,
            **self._named_summary(partition_ids, feature_ids, gradients, hessians),
        )

    def flush(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """(updates, partitions, features, gradients, hessians); begins anew."""
        return apply_op(
            f"{self._kind}Flush",
            stats_accumulator_handle=self.resource_handle,
            stamp_token=stamp_token,
            next_stamp_token=next_stamp_token,
        )
