"""`if`, of tensors too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.autograph.operators.kinds import is_dense_tensor
from tensorloom.autograph.operators.loop_checks import (
    Names,
    check_defined_in_branch,
    check_same_in_branches,
)
from tensorloom.client.control_flow.cond import cond as tf_cond

GetState = Callable[[], tuple[Any, ...]]
SetState = Callable[[Any], None]


def get_no_state() -> tuple[Any, ...]:
    """The state of blocks that assign only names."""
    return ()


def set_no_state(vals: Any) -> None:
    """Sets the state of blocks that assign only names."""


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: GetState,
    set_state: SetState,
    basic_symbol_names: Names = None,
    composite_symbol_names: Names = None,
) -> Any:
    """`body()` if `cond` is true, else `orelse()`; `tf.cond` if it is a tensor.

    Args:
      cond: a bool scalar, or any Python value.
      body, orelse: give what the statement assigns: a value, or a tuple of them.
      get_state: gives the values of attributes, elements and outer names that a branch
        assigns; called for `tf.cond` alone, where both branches are traced.
      set_state: sets them.
      basic_symbol_names, composite_symbol_names: what `body` gives, and what
        `get_state` does, for messages.

    Returns:
      What the branches give.

    Raises:
      ValueError: a branch of `tf.cond` leaves a name without value.
      TypeError: the branches of `tf.cond` give other structures or dtypes.
    """
    if not is_dense_tensor(cond):
        return body() if cond else orelse()
    results: list[tuple[Any, ...]] = []
    names: Names = None
    if basic_symbol_names is not None:
        names = (*basic_symbol_names, *(composite_symbol_names or ()))

    def branch(function: Callable[[], Any], what: str) -> Callable[[], Any]:
        def traced() -> Any:
            before = get_state()
            values = function()
            check_defined_in_branch(values, what)
            state = get_state()
            # The other branch starts from what was there before this one.
            set_state(before)
            results.append((*_as_tuple(values, basic_symbol_names), *state))
            if names and len(results) == 2:
                first, second = results if what == "else" else reversed(results)
                check_same_in_branches(first, second, names)
            return values, state

        return traced

    values, state = tf_cond(cond, branch(body, "if"), branch(orelse, "else"))
    set_state(state)
    return values


def _as_tuple(values: Any, names: Names) -> tuple[Any, ...]:
    """The values of a branch; the one that stands for none is left out."""
    if names is not None and not names:
        return ()
    if names is not None and len(names) == 1:
        return (values,)
    return values if isinstance(values, tuple) else (values,)
