"""Boosted trees that grow from data that are one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorloom.data.dataset import Dataset
from tensorloom.estimator.boosted_trees.estimators import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
)
from tensorloom.framework.export import export


def _repeated(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """Each layer of a tree reads the data once more."""

    def repeat() -> Any:
        data = input_fn()
        return data.repeat() if isinstance(data, Dataset) else data

    return repeat


@export("contrib.estimator.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """A trained `tf.estimator.BoostedTreesClassifier`.

    Args:
      train_input_fn: gives features and labels; all examples are one batch.
      train_hooks: session hooks of the training.
      feature_columns, model_dir, n_classes, weight_column, label_vocabulary, n_trees,
        max_depth, learning_rate, l1_regularization, l2_regularization,
        tree_complexity, min_node_weight, config, center_bias, pruning_mode,
        quantile_sketch_epsilon: of the Estimator.

    Raises:
      ValueError: an argument has an impossible value.
    """
    model = BoostedTreesClassifier(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    model.train(_repeated(train_input_fn), hooks=train_hooks)
    return model


@export("contrib.estimator.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """A trained `tf.estimator.BoostedTreesRegressor`.

    Args:
      train_input_fn: gives features and labels; all examples are one batch.
      train_hooks: session hooks of the training.
      feature_columns, model_dir, label_dimension, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon:
        of the Estimator.

    Raises:
      ValueError: an argument has an impossible value.
    """
    model = BoostedTreesRegressor(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        label_dimension=label_dimension,
        weight_column=weight_column,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    model.train(_repeated(train_input_fn), hooks=train_hooks)
    return model
