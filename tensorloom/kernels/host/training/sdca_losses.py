"""The losses of stochastic dual coordinate ascent, their duals and their steps.

Shalev-Shwartz and Zhang, "Stochastic dual coordinate ascent methods for regularized
loss minimization", 2013. Numbers are Python's doubles, as in TensorFlow.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Final, Protocol

from tensorloom.framework import errors

_NEWTON_STEPS: Final = 10
_OUTSIDE: Final = sys.float_info.max  # the dual loss outside its domain


@dataclass(slots=True)
class Point:
    """What a loss sees of an example."""

    label: float
    weight: float
    dual: float
    # The prediction, and the example's squared norm over l2; both know how many
    # partitions take such a step at the same time.
    wx: float
    norm: float


class Loss(Protocol):
    """A convex loss of (prediction, label)."""

    smoothness: float  # of its derivative's inverse

    def label(self, given: float) -> float:
        """The label as the loss wants it. Raises: InvalidArgumentError."""

    def updated_dual(self, x: Point) -> float:
        """The dual that is best for this example alone."""

    def primal(self, wx: float, label: float, weight: float) -> float:
        """The loss of a prediction."""

    def dual(self, dual: float, label: float, weight: float) -> float:
        """The conjugate's value."""

    def derivative(self, wx: float, label: float) -> float:
        """Of the loss, by the prediction."""


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


class _Binary:
    """A loss of two classes, whose labels 0 and 1 become -1 and 1."""

    def label(self, given: float) -> float:
        """-1 or 1."""
        if given not in (0.0, 1.0):
            raise errors.InvalidArgumentError(
                None,
                None,
                "Only labels of 0.0 or 1.0 are supported right now. Found example "
                f"with label: {given:g}",
            )
        return 2 * given - 1


class Logistic(_Binary):
    """log(1 + exp(-y wx))."""

    smoothness = 4.0

    def updated_dual(self, x: Point) -> float:
        """By Newton's method on the dual written as (1 + tanh(z)) / 2y."""
        scale = x.norm * x.weight
        z = 0.0
        for _ in range(_NEWTON_STEPS):
            tanh = math.tanh(z)
            step = scale * (0.5 * (1 + tanh) / x.label - x.dual)
            numerator = -2 * x.label * z - x.wx - step
            slope = scale * (1 - tanh * tanh) * 0.5 / x.label
            z -= numerator / (-2 * x.label - slope)
        return 0.5 * (1 + math.tanh(z)) / x.label

    def primal(self, wx: float, label: float, weight: float) -> float:
        """Written so that no exponential overflows."""
        margin = label * wx
        if margin > 0:
            return math.log1p(math.exp(-margin)) * weight
        return (math.log1p(math.exp(margin)) - margin) * weight

    def dual(self, dual: float, label: float, weight: float) -> float:
        """a log a + (1 - a) log(1 - a), where a is the dual times the label."""
        a = dual * label
        rest = 1 - a
        log_a = math.log(a) if a > 0 else 0.0
        log_rest = math.log(rest) if rest > 0 else 0.0
        return (a * log_a + rest * log_rest) * weight

    def derivative(self, wx: float, label: float) -> float:
        """-y / (1 + exp(y wx))."""
        margin = label * wx
        if margin > 0:
            small = math.exp(-margin)
            return -label * small / (1 + small)
        return -label / (1 + math.exp(margin))


class Squared:
    """(wx - y)^2 / 2."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """Any number."""
        return given

    def updated_dual(self, x: Point) -> float:
        """In closed form."""
        return x.dual + (x.label - x.dual - x.wx) / (1 + x.norm * x.weight)

    def primal(self, wx: float, label: float, weight: float) -> float:
        """Half the squared error."""
        return (wx - label) * (wx - label) * weight * 0.5

    def dual(self, dual: float, label: float, weight: float) -> float:
        """a^2 / 2 - a y."""
        return dual * (0.5 * dual - label) * weight

    def derivative(self, wx: float, label: float) -> float:
        """The error."""
        return wx - label


def _within(candidate: float, label: float) -> float:
    """The dual nearest to `candidate` for which label * dual is in [0, 1]."""
    if label * candidate < 0:
        return 0.0
    return label if label * candidate > 1 else candidate


class Hinge(_Binary):
    """max(0, 1 - y wx)."""

    smoothness = 0.0

    def updated_dual(self, x: Point) -> float:
        """In closed form, kept within the domain."""
        scale = x.norm * x.weight
        error = x.label - x.wx
        if not scale:  # no features, or no weight: the step has no end
            return _within(math.copysign(math.inf, error) if error else x.dual, x.label)
        return _within(x.dual + error / scale, x.label)

    def primal(self, wx: float, label: float, weight: float) -> float:
        """What is missing to a margin of 1."""
        return max(0.0, 1 - label * wx) * weight

    def dual(self, dual: float, label: float, weight: float) -> float:
        """-a y within the domain."""
        a = dual * label
        return -a * weight if 0 <= a <= 1 else _OUTSIDE

    def derivative(self, wx: float, label: float) -> float:
        """-y below a margin of 1."""
        return -label if label * wx < 1 else 0.0


class SmoothHinge(_Binary):
    """The hinge with a quadratic piece in place of its corner."""

    smoothness = 1.0

    def updated_dual(self, x: Point) -> float:
        """In closed form, kept within the domain."""
        error = x.label - x.wx - x.dual
        return _within(x.dual + error / (x.norm * x.weight + 1), x.label)

    def primal(self, wx: float, label: float, weight: float) -> float:
        """Quadratic for margins of 0 to 1."""
        margin = label * wx
        if margin >= 1:
            return 0.0
        if margin <= 0:
            return (0.5 - margin) * weight
        return (1 - margin) * (1 - margin) * weight * 0.5

    def dual(self, dual: float, label: float, weight: float) -> float:
        """a^2 / 2 - a y within the domain."""
        a = dual * label
        return (-a + 0.5 * dual * dual) * weight if 0 <= a <= 1 else _OUTSIDE

    def derivative(self, wx: float, label: float) -> float:
        """Linear for margins of 0 to 1."""
        margin = label * wx
        if margin >= 1:
            return 0.0
        return -label if margin <= 0 else wx - label


class Poisson:
    """exp(wx) - y wx, for counts."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """Not negative."""
        if given < 0:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Only non-negative labels can be used with the Poisson log loss. "
                f"Found example with label: {given:g}",
            )
        return given

    def updated_dual(self, x: Point) -> float:
        """By Newton's method on the logarithm of y - dual."""
        rest = x.label - x.dual
        scale = x.norm * x.weight
        z = math.log(rest) if rest > 0 else 0.0
        for _ in range(_NEWTON_STEPS):
            grown = _exp(z)
            numerator = z - x.wx - scale * (rest - grown)
            z -= numerator / (1 + scale * grown)
        return x.label - _exp(z)

    def primal(self, wx: float, label: float, weight: float) -> float:
        """The negative logarithm of the likelihood, but for a constant."""
        return (_exp(wx) - wx * label) * weight

    def dual(self, dual: float, label: float, weight: float) -> float:
        """(y - a) (log(y - a) - 1) where that exists."""
        rest = label - dual
        if rest < 0:
            return _OUTSIDE
        return rest * (math.log(rest) - 1) * weight if rest else 0.0

    def derivative(self, wx: float, label: float) -> float:
        """exp(wx) - y."""
        return _exp(wx) - label


LOSSES: Final[dict[bytes, Loss]] = {
    b"logistic_loss": Logistic(),
    b"squared_loss": Squared(),
    b"hinge_loss": Hinge(),
    b"smooth_hinge_loss": SmoothHinge(),
    b"poisson_loss": Poisson(),
}
