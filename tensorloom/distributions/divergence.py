"""Kullback-Leibler divergences, by the classes of two distributions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops

_DIVERGENCES: dict[tuple[type, type], Callable[..., Tensor]] = {}


def _registered(type_a: type, type_b: type) -> Callable[..., Tensor] | None:
    """The function of the nearest pair of base classes."""
    found, nearest = None, None
    for distance_a, base_a in enumerate(inspect.getmro(type_a)):
        for distance_b, base_b in enumerate(inspect.getmro(type_b)):
            distance = distance_a + distance_b
            function = _DIVERGENCES.get((base_a, base_b))
            if function is not None and (nearest is None or distance < nearest):
                found, nearest = function, distance
    return found


@export("distributions.kl_divergence")
def kl_divergence(
    distribution_a: Any,
    distribution_b: Any,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Any:
    """How much b's density says less about a's draws than a's own, in nats.

    Raises:
      NotImplementedError: nobody registered a divergence for these two classes.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a "
            f"type {type(distribution_a).__name__} and distribution_b "
            f"type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        divergence = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        divergence = array_ops.identity(divergence, name="kl")
        check = control_flow_ops.Assert(
            math_ops.logical_not(math_ops.reduce_any(math_ops.is_nan(divergence))),
            [
                f"KL calculation between {distribution_a.name} and "
                f"{distribution_b.name} returned NaN values (and was called with "
                "allow_nan_stats=False). Values:",
                divergence,
            ],
        )
        return control_flow_ops.with_dependencies(
            [check], divergence, name="checked_kl"
        )


def cross_entropy(
    ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """The entropy of `ref` and the divergence of `other` from it."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(
            ref, other, allow_nan_stats=allow_nan_stats
        )


@export("distributions.RegisterKL")
class RegisterKL:
    """Declares the divergence of two classes: `@RegisterKL(Normal, Normal)`."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """Registers a function of two distributions and a name.

        Raises:
          TypeError: it cannot be called.
          ValueError: there is one for these classes.
        """
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            a, b = (kind.__name__ for kind in self._key)
            raise ValueError(
                f"KL({a} || {b}) has already been registered to: "
                f"{_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
