"""Parameters of distributions: checks, shapes and seeds."""

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


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """The logarithm of the number of orders of these counts of n draws."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        total = math_ops.lgamma(n + 1)
        parts = math_ops.reduce_sum(math_ops.lgamma(counts + 1), axis=[-1])
        return total - parts
