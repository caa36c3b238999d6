"""Estimators of trees for the columns and heads of `tf.contrib.learn`.

With `use_core_libs=True` they take those of `tf.feature_column` and `tf.estimator`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.contrib.boosted_trees.custom_loss_head import CustomLossHead
from tensorloom.contrib.boosted_trees.model_builders import (
    model_builder,
    ranking_model_builder,
)
from tensorloom.contrib.boosted_trees.per_example_losses import (
    per_example_maxent_loss,
    per_example_quantile_regression_loss,
)
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.framework.export import export
from tensorloom.ops.array.identity import identity
from tensorloom.ops.reductions.reductions import reduce_mean

_PACKAGE: Final = "contrib.boosted_trees.estimator_batch.estimator"


def _maxent_loss(n_classes: int) -> Callable[..., Any]:
    """A loss of several classes that can be differentiated twice."""

    def loss_fn(labels: Any, logits: Any, weights: Any = None) -> Any:
        losses, _ = per_example_maxent_loss(labels, weights, logits, n_classes)
        return reduce_mean(losses)

    return loss_fn


@export(f"{_PACKAGE}.GradientBoostedDecisionTreeClassifier")
class GradientBoostedDecisionTreeClassifier(Estimator):
    """Trees that predict classes.

    Args:
      learner_config: a LearnerConfig: how trees are learned.
      examples_per_layer: how many examples make a layer; or a function of the layer's
        number that says so.
      n_classes: how many classes there are.
      num_trees: how many trees are built; None for as many as there are steps for.
      feature_columns: columns that are made of the features; None for the features.
      weight_column_name: the key of the feature that has the weights; None for none.
      model_dir: where checkpoints and events go.
      config: a `RunConfig`.
      label_keys: of more than two classes: their names, if labels are names.
      feature_engineering_fn: from (features, labels) of the input to those of the
        model.
      logits_modifier_function: of logits, features and mode: the logits to use.
      center_bias: whether the first tree is a bias.
      use_core_libs: whether the columns are `tf.feature_column`'s.
      output_leaf_index: whether predictions tell the leaf of each tree, `leaf_index`.
      override_global_step_value: what the global step becomes when all trees are built;
        None to leave it.
      num_quantiles: how many boundaries numbers are split by.

    Raises:
      ValueError: `learner_config` tells of another number of classes.
    """

    def __init__(
        self,
        learner_config: Any,
        examples_per_layer: Any,
        n_classes: int = 2,
        num_trees: int | None = None,
        feature_columns: Any = None,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        use_core_libs: bool = False,
        output_leaf_index: bool = False,
        override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
            loss_fn=_maxent_loss(n_classes) if n_classes > 2 else None,
            label_keys=label_keys,
        )
        if learner_config.num_classes == 0:
            learner_config.num_classes = n_classes
        elif learner_config.num_classes != n_classes:
            raise ValueError(
                f"n_classes ({n_classes}) doesn't match learner_config "
                f"({learner_config.num_classes})."
            )
        super().__init__(
            model_fn=model_builder,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "learner_config": learner_config,
                "num_trees": num_trees,
                "weight_column_name": weight_column_name,
                "examples_per_layer": examples_per_layer,
                "center_bias": center_bias,
                "logits_modifier_function": logits_modifier_function,
                "use_core_libs": use_core_libs,
                "output_leaf_index": output_leaf_index,
                "override_global_step_value": override_global_step_value,
                "num_quantiles": num_quantiles,
            },
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{_PACKAGE}.GradientBoostedDecisionTreeRegressor")
class GradientBoostedDecisionTreeRegressor(Estimator):
    """Trees that predict numbers.

    Args:
      label_dimension: how many numbers an example's label has.
      label_name: the key of the label; None where there is only one.
      output_leaf_index: unused, as in TensorFlow: predictions tell no leaves.
      The others are those of `GradientBoostedDecisionTreeClassifier`.
    """

    def __init__(
        self,
        learner_config: Any,
        examples_per_layer: Any,
        label_dimension: int = 1,
        num_trees: int | None = None,
        feature_columns: Any = None,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        use_core_libs: bool = False,
        output_leaf_index: bool = False,
        override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ) -> None:
        head = regression_head(
            label_name=label_name,
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        learner_config.num_classes = 2 if label_dimension == 1 else label_dimension
        super().__init__(
            model_fn=model_builder,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "learner_config": learner_config,
                "num_trees": num_trees,
                "weight_column_name": weight_column_name,
                "examples_per_layer": examples_per_layer,
                "logits_modifier_function": logits_modifier_function,
                "center_bias": center_bias,
                "use_core_libs": use_core_libs,
                "output_leaf_index": False,
                "override_global_step_value": override_global_step_value,
                "num_quantiles": num_quantiles,
            },
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{_PACKAGE}.GradientBoostedDecisionTreeEstimator")
class GradientBoostedDecisionTreeEstimator(Estimator):
    """Trees with a given head.

    Args:
      head: makes loss, predictions and metrics of logits.
      output_leaf_index: unused, as in TensorFlow: predictions tell no leaves.
      The others are those of `GradientBoostedDecisionTreeClassifier`.
    """

    def __init__(
        self,
        learner_config: Any,
        examples_per_layer: Any,
        head: Any,
        num_trees: int | None = None,
        feature_columns: Any = None,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        use_core_libs: bool = False,
        output_leaf_index: bool = False,
        override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ) -> None:
        super().__init__(
            model_fn=model_builder,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "learner_config": learner_config,
                "num_trees": num_trees,
                "weight_column_name": weight_column_name,
                "examples_per_layer": examples_per_layer,
                "logits_modifier_function": logits_modifier_function,
                "center_bias": center_bias,
                "use_core_libs": use_core_libs,
                "output_leaf_index": False,
                "override_global_step_value": override_global_step_value,
                "num_quantiles": num_quantiles,
            },
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{_PACKAGE}.GradientBoostedDecisionTreeRanker")
class GradientBoostedDecisionTreeRanker(Estimator):
    """Trees that learn from pairs which example ranks higher (LambdaMART).

    Args:
      head: makes loss, predictions and metrics of logits.
      ranking_model_pair_keys: what the names of the left and the right example's
        features begin with: ("a", "b") of `a.f1` and `b.f1`.
      label_keys: unused, as in TensorFlow.
      The others are those of `GradientBoostedDecisionTreeClassifier`.
    """

    def __init__(
        self,
        learner_config: Any,
        examples_per_layer: Any,
        head: Any,
        ranking_model_pair_keys: Sequence[str],
        num_trees: int | None = None,
        feature_columns: Any = None,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = False,
        use_core_libs: bool = False,
        output_leaf_index: bool = False,
        override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ) -> None:
        super().__init__(
            model_fn=ranking_model_builder,
            params={
                "head": head,
                "n_classes": 2,
                "feature_columns": feature_columns,
                "learner_config": learner_config,
                "num_trees": num_trees,
                "weight_column_name": weight_column_name,
                "examples_per_layer": examples_per_layer,
                "center_bias": center_bias,
                "logits_modifier_function": logits_modifier_function,
                "use_core_libs": use_core_libs,
                "output_leaf_index": output_leaf_index,
                "ranking_model_pair_keys": ranking_model_pair_keys,
                "override_global_step_value": override_global_step_value,
                "num_quantiles": num_quantiles,
            },
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{_PACKAGE}.GradientBoostedDecisionTreeQuantileRegressor")
class GradientBoostedDecisionTreeQuantileRegressor(Estimator):
    """Trees that predict a quantile. Regularize the hessian with it.

    Args:
      quantiles: a list of one quantile, in [0, 1].
      label_dimension: how many numbers an example's label has.
      output_leaf_index: unused, as in TensorFlow: predictions tell no leaves.
      The others are those of `GradientBoostedDecisionTreeClassifier`.

    Raises:
      ValueError: there are several quantiles.
    """

    def __init__(
        self,
        learner_config: Any,
        examples_per_layer: Any,
        quantiles: Sequence[float],
        label_dimension: int = 1,
        num_trees: int | None = None,
        feature_columns: Any = None,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        use_core_libs: bool = False,
        output_leaf_index: bool = False,
        override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ) -> None:
        if len(quantiles) > 1:
            raise ValueError("For now, just one quantile per estimator is supported")
        learner_config.num_classes = max(2, label_dimension)
        head = CustomLossHead(
            loss_fn=functools.partial(
                per_example_quantile_regression_loss, quantile=quantiles[0]
            ),
            link_fn=identity,
            logit_dimension=label_dimension,
        )
        super().__init__(
            model_fn=model_builder,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "learner_config": learner_config,
                "num_trees": num_trees,
                "weight_column_name": weight_column_name,
                "examples_per_layer": examples_per_layer,
                "center_bias": center_bias,
                "logits_modifier_function": logits_modifier_function,
                "use_core_libs": use_core_libs,
                "output_leaf_index": False,
                "override_global_step_value": override_global_step_value,
                "num_quantiles": num_quantiles,
            },
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
