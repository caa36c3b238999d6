"""What training adds up between two layers: by handlers, for the bias, and in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.boosted_trees.derivatives import (
    column,
    derivative,
    diagonal_hessian,
    example_weights,
    full_hessian,
)
from tensorloom.contrib.boosted_trees.handlers.categorical_handler import (
    EqualitySplitHandler,
)
from tensorloom.contrib.boosted_trees.handlers.ordinal_handlers import (
    DenseSplitHandler,
    SparseSplitHandler,
)
from tensorloom.contrib.boosted_trees.resources.batched_operations import (
    run_handler_scheduled_ops,
)
from tensorloom.contrib.boosted_trees.resources.stats_accumulator import (
    StatsAccumulator,
)
from tensorloom.framework.graph.graph import Operation, device
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones, zeros
from tensorloom.ops.array.reshape import reshape, squeeze
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.comparison import logical_and
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.random.stateless_random import stateless_random_uniform
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig
from tensorloom.summary import summary
from tensorloom.train.device_setter import STANDARD_PS_OPS, replica_device_setter

if TYPE_CHECKING:
    from tensorloom.contrib.boosted_trees.features import TreeFeatures
    from tensorloom.contrib.boosted_trees.handlers.base_handler import BaseSplitHandler

_PS_OPS: Final = (
    *STANDARD_PS_OPS,
    "DecisionTreeEnsembleResourceHandleOp",
    "StatsAccumulatorScalarResourceHandleOp",
    "StatsAccumulatorTensorResourceHandleOp",
)


class GBDTTrainingState(NamedTuple):
    """The resources that training uses."""

    num_layer_examples: Any
    num_layer_steps: Any
    num_layers: Any
    active_tree: Any
    active_layer: Any
    continue_centering: Any
    bias_stats_accumulator: StatsAccumulator
    steps_accumulator: StatsAccumulator
    handlers: list[BaseSplitHandler]


class _TurnsByType:
    """Puts the operations of each type on the servers in turn."""

    def __init__(self, types: tuple[str, ...], servers: int) -> None:
        self._servers = servers
        self._next = {
            kind: index % servers if servers else 0 for index, kind in enumerate(types)
        }

    def __call__(self, op: Operation) -> int:
        """The server of an operation. Raises ValueError for other types."""
        if op.type not in self._next:
            raise ValueError(f"Unknown op type '{op.type}' for placement:")
        server = self._next[op.type]
        self._next[op.type] = (server + 1) % self._servers if self._servers else 0
        return server


class TrainingStatistics:
    """Makes handlers and accumulators, and what adds a batch to them.

    Args:
      features: of the batch.
      config: how trees are learned, filled in.
      logits_dimension: how many logits an example has.
      gradient_shape: of an example.
      hessian_shape: of an example.
      num_quantiles: how many boundaries numbers are split by.
      num_ps_replicas: how many parameter servers there are.
    """

    state: GBDTTrainingState

    def __init__(
        self,
        features: TreeFeatures,
        config: LearnerConfig,
        logits_dimension: int,
        gradient_shape: TensorShape,
        hessian_shape: TensorShape,
        num_quantiles: int,
        num_ps_replicas: int,
    ) -> None:
        self._features, self._config = features, config
        self._dimension = logits_dimension
        self._gradient_shape, self._hessian_shape = gradient_shape, hessian_shape
        self._num_quantiles, self._servers = num_quantiles, num_ps_replicas

    def update(
        self,
        loss: Any,
        predicted: dict[str, Any],
        class_id: Any,
        loss_is_sum: bool,
        center_bias: bool,
        given: tuple[Any, Any],
    ) -> list[Any]:
        """Operations that add a batch.

        Args:
          loss: of the batch, a scalar.
          predicted: of the model's `predict`.
          class_id: the class that the tree is of; -1 for all.
          loss_is_sum: whether the loss is a sum and no mean.
          center_bias: whether the first tree is a bias.
          given: gradients and hessians, or None.

        Raises:
          ValueError: hessians of several classes are given.
        """
        predictions, stamp = predicted["predictions"], predicted["ensemble_stamp"]
        worker = self._features.inputs()[0].device
        gradients, hessians = given
        if gradients is None:
            gradients = derivative(loss, predictions, "Gradients")
        hessians, own = self._derivatives(gradients, hessians, predictions, class_id)
        weights = example_weights(own[1], self._hessian_shape.rank or 0)
        with device(self._device_setter(worker)):
            self.state = self._make_state(loss_is_sum, center_bias)
        self._summarize()
        updates: list[Any] = [
            cond(
                self.state.continue_centering,
                lambda: self._update_bias(stamp, predictions, gradients, hessians),
                no_op,
            )
        ]
        handlers = self.state.handlers
        reads = run_handler_scheduled_ops(
            {handler: handler.scheduled_reads() for handler in handlers}, stamp, worker
        )
        active = self._active_handlers(predicted)
        no_gradients, no_hessians = (
            constant([], dtypes.float32, shape=[1, *shape.as_list()])
            for shape in (self._gradient_shape, self._hessian_shape)
        )
        scheduled = {}
        for handler, is_active in zip(handlers, active, strict=True):
            update, scheduled[handler] = handler.update_stats(
                stamp,
                predicted["partition_ids"],
                *own,
                no_gradients,
                no_hessians,
                weights,
                is_active,
                reads[handler],
            )
            updates.append(update)
        added = run_handler_scheduled_ops(scheduled, stamp, worker)
        return updates + [one for result in added.values() for one in result]

    def _derivatives(
        self, gradients: Any, hessians: Any, predictions: Any, class_id: Any
    ) -> tuple[Any, tuple[Any, Any]]:
        """(hessians, (gradients, hessians) as the handlers take them)."""
        strategy = self._config.multi_class_strategy
        if strategy == LearnerConfig.TREE_PER_CLASS and self._dimension == 1:
            if hessians is None:
                hessians = derivative(gradients, predictions, "Hessian")
            return hessians, (squeeze(gradients, [1]), squeeze(hessians, [1]))
        if hessians is not None:
            raise ValueError("Providing hessians is not yet supported here.")
        make = (
            full_hessian if strategy == LearnerConfig.FULL_HESSIAN else diagonal_hessian
        )
        hessians = make(gradients, predictions, self._dimension)
        if strategy == LearnerConfig.TREE_PER_CLASS:
            return hessians, (column(gradients, class_id), column(hessians, class_id))
        return hessians, (gradients, hessians)

    def _device_setter(self, worker: str) -> Any:
        return replica_device_setter(
            worker_device=worker,
            ps_tasks=self._servers,
            merge_devices=True,
            ps_ops=list(_PS_OPS),
            ps_strategy=_TurnsByType(_PS_OPS, self._servers),
        )

    # --- handlers and accumulators ---------------------------------------------

    def _make_state(self, loss_is_sum: bool, center_bias: bool) -> GBDTTrainingState:
        handlers = self._make_handlers(loss_is_sum)
        numbers = [
            Variable(zeros([], dtypes.int64), name=name, trainable=False)
            for name in (
                "num_layer_examples",
                "num_layer_steps",
                "num_layers",
                "active_tree",
                "active_layer",
            )
        ]
        continues = Variable(center_bias, name="continue_centering", trainable=False)
        scalar = TensorShape([])
        bias = StatsAccumulator(
            0, self._gradient_shape, self._hessian_shape, name="BiasAccumulator"
        )
        steps = StatsAccumulator(0, scalar, scalar, name="StepsAccumulator")
        examples, done, layers, tree, layer = numbers
        return GBDTTrainingState(
            examples, done, layers, tree, layer, continues, bias, steps, handlers
        )

    def _make_handlers(self, loss_is_sum: bool) -> list[BaseSplitHandler]:
        config, regularization = self._config, self._config.regularization
        common = {
            "init_stamp_token": constant(0, dtypes.int64),
            "l1_regularization": constant(regularization.l1, dtypes.float32),
            "l2_regularization": constant(regularization.l2, dtypes.float32),
            "tree_complexity_regularization": constant(
                regularization.tree_complexity, dtypes.float32
            ),
            "min_node_weight": constant(
                config.constraints.min_node_weight, dtypes.float32
            ),
            "loss_uses_sum_reduction": constant(loss_is_sum),
            "gradient_shape": self._gradient_shape,
            "hessian_shape": self._hessian_shape,
        }
        learner = {"weak_learner_type": constant(config.weak_learner_type)}
        common["multiclass_strategy"] = constant(config.multi_class_strategy)
        sketch = {
            "epsilon": 1.0 / self._num_quantiles,
            "num_quantiles": self._num_quantiles,
        }
        names = iter(self._features.names)
        handlers: list[BaseSplitHandler] = []
        kinds: tuple[tuple[Any, str, list[Any], dict[str, Any]], ...] = (
            (
                DenseSplitHandler,
                "dense_float_column",
                self._features.dense,
                {**sketch, **learner},
            ),
            (SparseSplitHandler, "sparse_float_column", self._features.floats, sketch),
            (EqualitySplitHandler, "sparse_int_column", self._features.ids, learner),
        )
        for kind, argument, columns, options in kinds:
            for number, tensor in enumerate(columns):
                handlers.append(
                    kind(
                        **{argument: tensor},
                        feature_column_group_id=constant(number),
                        name=next(names),
                        **common,
                        **options,
                    )
                )
        return handlers

    def _summarize(self) -> None:
        state = self.state
        summary.scalar("layer_stats/num_examples", state.num_layer_examples)
        summary.scalar("layer_stats/num_steps", state.num_layer_steps)
        summary.scalar("ensemble_stats/active_tree", state.active_tree)
        summary.scalar("ensemble_stats/active_layer", state.active_layer)

    def _update_bias(
        self, stamp: Any, predictions: Any, gradients: Any, hessians: Any
    ) -> Any:
        """Adds the sums of all examples."""
        sums = reduce_sum(gradients, 0)
        if hessians is None:
            hessians = derivative(sums, predictions, "Hessians")
        added = self.state.bias_stats_accumulator.add(
            stamp,
            sequence(self._dimension),
            zeros([self._dimension, 2], dtypes.int64),
            sums,
            reduce_sum(hessians, 0),
        )
        return group(added, name="update_bias_stats")

    def _active_handlers(self, predicted: dict[str, Any]) -> list[Any]:
        """Of each handler whether it is used in this layer and the next, bool [2]."""
        count = len(self.state.handlers)
        fraction = self._config.WhichOneof("feature_fraction")
        if fraction == "feature_fraction_per_level":
            seed = predicted["num_layers"]
            drawn = [
                stateless_random_uniform(shape=[count], seed=[layer, 1])
                for layer in (seed, seed + 1)
            ]
            active = stack(drawn, axis=1) < self._config.feature_fraction_per_level
        elif fraction == "feature_fraction_per_tree":
            draws = stateless_random_uniform(
                shape=[count], seed=[predicted["num_trees"], 2]
            )
            now = draws < self._config.feature_fraction_per_tree
            active = stack([now, ones([count], dtypes.bool)], axis=1)
        else:
            active = ones([count, 2], dtypes.bool)
        most = self._config.constraints.max_number_of_unique_feature_columns
        if most:

            def used_ones() -> Any:
                used = reshape(predicted["used_handlers_mask"], [-1, 1])
                return logical_and(concat([used, used], axis=1), active)

            active = cond(
                predicted["num_used_handlers"] >= most, used_ones, lambda: active
            )
        found: list[Any] = unstack(active, num=count, axis=0)
        return found
