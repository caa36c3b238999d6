"""Trees that are left out while the next one grows (Vinayak and Gilad-Bachrach,
"DART: Dropouts meet Multiple Additive Regression Trees", 2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.random.philox import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from numpy.typing import NDArray

    from tensorloom.protos.gradient_trees_learner_pb2 import (
        LearningRateDropoutDrivenConfig,
    )

_F = np.float32


def _uniform(seed: int, count: int) -> Iterator[float]:
    """Numbers in [0, 1): 52 bits of each two words of TensorFlow's SimplePhilox."""
    words: NDArray[Any] = Stream(seed & 0xFFFFFFFFFFFFFFFF, 0).words(2 * count)
    for high, low in words.reshape(-1, 2).tolist():
        yield (((high & 0xFFFFF) << 32) | low) / 2.0**52


def dropped_trees(
    seed: int,
    config: LearningRateDropoutDrivenConfig,
    kept: Set[int],
    count: int,
) -> list[int]:
    """The trees, of so many, that are left out; none of those to be kept.

    Raises:
      errors.InvalidArgumentError: a probability is not in [0, 1].
    """
    probability = config.dropout_probability
    skipping = config.probability_of_skipping_dropout
    if not 0 <= probability <= 1:
        raise invalid_argument("Dropout probability must be in [0,1] range")
    if not 0 <= skipping <= 1:
        raise invalid_argument("Probability of skipping dropout must be in [0,1] range")
    if probability == 0 or skipping == 1:
        return []
    rolls = _uniform(seed, count + 1)
    if skipping and next(rolls) < skipping:
        return []
    return [
        tree for tree in range(count) if tree not in kept and next(rolls) < probability
    ]


def new_weights(
    weights: Sequence[float], dropped: Sequence[int], added: int
) -> dict[int, float]:
    """The weights of the trees that change when one was added while some were out."""
    count = len(dropped)
    total = _F(sum(weights[tree] for tree in dropped))
    changed = {added: float(total / _F(count + 1))}
    for tree in dropped:
        changed[tree] = float(_F(weights[tree]) * _F(count) / _F(count + 1))
    return changed
