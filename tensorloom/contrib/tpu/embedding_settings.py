"""Settings of TPUs' embeddings. Without TPUs, the columns are embedding columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.feature_column.embedding import embedding_column as plain_column
from tensorloom.feature_column.shared_embedding import (
    shared_embedding_columns as plain_columns,
)
from tensorloom.framework.export import export


class _OptimizationParameters:
    """How a table on TPUs is trained.

    Args:
      learning_rate: the rate.
      use_gradient_accumulation: whether a step's gradients of one row are added first.
      clip_weight_min, clip_weight_max: bounds of the weights, or None.
    """

    def __init__(
        self,
        learning_rate: float,
        use_gradient_accumulation: bool,
        clip_weight_min: float | None,
        clip_weight_max: float | None,
    ) -> None:
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max


@export("tpu.experimental.AdagradParameters")
class AdagradParameters(_OptimizationParameters):
    """Adagrad for a table on TPUs. Raises ValueError for an accumulator below 0."""

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max
        )
        if initial_accumulator <= 0:
            raise ValueError("Adagrad initial_accumulator must be positive")
        self.initial_accumulator = initial_accumulator


@export("tpu.experimental.AdamParameters")
class AdamParameters(_OptimizationParameters):
    """Adam for a table on TPUs. Raises ValueError for numbers out of range."""

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max
        )
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise ValueError(f"{name} must be between 0. and 1; got {value}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError(
                "When disabling Lazy Adam, gradient accumulation must be used."
            )
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_adam = lazy_adam
        self.sum_inside_sqrt = sum_inside_sqrt


@export("tpu.experimental.StochasticGradientDescentParameters")
class StochasticGradientDescentParameters(_OptimizationParameters):
    """Gradient descent for a table on TPUs."""

    def __init__(
        self,
        learning_rate: float,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)


@export("tpu.experimental.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    max_sequence_length: int = 0,
    learning_rate_fn: Callable[..., Any] | None = None,
) -> Any:
    """`tf.feature_column.embedding_column`: what this is where there are no TPUs.

    Args:
      categorical_column: of either interface.
      dimension: length of the rows.
      combiner: "mean", "sum" or "sqrtn".
      initializer: of the table.
      max_sequence_length: for TPUs, of sequences; 0 for other features.
      learning_rate_fn: for TPUs.

    Raises:
      ValueError: a dimension below 1, or an initializer that cannot be called.
    """
    return plain_column(categorical_column, dimension, combiner, initializer)


@export("tpu.experimental.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_sequence_lengths: Sequence[int] | None = None,
    learning_rate_fn: Callable[..., Any] | None = None,
) -> Any:
    """`tf.feature_column.shared_embedding_columns`, as where there are no TPUs.

    Args:
      categorical_columns: columns of one kind.
      dimension: length of the rows.
      combiner: "mean", "sum" or "sqrtn".
      initializer: of the table.
      shared_embedding_collection_name: of the table.
      max_sequence_lengths: for TPUs, of sequences.
      learning_rate_fn: for TPUs.
    """
    return plain_columns(
        categorical_columns,
        dimension,
        combiner,
        initializer,
        shared_embedding_collection_name,
    )
