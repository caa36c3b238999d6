"""Log-odds and probabilities of classes and events, each from the other."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.parameters import checked
from tensorloom.distributions.value_checks import embed_check_categorical_event_shape
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: Any = None,
) -> tuple[Tensor, Tensor]:
    """Logits and probabilities, from the one that is given.

    Args:
      logits, probs: one of them.
      multidimensional: whether the last axis is of classes; else each element is the
        probability of an event.
      validate_args: whether steps check probabilities.
      name: the scope of the nodes.
      dtype: of both.

    Raises:
      ValueError: both are given, or none; there are too many or too few classes.
      TypeError: they are no floats.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not multidimensional:
                return logits, math_ops.sigmoid(logits, name="probs")
            if validate_args:
                logits = embed_check_categorical_event_shape(logits)
            return logits, nn_ops.softmax(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            with name_scope("validate_probs"):
                probs = _validated(probs, multidimensional)
        with name_scope("logits"):
            logits = math_ops.log(probs)
            if not multidimensional:
                logits = logits - math_ops.log1p(-1.0 * probs)
        return logits, probs


def _validated(probs: Tensor, multidimensional: bool) -> Any:
    one = constant(1.0, probs.dtype)
    checks = [check_ops.assert_non_negative(probs)]
    if multidimensional:
        probs = embed_check_categorical_event_shape(probs)
        total = math_ops.reduce_sum(probs, -1)
        message = "probs does not sum to 1."
        checks.append(check_ops.assert_near(total, one, message=message))
    else:
        message = "probs has components greater than 1."
        checks.append(check_ops.assert_less_equal(probs, one, message=message))
    return checked(probs, checks)
