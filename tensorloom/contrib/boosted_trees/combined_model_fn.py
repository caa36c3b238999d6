"""The model function of a neural network and trees: the trees learn what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.program import program_log
from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.boosted_trees.distillation_loss import (
    create_dnn_to_tree_cross_entropy_loss_fn,
)
from tensorloom.contrib.boosted_trees.model_builders import ModelBuilderOutputType
from tensorloom.contrib.boosted_trees.resources.ensemble_variable import (
    tree_ensemble_variable,
)
from tensorloom.contrib.boosted_trees.trainer_hooks import (
    StopAfterNTrees,
    SwitchTrainOp,
)
from tensorloom.contrib.boosted_trees.tree_model import (
    PREDICTIONS,
    GradientBoostedDecisionTreeModel,
)
from tensorloom.contrib.layers.columns.input_layers import input_from_feature_columns
from tensorloom.contrib.layers.columns.real_valued import real_valued_column
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.shaping import dropout as drop
from tensorloom.contrib.layers.training_step import optimize_loss
from tensorloom.contrib.learn.head.weights import weight_tensor
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.framework.graph.graph import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    device,
    get_collection,
    name_scope,
)
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.summary import summary
from tensorloom.train import training_util

_LEARNING_RATE: Final = 0.001
_SCOPE: Final = "dnn"
_INPUT: Final = "dnn_input_layer"


@dataclass
class CombinedModel:
    """What a combined model is made of; as the Estimators take it.

    Raises:
      ValueError: there are no columns for the network.
    """

    head: Any
    dnn_hidden_units: Sequence[int]
    dnn_feature_columns: Any
    tree_learner_config: Any
    num_trees: int
    tree_examples_per_layer: Any
    dnn_optimizer: Any
    dnn_activation_fn: Any
    dnn_dropout: float | None
    dnn_input_layer_partitioner: Any
    dnn_input_layer_to_tree: bool
    dnn_steps_to_train: int
    predict_with_tree_only: bool
    tree_feature_columns: Any
    tree_center_bias: bool
    dnn_to_tree_distillation_param: Any
    use_core_versions: bool
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS
    override_global_step_value: int | None = None

    def model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        """The model function.

        Args:
          features: tensors by their names.
          labels: of the examples.
          mode: a `ModeKeys`.
          config: a `RunConfig`.

        Raises:
          ValueError: features are no dict, the network has no columns, or an
            EstimatorSpec is wanted of `tf.contrib.learn`'s columns.
        """
        if not isinstance(features, dict):
            raise ValueError(
                "features should be a dictionary of `Tensor`s. Given type: "
                f"{type(features)}"
            )
        if not self.dnn_feature_columns:
            raise ValueError("dnn_feature_columns must be specified")
        makes_spec = self.output_type == ModelBuilderOutputType.ESTIMATOR_SPEC
        if makes_spec and not self.use_core_versions:
            raise ValueError("You must use core versions with Estimator Spec")
        trees_only = self.predict_with_tree_only
        if self.dnn_to_tree_distillation_param and not trees_only:
            program_log.warning(
                "update predict_with_tree_only to True since distillation is specified."
            )
            trees_only = True
        return _Graph(self, features, labels, mode, config, trees_only).results()


class _Graph:
    """The graph of one call of the model function."""

    def __init__(
        self,
        model: CombinedModel,
        features: dict[str, Any],
        labels: Any,
        mode: str,
        config: Any,
        trees_only: bool,
    ) -> None:
        self._model, self._features, self._labels = model, features, labels
        self._mode, self._config, self._trees_only = mode, config, trees_only
        self._step = training_util.get_global_step()

    def results(self) -> Any:
        """What the model function gives."""
        model = self._model
        dnn_logits, dnn_train = self._network()
        trees, features, predicted = self._trees()
        tree_logits = predicted[PREDICTIONS]
        if not self._trees_only:
            logits = dnn_logits + tree_logits
        elif self._mode == ModeKeys.EVAL:
            logits = cond(
                self._step > model.dnn_steps_to_train,
                lambda: tree_logits,
                lambda: dnn_logits,
            )
        else:
            logits = tree_logits

        def tree_train(loss: Any) -> Any:
            loss = loss + self._distillation(dnn_logits, tree_logits)
            update = trees.train(loss, predicted, self._labels)
            with control_dependencies([update]), colocate_with(self._step):
                return assign_add(self._step, 1).op

        made = self._headed(self._features, lambda loss: no_op(), logits)
        if self._mode != ModeKeys.TRAIN:
            return made
        dnn_op = self._headed(self._features, dnn_train, dnn_logits).train_op
        tree_op = self._headed(features, tree_train, logits).train_op
        finalized, attempted = trees.get_number_of_trees_tensor()
        hooks = [
            SwitchTrainOp(dnn_op, model.dnn_steps_to_train, tree_op),
            StopAfterNTrees(
                model.num_trees + int(model.tree_center_bias),
                attempted,
                finalized,
                model.override_global_step_value,
            ),
        ]
        if model.output_type == ModelBuilderOutputType.ESTIMATOR_SPEC:
            return made._replace(training_hooks=hooks + list(made.training_hooks))
        made.training_hooks.extend(hooks)
        return made

    def _headed(self, features: Any, train_op_fn: Any, logits: Any) -> Any:
        head = self._model.head
        if self._model.output_type == ModelBuilderOutputType.ESTIMATOR_SPEC:
            make = head.create_estimator_spec
        else:
            make = head.create_model_fn_ops
        return make(
            features=features,
            mode=self._mode,
            labels=self._labels,
            train_op_fn=train_op_fn,
            logits=logits,
        )

    # --- the network -----------------------------------------------------------

    def _network(self) -> tuple[Any, Callable[[Any], Any]]:
        """(logits, a function of a loss that makes the training operation)."""
        values = tuple(self._features.values())
        partitioner = (
            self._model.dnn_input_layer_partitioner
            or min_max_variable_partitioner(
                max_partitions=self._config.num_ps_replicas, min_slice_size=64 << 20
            )
        )
        with variable_scope(_SCOPE, values=values, partitioner=partitioner):
            with variable_scope(
                "input_from_feature_columns", values=values, partitioner=partitioner
            ) as scope:
                self._input = self._input_layer(scope)
            if self._trees_only and self._mode == ModeKeys.INFER:
                return constant(0.0), lambda loss: no_op()
            if self._trees_only and self._mode == ModeKeys.EVAL:
                logits = cond(
                    self._step > self._model.dnn_steps_to_train,
                    lambda: constant(0.0),
                    self._network_logits,
                )
                return logits, lambda loss: no_op()
            return self._network_logits(), self._network_step

    def _input_layer(self, scope: Any) -> Any:
        if self._model.use_core_versions:
            return input_layer(
                features=self._features,
                feature_columns=self._model.dnn_feature_columns,
                weight_collections=[_SCOPE],
            )
        return input_from_feature_columns(
            columns_to_tensors=self._features,
            feature_columns=self._model.dnn_feature_columns,
            weight_collections=[_SCOPE],
            scope=scope,
        )

    def _network_logits(self) -> Any:
        model, net = self._model, self._input
        for index, units in enumerate(model.dnn_hidden_units):
            with variable_scope(f"hiddenlayer_{index}", values=(net,)) as scope:
                net = fully_connected(
                    net,
                    units,
                    activation_fn=model.dnn_activation_fn,
                    variables_collections=[_SCOPE],
                    scope=scope,
                )
                if model.dnn_dropout is not None and self._mode == ModeKeys.TRAIN:
                    net = drop(net, keep_prob=1.0 - model.dnn_dropout)
            _summarize(net, scope.name)
        with variable_scope("logits", values=(net,)) as scope:
            logits = fully_connected(
                net,
                model.head.logits_dimension,
                activation_fn=None,
                variables_collections=[_SCOPE],
                scope=scope,
            )
        _summarize(logits, scope.name)
        return logits

    def _network_step(self, loss: Any) -> Any:
        optimizer = self._model.dnn_optimizer
        return optimize_loss(
            loss=loss,
            global_step=training_util.get_global_step(),
            learning_rate=_LEARNING_RATE,
            optimizer=optimizer() if callable(optimizer) else optimizer,
            name=_SCOPE,
            variables=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=_SCOPE),
            summaries=[],
        )

    # --- the trees -------------------------------------------------------------

    def _trees(self) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """(the model, its features, what it predicts)."""
        model = self._model
        with device(self._step.device):
            handle = tree_ensemble_variable(
                stamp_token=0, tree_ensemble_config="", name="ensemble_model"
            )
        features = self._features.copy()
        columns = model.tree_feature_columns
        if model.dnn_input_layer_to_tree:
            features[_INPUT] = self._input
            columns = [*(columns or ()), real_valued_column(_INPUT)]
        trees = GradientBoostedDecisionTreeModel(
            is_chief=self._config.is_chief,
            num_ps_replicas=self._config.num_ps_replicas,
            ensemble_handle=handle,
            center_bias=model.tree_center_bias,
            examples_per_layer=model.tree_examples_per_layer,
            learner_config=model.tree_learner_config,
            feature_columns=columns,
            logits_dimension=model.head.logits_dimension,
            features=features,
            use_core_columns=model.use_core_versions,
        )
        with name_scope("gbdt"):
            return trees, features, trees.predict(self._mode)

    def _distillation(self, dnn_logits: Any, tree_logits: Any) -> Any:
        """How far the trees are from the network, weighed; 0 without distillation."""
        if not self._model.dnn_to_tree_distillation_param:
            return 0.0
        weight, loss_fn = self._model.dnn_to_tree_distillation_param
        head = self._model.head
        if self._model.use_core_versions:
            column = getattr(head, "_weight_column", None)
        else:
            column = head.weight_column_name
        if loss_fn is None:
            dimension = head.logits_dimension
            loss_fn = create_dnn_to_tree_cross_entropy_loss_fn(
                2 if dimension == 1 else dimension
            )
        loss = weight * loss_fn(
            stop_gradient(dnn_logits),
            tree_logits,
            weight_tensor(self._features, column),
        )
        summary.scalar("dnn_to_tree_distillation_loss", loss)
        return loss


def _summarize(value: Any, tag: str) -> None:
    summary.scalar(f"{tag}_fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{tag}_activation", value)
