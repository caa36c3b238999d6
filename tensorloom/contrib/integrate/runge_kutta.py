"""Dormand and Prince's step of order 5, with an estimate of its error (1980)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.aggregate import add_n

# When each stage is, and of which slopes before it is made.
_ALPHA: Final = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_BETA: Final = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# Shampine's value in the middle of a step (1986).
_MIDDLE: Final = (
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)
# The difference to the step of order 4.
_ERROR: Final = (
    1951 / 21600 - 35 / 384,
    0,
    22642 / 50085 - 500 / 1113,
    451 / 720 - 125 / 192,
    -12231 / 42400 + 2187 / 6784,
    649 / 6300 - 11 / 84,
    1 / 60,
)


def _weighted(scale: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    pairs = zip(weights, slopes, strict=False)
    return add_n([scale * weight * slope for weight, slope in pairs if weight != 0])


def step(
    func: Callable[..., Any], y0: Any, f0: Any, t0: Any, dt: Any
) -> tuple[Any, Any, Any, list[Any]]:
    """One step from y0 with the slope f0.

    Returns:
      The next y, its slope, the error, and the slopes of all stages.
    """
    with name_scope("runge_kutta_step", values=[y0, f0, t0, dt]):
        scale = cast(dt, y0.dtype)
        slopes, y = [f0], y0
        for alpha, beta in zip(_ALPHA, _BETA, strict=True):
            y = y0 + _weighted(scale, beta, slopes)
            slopes.append(func(y, t0 + alpha * dt))
        return y, slopes[-1], _weighted(scale, _ERROR, slopes), slopes


def fitted(y0: Any, y1: Any, slopes: Sequence[Any], dt: Any) -> list[Any]:
    """The coefficients of the polynomial of degree 4 over a step, highest first."""
    with name_scope("interp_fit_rk"):
        dt = cast(dt, y0.dtype)
        middle = y0 + _weighted(dt, _MIDDLE, slopes)
        values = [slopes[0], slopes[-1], y0, y1, middle]
        rows = (
            (-2 * dt, 2 * dt, -8, -8, 16),
            (5 * dt, -3 * dt, 18, 14, -32),
            (-4 * dt, dt, -11, -5, 16),
        )
        found = [
            add_n([x * y for x, y in zip(row, values, strict=True)]) for row in rows
        ]
        return [*found, dt * slopes[0], y0]


def evaluated(coefficients: Sequence[Any], t0: Any, t1: Any, t: Any) -> Any:
    """The polynomial at a time within its step."""
    with name_scope("interp_evaluate"):
        check = Assert(
            (t0 <= t) & (t <= t1),
            ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1],
        )
        with control_dependencies([check]):
            x = cast((t - t0) / (t1 - t0), coefficients[0].dtype)
        powers = [constant(1, coefficients[0].dtype), x]
        while len(powers) < len(coefficients):
            powers.append(powers[-1] * x)
        pairs = zip(coefficients, reversed(powers), strict=True)
        return add_n([c * p for c, p in pairs])
