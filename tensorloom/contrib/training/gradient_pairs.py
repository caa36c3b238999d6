"""What is done with pairs of gradient and variable before they are applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math.clip import clip_by_norm, global_norm
from tensorloom.summary import summary

Pairs = list[tuple[Any, Any]]


def _with_values(gradient: Any, change: Callable[[Any], Any]) -> Any:
    """The gradient with its values changed, sparse where it was."""
    if not isinstance(gradient, IndexedSlices):
        return change(gradient)
    values = change(gradient.values)
    return IndexedSlices(values, gradient.indices, gradient.dense_shape)


def summarize_gradients(pairs: Pairs, separator: str) -> list[Any]:
    """A histogram and the norm of every gradient, called after its variable."""
    found: list[Any] = []
    for gradient, variable in pairs:
        if gradient is None:
            program_log.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = f"{variable.op.name}{separator}gradient"
        found.append(summary.histogram(name, values))
        found.append(summary.scalar(f"{name}_norm", global_norm([values])))
    return found


@export("contrib.training.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Any]:
    """Summaries `VARIABLE_gradient` and `VARIABLE_gradient_norm` of all gradients.

    Args:
      grads_and_vars: pairs of gradient and variable.

    Returns:
      The summaries, two for each gradient that is not None.
    """
    return summarize_gradients(grads_and_vars, "_")


@export(
    "contrib.training.clip_gradient_norms", "contrib.slim.learning.clip_gradient_norms"
)
def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: Any) -> Pairs:
    """The pairs with every gradient's own norm at most `max_norm`."""
    return [
        (
            None
            if gradient is None
            else _with_values(gradient, lambda values: clip_by_norm(values, max_norm)),
            variable,
        )
        for gradient, variable in gradients_to_variables
    ]


@export("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Pairs], Pairs]:
    """`clip_gradient_norms` as a value for `transform_grads_fn`."""

    def clip_norms(gradients_to_variables: Pairs) -> Pairs:
        return clip_gradient_norms(gradients_to_variables, max_norm)

    return clip_norms


@export(
    "contrib.training.multiply_gradients", "contrib.slim.learning.multiply_gradients"
)
def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Any) -> Pairs:
    """The pairs with some gradients multiplied.

    Args:
      grads_and_vars: a list of pairs of gradient and variable.
      gradient_multipliers: from variables or names of their operations to factors.

    Raises:
      ValueError: the arguments are no list and no dict, the dict is empty, or a
        variable that it has has no gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    multiplied: Pairs = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError(
                    f"Requested multiple of `None` gradient: {variable.op.name} does "
                    f"not influence the loss."
                )
            factor = convert_to_tensor(gradient_multipliers[key], dtype=gradient.dtype)
            gradient = _times(gradient, factor)
        multiplied.append((gradient, variable))
    return multiplied


def _times(gradient: Any, factor: Any) -> Any:
    return _with_values(gradient, lambda values: values * factor)
