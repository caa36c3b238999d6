"""Estimators of trees of the kind of `tf.estimator`, with its heads and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.contrib.boosted_trees.heads import core_quantile_regression_head
from tensorloom.contrib.boosted_trees.model_builders import (
    ModelBuilderOutputType,
    model_builder,
    ranking_model_builder,
)
from tensorloom.estimator.estimator import Estimator
from tensorloom.framework.export import export

_PACKAGE: Final = "contrib.boosted_trees.estimator_batch.estimator"


def _model_fn(
    builder: Callable[..., Any], params: dict[str, Any]
) -> Callable[..., Any]:
    """A model function for `tf.estimator.Estimator`."""
    params = {**params, "use_core_libs": True, "override_global_step_value": None}

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        return builder(
            features=features,
            labels=labels,
            mode=mode,
            config=config,
            params=params,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )

    return model_fn


@export(f"{_PACKAGE}.CoreGradientBoostedDecisionTreeEstimator")
class CoreGradientBoostedDecisionTreeEstimator(Estimator):
    """Trees with a given head.

    Args:
      learner_config: a LearnerConfig: how trees are learned.
      examples_per_layer: how many examples make a layer; or a function of the layer's
        number that says so.
      head: makes loss, predictions and metrics of logits.
      num_trees: how many trees are built; None for as many as there are steps for.
      feature_columns: columns that are made of the features; None for the features.
      weight_column_name: the key of the feature that has the weights; None for none.
      model_dir: where checkpoints and events go.
      config: a `RunConfig`.
      label_keys: unused, as in TensorFlow.
      feature_engineering_fn: unused, as in TensorFlow.
      logits_modifier_function: of logits, features and mode: the logits to use.
      center_bias: whether the first tree is a bias.
      output_leaf_index: whether predictions tell the leaf of each tree, `leaf_index`.
      num_quantiles: how many boundaries numbers are split by.
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
        label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        output_leaf_index: bool = False,
        num_quantiles: int = 100,
    ) -> None:
        params = {
            "head": head,
            "feature_columns": feature_columns,
            "learner_config": learner_config,
            "num_trees": num_trees,
            "weight_column_name": weight_column_name,
            "examples_per_layer": examples_per_layer,
            "center_bias": center_bias,
            "logits_modifier_function": logits_modifier_function,
            "output_leaf_index": output_leaf_index,
            "num_quantiles": num_quantiles,
        }
        super().__init__(
            model_fn=_model_fn(model_builder, params),
            model_dir=model_dir,
            config=config,
        )


@export(f"{_PACKAGE}.CoreGradientBoostedDecisionTreeRanker")
class CoreGradientBoostedDecisionTreeRanker(Estimator):
    """Trees that learn from pairs which example ranks higher (LambdaMART).

    Args:
      ranking_model_pair_keys: what the names of the left and the right example's
        features begin with: ("a", "b") of `a.f1` and `b.f1`.
      The others are those of `CoreGradientBoostedDecisionTreeEstimator`.
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
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = False,
        output_leaf_index: bool = False,
        num_quantiles: int = 100,
    ) -> None:
        params = {
            "head": head,
            "n_classes": 2,
            "feature_columns": feature_columns,
            "learner_config": learner_config,
            "num_trees": num_trees,
            "weight_column_name": weight_column_name,
            "examples_per_layer": examples_per_layer,
            "center_bias": center_bias,
            "logits_modifier_function": logits_modifier_function,
            "output_leaf_index": output_leaf_index,
            "ranking_model_pair_keys": ranking_model_pair_keys,
            "num_quantiles": num_quantiles,
        }
        super().__init__(
            model_fn=_model_fn(ranking_model_builder, params),
            model_dir=model_dir,
            config=config,
        )


@export(f"{_PACKAGE}.CoreGradientBoostedDecisionTreeQuantileRegressor")
class CoreGradientBoostedDecisionTreeQuantileRegressor(Estimator):
    """Trees that predict a quantile. Regularize the hessian with it.

    Args:
      quantiles: a list of one quantile, in [0, 1].
      label_dimension: how many numbers an example's label has.
      The others are those of `CoreGradientBoostedDecisionTreeEstimator`.

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
        label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None,
        center_bias: bool = True,
        output_leaf_index: bool = False,
        num_quantiles: int = 100,
    ) -> None:
        if len(quantiles) > 1:
            raise ValueError("For now, just one quantile per estimator is supported")
        head = core_quantile_regression_head(
            quantiles[0],
            label_dimension=label_dimension,
            weight_column=weight_column_name,
        )
        params = {
            "head": head,
            "feature_columns": feature_columns,
            "learner_config": learner_config,
            "num_trees": num_trees,
            "weight_column_name": weight_column_name,
            "examples_per_layer": examples_per_layer,
            "center_bias": center_bias,
            "logits_modifier_function": logits_modifier_function,
            "output_leaf_index": output_leaf_index,
            "num_quantiles": num_quantiles,
        }
        super().__init__(
            model_fn=_model_fn(model_builder, params),
            model_dir=model_dir,
            config=config,
        )
