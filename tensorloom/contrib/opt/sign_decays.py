"""How the signs' part of a step decays: functions of the global step, from 1 to 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math.binary import floormod, maximum, minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater_equal
from tensorloom.ops.math.elementwise import cos

Decay = Callable[[Any], Any]


def _fraction(global_step: Any, decay_steps: Any, what: str) -> Any:
    """How much of the decay is over."""
    if global_step is None:
        raise ValueError(f"global_step is required for {what}.")
    return minimum(global_step, decay_steps)


def get_linear_decay_fn(decay_steps: Any) -> Decay:
    """A function that falls in a line.

    Args:
      decay_steps: the step at which it is 0.
    """

    def linear_decay_fn(global_step: Any) -> Any:
        step = _fraction(global_step, decay_steps, "linear_decay")
        left = cast(decay_steps, dtypes.int32) - cast(step, dtypes.int32)
        decayed = cast(left, dtypes.float32) / cast(decay_steps, dtypes.float32)
        return maximum(0.0, decayed)

    return linear_decay_fn


def _cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + cos(constant(math.pi) * fraction))


def _until(decayed: Any, passed: Any, end: Any) -> Any:
    """Zero from a point on, if there is one."""
    if end is None:
        return decayed
    return where_v2(greater_equal(passed, end), 0.0, decayed)


def get_cosine_decay_fn(
    decay_steps: Any, num_periods: float = 0.5, zero_after: float | None = None
) -> Decay:
    """A function that falls and rises with a cosine.

    Args:
      decay_steps: the step at which it ends.
      num_periods: of the cosine until then.
      zero_after: the period after which it is 0.
    """

    def cosine_decay_fn(global_step: Any) -> Any:
        step = _fraction(global_step, decay_steps, "cosine_decay")
        done = cast(step, dtypes.float32) / cast(decay_steps, dtypes.float32)
        fraction = 2.0 * num_periods * done
        end = None if zero_after is None else 2 * zero_after
        return _until(_cosine(fraction), fraction, end)

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: Any, num_periods: float = 1, zero_after: float | None = None
) -> Decay:
    """A function that falls with half a cosine, and begins again.

    Args:
      decay_steps: the step at which it ends.
      num_periods: how often it begins until then.
      zero_after: the period after which it is 0.
    """

    def restart_decay_fn(global_step: Any) -> Any:
        step = _fraction(global_step, decay_steps, "cosine_decay")
        total = cast(decay_steps, dtypes.float32)
        within = floormod(num_periods * cast(step, dtypes.float32), decay_steps)
        passed = cast(num_periods * step, dtypes.float32) / total
        return _until(_cosine(within / total), passed, zero_after)

    return restart_decay_fn
