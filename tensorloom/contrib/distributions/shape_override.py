"""Shapes that take the place of a base distribution's batch or event shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.distributions.parameters import checked
from tensorloom.distributions.static_values import pick_vector
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import (
    constant_value,
    constant_value_as_shape,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging.check_rank import assert_rank
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape


class ShapeOverride:
    """A shape in place of the base distribution's, if it is not empty.

    Args:
      shape: int vector, whose length may be known in a step only; None for none.
      base_is_scalar: bool scalar: whether the base has no such shape itself.
      validate_args: whether steps check what cannot be known before.
      name: of the tensor.

    Raises:
      ValueError: it is no vector, has sizes below 1, or the base has a shape itself.
    """

    def __init__(
        self, shape: Any, base_is_scalar: Tensor, validate_args: bool, name: str
    ) -> None:
        tensor = convert_to_tensor(
            [] if shape is None else shape, dtype=dtypes.int32, name=name
        )
        checks: list[Any] = []
        if tensor.shape.ndims not in (None, 1):
            raise ValueError("shape override must be a vector")
        if tensor.shape.ndims is None and validate_args:
            message = "shape override must be a vector"
            checks.append(assert_rank(tensor, 1, message=message))
        self.known = constant_value(tensor)
        message = "shape override must have positive elements"
        if self.known is not None:
            if any(size <= 0 for size in self.known):
                raise ValueError(message)
        elif validate_args:
            checks.append(check_ops.assert_positive(tensor, message=message))
        length = tensor.shape.as_list()[0] if tensor.shape.ndims else None
        # How many axes it has: an int, or a tensor if that is known in a step only.
        self.rank: Any = array_ops.shape(tensor)[0] if length is None else length
        known_scalar = constant_value(base_is_scalar)
        message = "base distribution not scalar"
        if length and known_scalar is not None and not known_scalar:
            raise ValueError(message)
        may_clash = length != 0 and not known_scalar
        if may_clash and validate_args:
            fits = math_ops.logical_or(base_is_scalar, math_ops.equal(self.rank, 0))
            checks.append(check_ops.assert_equal(fits, True, message=message))
        self.tensor: Tensor = checked(tensor, checks)
        # Whether it may take the place: False where it is known to be empty.
        self.may_override = length != 0

    def static(self, base: TensorShape) -> TensorShape:
        """The shape that holds, as far as it is known before a step."""
        return constant_value_as_shape(self.tensor) if self.may_override else base

    def dynamic(self, base: Any) -> Any:
        """The shape that holds, as a tensor; `base` gives the other one."""
        if not self.may_override:
            return base()
        if isinstance(self.rank, int):
            return self.tensor
        is_new = math_ops.not_equal(self.rank, 0)
        return pick_vector(is_new, self.tensor, base())
