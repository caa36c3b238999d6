"""The distribution function of the Weibull distribution as a map."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.distributions.bijectors.scalar_maps import ScalarMap
from tensorloom.distributions.parameters import checked
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_type as check_type_ops
from tensorloom.ops.math import math_ops


class Weibull(ScalarMap):
    """`y = 1 - exp(-(x / scale)^concentration)`.

    Args:
      scale, concentration: positive.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        scale: Any = 1.0,
        concentration: Any = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ) -> None:
        with name_scope(name), name_scope("init", values=[scale, concentration]):
            self._scale = convert_to_tensor(scale, name="scale")
            self._concentration = convert_to_tensor(concentration, name="concentration")
            check_type_ops.assert_same_float_dtype([self._scale, self._concentration])
            if validate_args:
                self._scale = _positive(self._scale, "scale")
                self._concentration = _positive(self._concentration, "concentration")
        super().__init__(validate_args, name)

    @property
    def scale(self) -> Tensor:
        """Where the function is 1 - 1/e."""
        return self._scale

    @property
    def concentration(self) -> Tensor:
        """How steep it is there."""
        return self._concentration

    def _checked_x(self, x: Tensor) -> Any:
        message = "Forward transformation input must be at least 0."
        return self._where(x, (check_ops.assert_non_negative, message))

    def _checked_y(self, y: Tensor) -> Any:
        what = "Inverse transformation input must be"
        return self._where(
            y,
            (check_ops.assert_non_negative, f"{what} greater than 0."),
            (
                check_ops.assert_less_equal,
                f"{what} less than or equal to 1.",
                constant(1.0, y.dtype),
            ),
        )

    def _forward(self, x: Tensor) -> Any:
        x = self._checked_x(x)
        return -math_ops.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y: Tensor) -> Any:
        y = self._checked_y(y)
        return self.scale * (-math_ops.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        rest = math_ops.log1p(-self._checked_y(y))
        steep = (1 / self.concentration - 1) * math_ops.log(-rest)
        return -rest + steep + math_ops.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        x = self._checked_x(x)
        found = -((x / self.scale) ** self.concentration)
        found = found + (self.concentration - 1) * math_ops.log(x)
        found = found + math_ops.log(self.concentration)
        return found - self.concentration * math_ops.log(self.scale)


def _positive(value: Tensor, name: str) -> Any:
    message = f"Argument {name} was not positive"
    return checked(value, [check_ops.assert_positive(value, message=message)])
