"""What a LearnerConfig leaves open."""

from __future__ import annotations

from typing import Any

from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

DEFAULT_TREE_DEPTH = 6
DEFAULT_LEARNING_RATE = 0.1


def fill_learner_config(config: LearnerConfig, logits_dimension: int) -> None:
    """Fills in what was left open, in place.

    Args:
      config: how trees are learned.
      logits_dimension: how many logits an example has.

    Raises:
      ValueError: oblivious trees should be pruned after they are grown.
    """
    if config.multi_class_strategy == LearnerConfig.MULTI_CLASS_STRATEGY_UNSPECIFIED:
        config.multi_class_strategy = (
            LearnerConfig.TREE_PER_CLASS
            if logits_dimension == 1
            else LearnerConfig.DIAGONAL_HESSIAN
        )
    if config.growing_mode == LearnerConfig.GROWING_MODE_UNSPECIFIED:
        config.growing_mode = LearnerConfig.LAYER_BY_LAYER
    is_oblivious = config.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE
    if config.pruning_mode == LearnerConfig.PRUNING_MODE_UNSPECIFIED:
        config.pruning_mode = (
            LearnerConfig.PRE_PRUNE if is_oblivious else LearnerConfig.POST_PRUNE
        )
    if is_oblivious and config.pruning_mode == LearnerConfig.POST_PRUNE:
        raise ValueError("Post pruning is not implmented for oblivious decision trees.")
    if config.constraints.max_tree_depth == 0:
        config.constraints.max_tree_depth = DEFAULT_TREE_DEPTH
    if not config.learning_rate_tuner.WhichOneof("tuner"):
        config.learning_rate_tuner.fixed.learning_rate = DEFAULT_LEARNING_RATE


def learning_rate(config: LearnerConfig) -> float:
    """The weight of a new tree. Raises ValueError for a line search."""
    tuner = config.learning_rate_tuner.WhichOneof("tuner")
    if tuner not in ("fixed", "dropout"):
        raise ValueError("Line search learning rate is not yet supported.")
    chosen: Any = getattr(config.learning_rate_tuner, tuner)
    return float(chosen.learning_rate)
