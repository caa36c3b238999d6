"""`cond` that builds one branch alone where the predicate is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.case import case_by
from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.constant_value import constant_value as tensor_value
from tensorloom.framework.types.constant_value import evaluate


@export("contrib.framework.smart_constant_value")
def smart_constant_value(pred: Any) -> Any:
    """The predicate's value if it is known before the graph runs, else None.

    Raises:
      TypeError: `pred` is neither a tensor, a bool, 0 nor 1.
    """
    if isinstance(pred, Tensor):
        value = tensor_value(pred)
        if value is None:
            value = evaluate(pred)  # what follows from constants, by running it
        return None if value is None else value[()]
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    raise TypeError(
        "`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: "
        f"{type(pred)}"
    )


@export("contrib.framework.smart_cond")
def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` or `false_fn()` where the predicate is known, else their `cond`.

    Raises:
      TypeError: a branch cannot be called, or `pred` is no predicate.
    """
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = None if isinstance(pred, Variable) else smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


@export("contrib.framework.smart_case")
def smart_case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`tf.case` that leaves out what a known predicate excludes.

    Predicates may be bools too; see `tf.case` for the arguments.

    Raises:
      TypeError: the pairs or `default` are not of the kinds that `tf.case` takes.
      ValueError: there are no pairs.
    """
    return case_by(smart_cond, pred_fn_pairs, default, exclusive, name)


def known_value(pred: Any) -> Any:
    """The value of a predicate, None for a variable or a tensor that is not known."""
    return None if isinstance(pred, Variable) else smart_constant_value(pred)
