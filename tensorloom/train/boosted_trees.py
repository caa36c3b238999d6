"""Tree ensembles and quantile sketches that sessions initialize and savers save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.array import array_ops
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.train.sessions.resources import register_resource


class PruningMode:
    """Whether leaves that gain too little are removed, and when."""

    NO_PRUNING: Final = 0
    PRE_PRUNING: Final = 1
    POST_PRUNING: Final = 2

    _BY_NAME: Final = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The mode called "none", "pre" or "post". Raises ValueError for others."""
        found = cls._BY_NAME.get(mode)
        if found is None:
            known = ", ".join(sorted(cls._BY_NAME))
            raise ValueError(f"pruning_mode mode must be one of: {known}")
        return found


class _TreeResource(Trackable):
    """What both kinds share: a handle, and an operation that makes the resource."""

    _handle: Tensor
    _create: Operation

    @property
    def resource_handle(self) -> Tensor:
        """The handle, a resource scalar."""
        return self._handle

    @property
    def initializer(self) -> Operation:
        """The operation that makes the resource."""
        return self._create


class QuantileAccumulatorSaveable(SaveableObject):
    """The bucket boundaries of each stream, which a saver saves."""

    def __init__(
        self, resource_handle: Tensor, create_op: Operation, num_streams: int, name: str
    ) -> None:
        self._create = create_op
        boundaries = _bucket_boundaries(resource_handle, num_streams)
        specs = [
            SaveSpec(tensor, "", f"{name}_bucket_boundaries_{stream}")
            for stream, tensor in enumerate(boundaries)
        ]
        super().__init__(resource_handle, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """The operation that gives the streams their boundaries back."""
        with control_dependencies([self._create]):
            restored: Operation = apply_op(
                "BoostedTreesQuantileStreamResourceDeserialize",
                quantile_stream_resource_handle=self.op,
                bucket_boundaries=restored_tensors,
            )
        return restored


class QuantileAccumulator(_TreeResource):
    """Streams of quantile sketches, one for each feature.

    Args:
      epsilon: how far off the quantiles may be.
      num_streams: how many features.
      num_quantiles: how many buckets `flush` makes.
      name: of the resource.
      max_elements: unused, as in TensorFlow.
    """

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: Any,
        name: str | None = None,
        max_elements: int | None = None,
    ) -> None:
        self._epsilon = epsilon
        self._num_streams = num_streams
        self._num_quantiles = num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            self._handle = apply_op(
                "BoostedTreesQuantileStreamResourceHandleOp",
                shared_name=scope,
                name=scope,
            )
            self._create = apply_op(
                "BoostedTreesCreateQuantileStreamResource",
                quantile_stream_resource_handle=self._handle,
                epsilon=epsilon,
                num_streams=num_streams,
            )
            made = self.is_initialized()
        register_resource(self._handle, self._create, made)
        self._saveable = QuantileAccumulatorSaveable(
            self._handle, self._create, num_streams, self._handle.name
        )
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def saveable(self) -> QuantileAccumulatorSaveable:
        """What a saver saves of it."""
        return self._saveable

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"quantile_accumulator": lambda name: self._saveable}

    def is_initialized(self) -> Tensor:
        """Whether the streams were made, a bool scalar."""
        made: Tensor = apply_op(
            "IsBoostedTreesQuantileStreamResourceInitialized",
            quantile_stream_resource_handle=self._handle,
        )
        return made

    def add_summaries(self, float_columns: Sequence[Any], example_weights: Any) -> Any:
        """Adds a batch: a float vector for each feature, and the examples' weights."""
        summaries = apply_op(
            "BoostedTreesMakeQuantileSummaries",
            float_values=float_columns,
            example_weights=example_weights,
            epsilon=self._epsilon,
        )
        return apply_op(
            "BoostedTreesQuantileStreamResourceAddSummaries",
            quantile_stream_resource_handle=self._handle,
            summaries=summaries,
        )

    def flush(self) -> Any:
        """Makes bucket boundaries from what was added; the streams begin anew."""
        return apply_op(
            "BoostedTreesQuantileStreamResourceFlush",
            quantile_stream_resource_handle=self._handle,
            num_buckets=self._num_quantiles,
        )

    def get_bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of each feature, float vectors."""
        return _bucket_boundaries(self._handle, self._num_streams)


def _bucket_boundaries(handle: Tensor, streams: int) -> list[Tensor]:
    boundaries: list[Tensor] = apply_op(
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
        quantile_stream_resource_handle=handle,
        num_features=streams,
    )
    return boundaries


class _TreeEnsembleSaveable(SaveableObject):
    """The stamp and the trees of an ensemble, which a saver saves."""

    def __init__(
        self, resource_handle: Tensor, create_op: Operation, name: str
    ) -> None:
        self._create = create_op
        stamp, trees = _serialized(resource_handle)
        specs = [
            SaveSpec(stamp, "", name + "_stamp"),
            SaveSpec(trees, "", name + "_serialized"),
        ]
        super().__init__(resource_handle, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """The operation that gives the ensemble its stamp and trees back."""
        stamp, trees = restored_tensors
        with control_dependencies([self._create]):
            return _deserialize(self.op, stamp, trees)


class TreeEnsemble(_TreeResource):
    """An ensemble of boosted trees.

    Args:
      name: of the resource.
      stamp_token: the first value of its counter of changes.
      is_local: each worker has one of its own, which is not saved.
      serialized_proto: a TreeEnsemble message to begin with.
    """

    def __init__(
        self,
        name: str | None,
        stamp_token: Any = 0,
        is_local: bool = False,
        serialized_proto: Any = "",
    ) -> None:
        self._is_local = is_local
        with name_scope(name, "TreeEnsemble") as scope:
            self._handle = apply_op(
                "BoostedTreesEnsembleResourceHandleOp", shared_name=scope, name=scope
            )
            self._create = apply_op(
                "BoostedTreesCreateEnsemble",
                tree_ensemble_handle=self._handle,
                stamp_token=stamp_token,
                tree_ensemble_serialized=serialized_proto,
            )
            made = self.is_initialized()
            if not is_local:
                self._saveable = _TreeEnsembleSaveable(
                    self._handle, self._create, self._handle.name
                )
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
            register_resource(self._handle, self._create, made, is_shared=not is_local)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        if self._is_local:
            return {}
        return {"tree_ensemble": lambda name: self._saveable}

    def is_initialized(self) -> Tensor:
        """Whether the ensemble was made, a bool scalar."""
        made: Tensor = apply_op(
            "IsBoostedTreesEnsembleInitialized", tree_ensemble_handle=self._handle
        )
        return made

    def get_stamp_token(self) -> Tensor:
        """How often the ensemble was changed, an int64 scalar."""
        return self._states()[0]

    def get_states(self) -> tuple[Tensor, ...]:
        """(stamp, trees, finished trees, tried layers, range of the last layer)."""
        names = (
            "stamp_token",
            "num_trees",
            "num_finalized_trees",
            "num_attempted_layers",
            "last_layer_nodes_range",
        )
        states = self._states()
        return tuple(
            array_ops.identity(state, name=name)
            for state, name in zip(states, names, strict=True)
        )

    def _states(self) -> Sequence[Tensor]:
        states: Sequence[Tensor] = apply_op(
            "BoostedTreesGetEnsembleStates", tree_ensemble_handle=self._handle
        )
        return states

    def serialize(self) -> tuple[Tensor, Tensor]:
        """(stamp, TreeEnsemble message): an int64 and a string scalar."""
        return _serialized(self._handle)

    def deserialize(self, stamp_token: Any, serialized_proto: Any) -> Operation:
        """The operation that replaces the ensemble by a TreeEnsemble message."""
        return _deserialize(self._handle, stamp_token, serialized_proto)


def _serialized(handle: Tensor) -> tuple[Tensor, Tensor]:
    stamp, trees = apply_op(
        "BoostedTreesSerializeEnsemble", tree_ensemble_handle=handle
    )
    return stamp, trees


def _deserialize(handle: Tensor, stamp: Any, trees: Any) -> Operation:
    operation: Operation = apply_op(
        "BoostedTreesDeserializeEnsemble",
        tree_ensemble_handle=handle,
        stamp_token=stamp,
        tree_ensemble_serialized=trees,
    )
    return operation
