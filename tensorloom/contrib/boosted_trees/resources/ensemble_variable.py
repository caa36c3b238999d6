"""Ensembles of trees that sessions initialize and savers save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.contrib.boosted_trees.resources.stamped_resource import (
    StampedResource,
    StampedSaveable,
)
from tensorloom.framework.registry.op_def_library import apply_op

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


class TreeEnsembleVariableSavable(StampedSaveable):
    """The stamp and the trees of an ensemble.

    Args:
      tree_ensemble_handle: of the ensemble.
      create_op: makes it.
      name: of it in checkpoints.
    """

    def __init__(
        self, tree_ensemble_handle: Tensor, create_op: Operation, name: str
    ) -> None:
        stamp, config = apply_op(
            "TreeEnsembleSerialize", tree_ensemble_handle=tree_ensemble_handle
        )
        super().__init__(
            tree_ensemble_handle,
            create_op,
            [("_stamp", stamp), ("_config", config)],
            name,
            name,
            lambda stamp, config: apply_op(
                "TreeEnsembleDeserialize",
                tree_ensemble_handle=tree_ensemble_handle,
                stamp_token=stamp,
                tree_ensemble_config=config,
            ),
        )


class TreeEnsembleVariable(StampedResource):
    """An ensemble of trees.

    Args:
      stamp_token: its first stamp, an int64 scalar.
      tree_ensemble_config: serialized trees to begin with, a string scalar.
      name: of the ensemble.
      container: of the resource.
    """

    _saved_in_scope = True

    def __init__(
        self,
        stamp_token: Any,
        tree_ensemble_config: Any,
        name: str | None,
        container: str | None = None,
    ) -> None:
        super().__init__(
            name,
            "TreeEnsembleVariable",
            (
                "DecisionTreeEnsembleResourceHandleOp",
                "TreeEnsembleIsInitializedOp",
                "tree_ensemble_handle",
            ),
            lambda handle: apply_op(
                "CreateTreeEnsembleVariable",
                tree_ensemble_handle=handle,
                stamp_token=stamp_token,
                tree_ensemble_config=tree_ensemble_config,
            ),
            container,
        )

    def _make_saveable(self) -> StampedSaveable:
        handle = self.resource_handle
        return TreeEnsembleVariableSavable(handle, self.initializer, handle.name)


def tree_ensemble_variable(
    stamp_token: Any,
    tree_ensemble_config: Any,
    name: str | None,
    container: str | None = None,
) -> Tensor:
    """The handle of a new ensemble, a resource scalar.

    Args:
      stamp_token: its first stamp, an int64 scalar.
      tree_ensemble_config: serialized trees to begin with, a string scalar.
      name: of the ensemble.
      container: of the resource.
    """
    variable = TreeEnsembleVariable(stamp_token, tree_ensemble_config, name, container)
    return variable.resource_handle
