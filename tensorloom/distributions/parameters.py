"""Parameters of distributions: checks, shapes, probabilities and seeds."""

from __future__ import annotations

import hashlib
from typing import Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


def checked(tensor: Tensor, checks: list[Any], wanted: bool = True) -> Any:
    """The tensor, read after the checks if they are wanted."""
    if not wanted or not checks:
        return tensor
    return control_flow_ops.with_dependencies(checks, tensor)


def read_after(checks: list[Any], **values: Any) -> list[Tensor]:
    """Parameters as tensors of these names, read after the checks."""
    with control_dependencies(checks):
        return [array_ops.identity(value, name=name) for name, value in values.items()]


def positive(validate_args: bool, *values: Any) -> list[Any]:
    """Checks that values are above zero, if they are wanted."""
    return [check_ops.assert_positive(value) for value in values if validate_args]


def derived_seed(seed: int | None, salt: str) -> int | None:
    """Another seed, for the second draw of one sample."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def common_shape(*tensors: Tensor) -> TensorShape:
    """The static shape of tensors that are broadcast."""
    shape = TensorShape([])
    for tensor in tensors:
        shape = array_ops.broadcast_static_shape(shape, tensor.shape)
    return shape


def common_shape_tensor(a: Tensor, b: Tensor) -> Tensor:
    """The shape of two tensors that are broadcast."""
    return array_ops.broadcast_dynamic_shape(array_ops.shape(a), array_ops.shape(b))


def logits_and_probs(
    logits: Any, probs: Any, multiclass: bool, validate_args: bool, name: str
) -> tuple[Tensor, Tensor]:
    """Both from the one that is given.

    Raises:
      ValueError: both are given, or none.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            turned = nn_ops.softmax if multiclass else math_ops.sigmoid
            return logits, turned(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = checked(probs, _probability_checks(probs, multiclass))
        with name_scope("logits"):
            logits = math_ops.log(probs)
            if not multiclass:
                logits = logits - math_ops.log1p(-1.0 * probs)
        return logits, probs


def _probability_checks(probs: Tensor, multiclass: bool) -> list[Any]:
    one = convert_to_tensor(1.0, dtype=probs.dtype, name="one")
    checks = [check_ops.assert_non_negative(probs)]
    if multiclass:
        total = math_ops.reduce_sum(probs, -1)
        message = "probs does not sum to 1."
        return [*checks, check_ops.assert_near(total, one, message=message)]
    message = "probs has components greater than 1."
    return [*checks, check_ops.assert_less_equal(probs, one, message=message)]


def last_size(tensor: Tensor) -> Any:
    """The size of the last axis, an int32 scalar."""
    return array_ops.shape(tensor)[-1]


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """The logarithm of the number of orders of these counts of n draws."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        total = math_ops.lgamma(n + 1)
        parts = math_ops.reduce_sum(math_ops.lgamma(counts + 1), axis=[-1])
        return total - parts
