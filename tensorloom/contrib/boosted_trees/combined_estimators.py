"""Estimators of a neural network and trees that learn what the network leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.boosted_trees.combined_model_fn import CombinedModel
from tensorloom.contrib.boosted_trees.model_builders import ModelBuilderOutputType
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.ops.nn.activation import relu


class DNNBoostedTreeCombinedEstimator(Estimator):
    """A network and trees with a given head.

    Args:
      dnn_hidden_units: of each layer of the network.
      dnn_feature_columns: columns of the network.
      tree_learner_config: a LearnerConfig: how trees are learned.
      num_trees: how many trees are built, after the network was trained.
      tree_examples_per_layer: how many examples make a layer; or a function of the
        layer's number that says so.
      head: makes loss, predictions and metrics of logits.
      model_dir: where checkpoints and events go.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to those of the
        model.
      dnn_optimizer: of the network: a name, an optimizer or a function that makes one.
      dnn_activation_fn: of the network's layers.
      dnn_dropout: which part of the values is dropped in training; none when None.
      dnn_input_layer_partitioner: cuts the variables of the columns.
      dnn_input_layer_to_tree: whether the network's input is a feature of the trees.
      dnn_steps_to_train: how many steps the network is trained.
      predict_with_tree_only: whether predictions are those of the trees alone.
      tree_feature_columns: more columns of the trees.
      tree_center_bias: whether the first tree is a bias.
      dnn_to_tree_distillation_param: (weight, loss function or None) of how far the
        trees are from the network; None for none.
      use_core_versions: whether columns and head are those of `tf.estimator`.
      override_global_step_value: what the global step becomes when all trees are built;
        None to leave it.
    """

    def __init__(
        self,
        dnn_hidden_units: Sequence[int],
        dnn_feature_columns: Any,
        tree_learner_config: Any,
        num_trees: int,
        tree_examples_per_layer: Any,
        head: Any,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        dnn_input_layer_partitioner: Any = None,
        dnn_input_layer_to_tree: bool = True,
        dnn_steps_to_train: int = 10000,
        predict_with_tree_only: bool = False,
        tree_feature_columns: Any = None,
        tree_center_bias: bool = False,
        dnn_to_tree_distillation_param: Any = None,
        use_core_versions: bool = False,
        override_global_step_value: int | None = None,
    ) -> None:
        model = CombinedModel(
            head,
            dnn_hidden_units,
            dnn_feature_columns,
            tree_learner_config,
            num_trees,
            tree_examples_per_layer,
            dnn_optimizer,
            dnn_activation_fn,
            dnn_dropout,
            dnn_input_layer_partitioner,
            dnn_input_layer_to_tree,
            dnn_steps_to_train,
            predict_with_tree_only,
            tree_feature_columns,
            tree_center_bias,
            dnn_to_tree_distillation_param,
            use_core_versions,
            override_global_step_value=override_global_step_value,
        )

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model.model_fn(features, labels, mode, config)

        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNBoostedTreeCombinedClassifier(DNNBoostedTreeCombinedEstimator):
    """A network and trees that predict classes.

    Args:
      n_classes: how many classes there are.
      weight_column_name: the key of the feature that has the weights; None for none.
      label_name: the key of the label; None where there is only one.
      label_keys: of more than two classes: their names, if labels are names.
      The others are those of `DNNBoostedTreeCombinedEstimator`.
    """

    def __init__(
        self,
        dnn_hidden_units: Sequence[int],
        dnn_feature_columns: Any,
        tree_learner_config: Any,
        num_trees: int,
        tree_examples_per_layer: Any,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        label_name: str | None = None,
        label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        dnn_input_layer_partitioner: Any = None,
        dnn_input_layer_to_tree: bool = True,
        dnn_steps_to_train: int = 10000,
        predict_with_tree_only: bool = False,
        tree_feature_columns: Any = None,
        tree_center_bias: bool = False,
        dnn_to_tree_distillation_param: Any = None,
        use_core_versions: bool = False,
        override_global_step_value: int | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes,
            label_name=label_name,
            label_keys=label_keys,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        super().__init__(
            dnn_hidden_units,
            dnn_feature_columns,
            tree_learner_config,
            num_trees,
            tree_examples_per_layer,
            head,
            model_dir,
            config,
            feature_engineering_fn,
            dnn_optimizer,
            dnn_activation_fn,
            dnn_dropout,
            dnn_input_layer_partitioner,
            dnn_input_layer_to_tree,
            dnn_steps_to_train,
            predict_with_tree_only,
            tree_feature_columns,
            tree_center_bias,
            dnn_to_tree_distillation_param,
            use_core_versions,
            override_global_step_value,
        )


class DNNBoostedTreeCombinedRegressor(DNNBoostedTreeCombinedEstimator):
    """A network and trees that predict numbers.

    Args:
      weight_column_name: the key of the feature that has the weights; None for none.
      label_name: the key of the label; None where there is only one.
      label_dimension: how many numbers an example's label has.
      The others are those of `DNNBoostedTreeCombinedEstimator`.
    """

    def __init__(
        self,
        dnn_hidden_units: Sequence[int],
        dnn_feature_columns: Any,
        tree_learner_config: Any,
        num_trees: int,
        tree_examples_per_layer: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        label_name: str | None = None,
        label_dimension: int = 1,
        feature_engineering_fn: Callable[..., Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        dnn_input_layer_partitioner: Any = None,
        dnn_input_layer_to_tree: bool = True,
        dnn_steps_to_train: int = 10000,
        predict_with_tree_only: bool = False,
        tree_feature_columns: Any = None,
        tree_center_bias: bool = False,
        dnn_to_tree_distillation_param: Any = None,
        use_core_versions: bool = False,
        override_global_step_value: int | None = None,
    ) -> None:
        head = regression_head(
            label_name=label_name,
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        tree_learner_config.num_classes = 2 if label_dimension == 1 else label_dimension
        super().__init__(
            dnn_hidden_units,
            dnn_feature_columns,
            tree_learner_config,
            num_trees,
            tree_examples_per_layer,
            head,
            model_dir,
            config,
            feature_engineering_fn,
            dnn_optimizer,
            dnn_activation_fn,
            dnn_dropout,
            dnn_input_layer_partitioner,
            dnn_input_layer_to_tree,
            dnn_steps_to_train,
            predict_with_tree_only,
            tree_feature_columns,
            tree_center_bias,
            dnn_to_tree_distillation_param,
            use_core_versions,
            override_global_step_value,
        )


class CoreDNNBoostedTreeCombinedEstimator(CoreEstimator):
    """A network and trees of the kind of `tf.estimator`, with its heads and columns.

    The arguments are those of `DNNBoostedTreeCombinedEstimator`.
    """

    def __init__(
        self,
        dnn_hidden_units: Sequence[int],
        dnn_feature_columns: Any,
        tree_learner_config: Any,
        num_trees: int,
        tree_examples_per_layer: Any,
        head: Any,
        model_dir: Any = None,
        config: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        dnn_input_layer_partitioner: Any = None,
        dnn_input_layer_to_tree: bool = True,
        dnn_steps_to_train: int = 10000,
        predict_with_tree_only: bool = False,
        tree_feature_columns: Any = None,
        tree_center_bias: bool = False,
        dnn_to_tree_distillation_param: Any = None,
    ) -> None:
        model = CombinedModel(
            head,
            dnn_hidden_units,
            dnn_feature_columns,
            tree_learner_config,
            num_trees,
            tree_examples_per_layer,
            dnn_optimizer,
            dnn_activation_fn,
            dnn_dropout,
            dnn_input_layer_partitioner,
            dnn_input_layer_to_tree,
            dnn_steps_to_train,
            predict_with_tree_only,
            tree_feature_columns,
            tree_center_bias,
            dnn_to_tree_distillation_param,
            use_core_versions=True,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model.model_fn(features, labels, mode, config)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
