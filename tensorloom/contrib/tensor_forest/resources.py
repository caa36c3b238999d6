"""Trees, and what their leaves have seen, that sessions initialize and savers save."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.train.sessions.resources import register_resource


class _Saveable(SaveableObject):
    """The serialized form of a tree or of statistics."""

    def __init__(
        self, handle: Tensor, create: Operation, serialized: Tensor, restore: Any
    ) -> None:
        self._create = create
        self._restore = restore
        specs = [SaveSpec(serialized, "", handle.name)]
        super().__init__(handle, specs, handle.name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """The operation that gives the resource its state back."""
        with control_dependencies([self._create]):
            restored: Operation = self._restore(restored_tensors[0])
        return restored


def _registered(
    handle: Tensor, create: Operation, made: Tensor, serialized: Tensor, restore: Any
) -> Tensor:
    saveable = _Saveable(handle, create, serialized, restore)
    add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
    register_resource(handle, create, made)
    return handle


def tree_variable(
    params: Any,
    tree_config: Any,
    stats_handle: Tensor | None,
    name: str,
    container: str | None = None,
) -> Tensor:
    """The handle of a decision tree, a resource scalar.

    Args:
      params: with `serialized_params_proto`.
      tree_config: a serialized tree to begin with, a string scalar; may be empty.
      stats_handle: unused, as in TensorFlow.
      name: of the tree.
      container: of the resource.
    """
    settings = params.serialized_params_proto
    with name_scope(name, "TreeVariable") as scope:
        handle = apply_op(
            "DecisionTreeResourceHandleOp",
            container=container or "",
            shared_name=scope,
            name=scope,
        )
        create = apply_op(
            "CreateTreeVariable",
            tree_handle=handle,
            tree_config=tree_config,
            params=settings,
        )
        made = apply_op("TreeIsInitializedOp", tree_handle=handle)
        serialized = apply_op("TreeSerialize", tree_handle=handle)
        return _registered(
            handle,
            create,
            made,
            serialized,
            lambda config: apply_op(
                "TreeDeserialize",
                tree_handle=handle,
                tree_config=config,
                params=settings,
            ),
        )


def fertile_stats_variable(
    params: Any, stats_config: Any, name: str, container: str | None = None
) -> Tensor:
    """The handle of a tree's statistics, a resource scalar.

    Args:
      params: with `serialized_params_proto`.
      stats_config: serialized statistics to begin with, a string scalar; may be empty.
      name: of the statistics.
      container: of the resource.
    """
    settings = params.serialized_params_proto
    with name_scope(name, "FertileStatsVariable") as scope:
        handle = apply_op(
            "FertileStatsResourceHandleOp",
            container=container or "",
            shared_name=scope,
            name=scope,
        )
        create = apply_op(
            "CreateFertileStatsVariable",
            stats_handle=handle,
            stats_config=stats_config,
            params=settings,
        )
        made = apply_op("FertileStatsIsInitializedOp", stats_handle=handle)
        serialized = apply_op(
            "FertileStatsSerialize", stats_handle=handle, params=settings
        )
        return _registered(
            handle,
            create,
            made,
            serialized,
            lambda config: apply_op(
                "FertileStatsDeserialize",
                stats_handle=handle,
                stats_config=config,
                params=settings,
            ),
        )
