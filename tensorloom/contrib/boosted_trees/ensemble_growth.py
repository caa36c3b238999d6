"""The operation that adds a layer once there are enough examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.boosted_trees.learner_defaults import learning_rate
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape, shape_n
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.reductions import reduce_all
from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

if TYPE_CHECKING:
    from tensorloom.contrib.boosted_trees.training_statistics import GBDTTrainingState


class EnsembleGrowth:
    """Counts examples, and lets an ensemble grow.

    Args:
      handle: of the ensemble.
      config: how trees are learned, filled in.
      center_bias: whether the first tree is a bias.
      variables: the depth of trees; how many are finished; how many were tried.
      state: the resources of training.
      now: the stamp of the ensemble, the seed of its dropout, and the class that the
        tree is of.

    Raises:
      ValueError: the learning rate should be searched for.
    """

    def __init__(
        self,
        handle: Any,
        config: LearnerConfig,
        center_bias: bool,
        variables: tuple[Any, Any, Any],
        state: GBDTTrainingState,
        now: tuple[Any, Any, Any],
    ) -> None:
        self._handle, self._config = handle, config
        self._serialized_config = config.SerializeToString()
        self._learning_rate = learning_rate(config)
        self._center_bias = center_bias
        self._max_depth, self._finalized, self._attempted = variables
        self._state = state
        self._stamp, self._seed, self._class_id = now

    def step(self, predictions: Any, examples_per_layer: Any, is_chief: bool) -> Any:
        """The operation that counts a batch and may add a layer.

        Args:
          predictions: of the batch, [examples, ...].
          examples_per_layer: how many make a layer; or a function of its number.
          is_chief: whether this worker adds layers.
        """
        examples = cast(shape(predictions)[0], dtypes.float32)
        steps = self._state.steps_accumulator
        count = steps.add(self._stamp, [0], [[0, 0]], [examples], [1.0])
        updates: list[Any] = [count]
        with control_dependencies([count]):
            if is_chief:
                *_, seen, steps_done = steps.serialize()
                seen = cast(seen[0], dtypes.int64)
                updates += [
                    self._state.num_layer_examples.assign(seen),
                    self._state.num_layer_steps.assign(
                        cast(steps_done[0], dtypes.int64)
                    ),
                ]
                if callable(examples_per_layer):
                    examples_per_layer = examples_per_layer(self._state.active_layer)
                updates.append(
                    cond(seen >= examples_per_layer, self.update_ensemble, no_op)
                )
        return group(*updates)

    def update_ensemble(self) -> Any:
        """The operation that centers the bias or adds a layer."""
        after = self._stamp + 1
        _, _, _, *bias = self._state.bias_stats_accumulator.flush(self._stamp, after)
        proposed = [
            handler.make_splits(self._stamp, after, self._class_id)
            for handler in self._state.handlers
        ]
        are_ready, *lists = (list(part) for part in zip(*proposed, strict=True))
        # As one tensor of a kind: so the branches below take few.
        sizes = reshape(stack(shape_n(lists[0])), [len(lists[0])])
        leaves, gains, splits = (concat(part, axis=0) for part in lists)
        ready = reduce_all(stack(are_ready, axis=0, name="stack_handler_readiness"))

        def grow_ready() -> Any:
            parts = unstack(sizes, num=len(lists[0]))
            of_splits: Any = parts
            if self._config.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE:
                of_splits = len(lists[0])
            return self._grow(
                after,
                self._learning_rate,
                split(leaves, parts, axis=0),
                split(gains, of_splits, axis=0),
                split(splits, of_splits, axis=0),
            )

        def grow() -> Any:
            return group(
                cond(ready, grow_ready, lambda: self._grow(after, 0, [], [], []))
            )

        if self._center_bias:
            update = cond(
                self._state.continue_centering,
                lambda: self._centered(after, *bias),
                grow,
            )
        else:
            update = grow()
        updates = [ready, update, *self._counted(update, after)]
        updates += self._state.steps_accumulator.flush(self._stamp, after)
        return group(*updates, name="update_ensemble")

    def _centered(self, after: Any, gradients: Any, hessians: Any) -> Any:
        deltas = where(hessians > 0, -gradients / hessians, zeros_like(gradients))
        goes_on = apply_op(
            "CenterTreeEnsembleBias",
            tree_ensemble_handle=self._handle,
            stamp_token=self._stamp,
            next_stamp_token=after,
            delta_updates=deltas,
            learner_config=self._serialized_config,
        )
        return self._state.continue_centering.assign(goes_on).op

    def _grow(
        self, after: Any, rate: float, leaves: Any, gains: Any, splits: Any
    ) -> Any:
        """Adds a layer; without splits, takes the next stamp alone."""
        return apply_op(
            "GrowTreeEnsemble",
            tree_ensemble_handle=self._handle,
            stamp_token=self._stamp,
            next_stamp_token=after,
            learning_rate=rate,
            partition_ids=list(leaves),
            gains=list(gains),
            splits=list(splits),
            learner_config=self._serialized_config,
            dropout_seed=self._seed,
            center_bias=self._center_bias,
            max_tree_depth=self._max_depth,
            weak_learner_type=self._config.weak_learner_type,
        )

    def _counted(self, update: Any, after: Any) -> list[Any]:
        """Assignments of the numbers of trees and layers, after an update."""
        with control_dependencies([update]):
            trees, layers, tree, layer, attempted, _ = apply_op(
                "TreeEnsembleStats",
                tree_ensemble_handle=self._handle,
                stamp_token=after,
            )
            return [
                self._finalized.assign(trees),
                self._attempted.assign(attempted),
                self._state.num_layers.assign(layers),
                self._state.active_tree.assign(tree),
                self._state.active_layer.assign(layer),
            ]
