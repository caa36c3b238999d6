"""What a user says of the trees: how many, how deep, how they are held back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tensorloom.train.boosted_trees import PruningMode


@dataclass(frozen=True)
class TreeOptions:
    """Options of growing.

    Raises:
      ValueError: pruning without a price of leaves, or the reverse.
    """

    n_trees: int
    max_depth: int
    learning_rate: float
    l1_regularization: float
    l2_regularization: float
    # What each leaf must gain to stay.
    tree_complexity: float
    # The least sum of second derivatives on each side of a split.
    min_node_weight: float
    # Whether the first node gives what the labels are on average.
    center_bias: bool
    pruning_mode: str
    # How far off the quantiles of floats may be; one part is a bucket.
    quantile_sketch_epsilon: float

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> TreeOptions:
        """The options among all arguments of a model, which have these names."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    @property
    def num_quantiles(self) -> int:
        """How many buckets a float becomes."""
        return int(1.0 / self.quantile_sketch_epsilon)

    @property
    def max_splits(self) -> int:
        """The most inner nodes of a tree."""
        return (1 << self.max_depth) - 1

    def parsed_pruning(self) -> int:
        """The pruning mode as the ops take it. Raises ValueError if it is none."""
        mode = PruningMode.from_str(self.pruning_mode)
        if self.tree_complexity > 0:
            if mode == PruningMode.NO_PRUNING:
                raise ValueError(
                    "Tree complexity have no effect unless pruning mode is chosen."
                )
        elif mode != PruningMode.NO_PRUNING:
            raise ValueError("For pruning, tree_complexity must be positive.")
        return mode
