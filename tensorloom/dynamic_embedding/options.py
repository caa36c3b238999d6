"""What an embedding variable is made with: first values, admission, eviction."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.ops.state import initializers as init_ops


@dataclass(frozen=True)
class CounterFilter:
    """Admits a key by its `filter_freq`-th update; before that it has no row.

    Args:
      filter_freq: how many updates of a key it takes; 0 and 1 admit all.
      default_value: what keys read that are not admitted.
    """

    filter_freq: int = 0
    default_value: float = 0.0

    def __post_init__(self) -> None:
        if self.filter_freq < 0:
            raise ValueError(f"filter_freq must not be negative: {self.filter_freq}")


@dataclass(frozen=True)
class GlobalStepEvict:
    """Removes the rows that were not updated for so many global steps.

    It is looked for them in updates, four times in `steps_to_live` steps, so that a row
    may stay for a quarter longer.
    """

    steps_to_live: int

    def __post_init__(self) -> None:
        if self.steps_to_live < 1:
            raise ValueError(f"steps_to_live must be positive: {self.steps_to_live}")


def first_values(initializer: Any, name: str) -> dict[str, Any]:
    """The attrs of a table for an initializer of new rows.

    Args:
      initializer: an object or class of `tf.initializers`, or a number.
      name: the variable's, which is the seed where neither the initializer nor the
        graph has one: programs that start again find the same values.

    Raises:
      ValueError: the initializer needs more than a key to say a row.
    """
    if isinstance(initializer, type):
        initializer = initializer()
    seed = getattr(initializer, "seed", None)
    if seed is None:
        graph_seed = get_default_graph().seed or 0
        seed = zlib.crc32(name.encode()) ^ graph_seed
    kind, first, second = _kind(initializer)
    return {
        "initializer": kind,
        # As attrs go to other tasks.
        "first": float(np.float32(first)),
        "second": float(np.float32(second)),
        "seed": int(seed),
    }


def _kind(initializer: Any) -> tuple[str, float, float]:
    if isinstance(initializer, int | float):
        return "constant", initializer, 0.0
    if isinstance(initializer, init_ops.Zeros):
        return "constant", 0.0, 0.0
    if isinstance(initializer, init_ops.Ones):
        return "constant", 1.0, 0.0
    if isinstance(initializer, init_ops.Constant) and np.isscalar(initializer.value):
        value: Any = initializer.value
        return "constant", float(value), 0.0
    if isinstance(initializer, init_ops.RandomUniform):
        most = 1.0 if initializer.maxval is None else initializer.maxval
        return "uniform", initializer.minval, most
    if isinstance(initializer, init_ops.RandomNormal):
        return "normal", initializer.mean, initializer.stddev
    if isinstance(initializer, init_ops.TruncatedNormal):
        return "truncated_normal", initializer.mean, initializer.stddev
    raise ValueError(
        "The rows of an embedding variable begin with a number, or by one of zeros, "
        "ones, constant (of one number), random_uniform, random_normal and "
        f"truncated_normal initializers, not by {initializer!r}"
    )
