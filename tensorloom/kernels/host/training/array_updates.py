"""Optimizer updates of arrays: of all of a variable, or of some of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.kernels.host.indexing.stable_order import (
    are_distinct,
    stable_order,
    starts_of_runs,
)
from tensorloom.kernels.torch.state.variable_value import replace_value, to_host

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable
    from tensorloom.kernels.host.training.update_rules import Formula


def update_arrays(
    formula: Formula,
    state: Sequence[Variable],
    inputs: Sequence[Any],
    gradient_at: int,
    attrs: Any,
) -> None:
    """Updates a variable with its slots by NumPy; call under its lock."""
    values = tuple(to_host(v.value) for v in state)
    hosted = [to_host(x) if i == gradient_at else x for i, x in enumerate(inputs)]
    for variable, old, new in zip(
        state, values, formula(np, values, tuple(hosted), attrs), strict=True
    ):
        if new is not old:
            # A formula over scalars and Python numbers must not widen the dtype.
            fits = new.dtype == old.dtype
            replace_value(variable, new if fits else new.astype(old.dtype))


def update_array_rows(
    formula: Formula,
    arrays: Sequence[Any],
    inputs: list[Any],
    gradient_at: int,
    attrs: Mapping[str, Any],
    indices: Any,
) -> None:
    """Updates some rows of a variable and its slots in place, in the indices' order.

    Args:
      formula: the rule.
      arrays: the variable and its slots, [n, ...] each, of one floating dtype.
      inputs: the formula's, in either memory; the gradient's place is changed.
      gradient_at: the place of the gradient, [k, ...].
      attrs: the node's.
      indices: int32 or int64, [k], each in [0, n).
    """
    at = to_host(indices).astype(np.intp, copy=False)
    gradient = to_host(inputs[gradient_at])
    for part in distinct_parts(at):
        places, inputs[gradient_at] = at[part], gradient[part]
        rows = tuple([array.take(places, 0) for array in arrays])
        updated = formula(np, rows, tuple(inputs), attrs)
        for array, new, old in zip(arrays, updated, rows, strict=True):
            if new is not old:
                array[places] = new


def distinct_parts(indices: np.ndarray[Any, Any]) -> list[Any]:
    """Positions in `indices`, split such that no part names a row twice.

    Repeated rows are updated one after the other, in the order of the indices.

    Args:
      indices: int32 or int64, [k], none negative.
    """
    if are_distinct(indices):
        return [slice(None)]
    # The first update of each row that comes, then the second ones: a row's stay in
    # order, and no row's depends on another's.
    ordered, order = stable_order(indices)
    places = np.arange(len(order))
    is_start = starts_of_runs(ordered)
    earlier = places - np.maximum.accumulate(np.where(is_start, places, 0))
    ends = np.bincount(earlier).cumsum()[:-1]
    return np.split(order[stable_order(earlier)[1]], ends)
