"""Optimizers of several tasks: a task without a batch leaves its variables alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math.clip import clip_by_global_norm, global_norm
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.reductions.reductions import count_nonzero
from tensorloom.train.optimizers.optimizer import Optimizer

_METHODS = (
    "_apply_dense",
    "_resource_apply_dense",
    "_apply_sparse",
    "_resource_apply_sparse",
)


def _all_zeros(grad: Any) -> Any:
    return equal(count_nonzero(grad), 0)


def _unless_zeros(update: Callable[..., Any]) -> Callable[..., Any]:
    """An update that does nothing for a gradient of zeros."""

    def updated(grad: Any, *args: Any, **kwargs: Any) -> Any:
        def apply() -> Any:
            with control_dependencies([update(grad, *args, **kwargs)]):
                return no_op()

        return cond(_all_zeros(grad), no_op, apply)

    return updated


@export("contrib.opt.MultitaskOptimizerWrapper")
class MultitaskOptimizerWrapper:
    """An optimizer that skips variables whose gradients are all zeros.

    Args:
      opt: the optimizer; its updates are changed in place.

    Raises:
      TypeError: it is no optimizer.
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError(
                "Supplied optimizer must be an instance of tf.train.Optimizer"
            )
        self._opt = opt
        for method in _METHODS:
            setattr(opt, method, _unless_zeros(getattr(opt, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


@export("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: Any = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Gradients, clipped by the norm of those that are not all zeros.

    Args:
      gradients_variables: pairs of gradient and variable.
      clip_norm: the largest norm.

    Returns:
      The pairs with clipped gradients, and the norm before.
    """
    gradients, variables = zip(*gradients_variables, strict=True)

    def nothing_for_zeros(grad: Any) -> Any:
        if grad is None:
            return grad
        return cond(_all_zeros(grad), lambda: zeros([], dtype=grad.dtype), lambda: grad)

    norm = global_norm([nothing_for_zeros(grad) for grad in gradients])
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm
