"""Functions of single numbers: powers, squashing functions, and their like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.distributions.bijector import Bijector
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.static_values import softplus_inverse
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_type
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


class ScalarMap(Bijector):
    """A function of each number alone."""

    def __init__(self, validate_args: bool, name: str, **kwargs: Any) -> None:
        super().__init__(
            forward_min_event_ndims=0, validate_args=validate_args, name=name, **kwargs
        )

    def _where(self, x: Tensor, *checks: Any) -> Any:
        """The number, after checks if they are wanted; each a function, arguments."""
        if not self.validate_args:
            return x
        return checked(
            x, [check(x, *more, message=text) for check, text, *more in checks]
        )


@export("contrib.distributions.bijectors.AbsoluteValue")
class AbsoluteValue(ScalarMap):
    """`y = |x|`: each y has two x, and `inverse` gives both.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self, validate_args: bool = False, name: str = "absolute_value"
    ) -> None:
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Tensor) -> Any:
        return math_ops.abs(x)

    def _value(self, y: Tensor) -> Any:
        return self._where(
            y, (check_ops.assert_non_negative, "Argument y was negative")
        )

    def _inverse(self, y: Tensor) -> Any:
        y = self._value(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        zeros = array_ops.zeros([], dtype=y.dtype)
        if self.validate_args:
            with control_dependencies([self._value(y)]):
                zeros = array_ops.identity(zeros)
        return zeros, zeros


@export("contrib.distributions.bijectors.PowerTransform")
class PowerTransform(ScalarMap):
    """`y = (1 + x power)^(1 / power)`; of power 0, `exp(x)`.

    Args:
      power: a number that is known when the graph is built.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      ValueError: the power is below 0, or not known.
    """

    def __init__(
        self,
        power: Any = 0.0,
        validate_args: bool = False,
        name: str = "power_transform",
    ) -> None:
        with name_scope(name), name_scope("init", values=[power]):
            known = constant_value(convert_to_tensor(power, name="power"))
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = known
        super().__init__(validate_args, name)

    @property
    def power(self) -> Any:
        """The power."""
        return self._power

    def _x(self, x: Tensor) -> Any:
        if not self.validate_args or self.power == 0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        inside = 1.0 + self.power * x
        return checked(x, [check_ops.assert_non_negative(inside, message=message)])

    def _y(self, y: Tensor) -> Any:
        message = "Inverse transformation input must be greater than 0."
        return self._where(y, (check_ops.assert_positive, message))

    def _forward(self, x: Tensor) -> Any:
        x = self._x(x)
        if self.power == 0:
            return math_ops.exp(x)
        return math_ops.exp(math_ops.log1p(x * self.power) / self.power)

    def _inverse(self, y: Tensor) -> Any:
        y = self._y(y)
        if self.power == 0:
            return math_ops.log(y)
        return math_ops.expm1(math_ops.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return (self.power - 1.0) * math_ops.log(self._y(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        x = self._x(x)
        if self.power == 0:
            return x
        return (1.0 / self.power - 1.0) * math_ops.log1p(x * self.power)


@export("contrib.distributions.bijectors.Exp")
class Exp(PowerTransform):
    """`y = exp(x)`.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


@export("contrib.distributions.bijectors.Sigmoid")
class Sigmoid(ScalarMap):
    """`y = 1 / (1 + exp(-x))`.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Any:
        return math_ops.sigmoid(x)

    def _inverse(self, y: Tensor) -> Any:
        return math_ops.log(y) - math_ops.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return -math_ops.log(y) - math_ops.log1p(-y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return -nn_ops.softplus(-x) - nn_ops.softplus(x)


@export("contrib.distributions.bijectors.Softplus")
class Softplus(ScalarMap):
    """`y = c log(1 + exp(x / c))`.

    Args:
      hinge_softness: c, not zero; 1 if None.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        hinge_softness: Any = None,
        validate_args: bool = False,
        name: str = "softplus",
    ) -> None:
        self._hinge_softness: Any = None
        with name_scope(name, values=[hinge_softness]):
            if hinge_softness is not None:
                softness = convert_to_tensor(hinge_softness, name="hinge_softness")
                if validate_args:
                    zero = convert_to_tensor(0, dtype=softness.dtype)
                    message = "hinge_softness must be non-zero"
                    check = check_ops.assert_none_equal(zero, softness, message=message)
                    softness = checked(softness, [check])
                self._hinge_softness = softness
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self) -> Any:
        """The c of the formula, or None."""
        return self._hinge_softness

    def _softness(self, like: Tensor) -> Any:
        if self._hinge_softness is None:
            return None
        return math_ops.cast(self._hinge_softness, like.dtype)

    def _forward(self, x: Tensor) -> Any:
        c = self._softness(x)
        return nn_ops.softplus(x) if c is None else c * nn_ops.softplus(x / c)

    def _inverse(self, y: Tensor) -> Any:
        c = self._softness(y)
        return softplus_inverse(y) if c is None else c * softplus_inverse(y / c)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        c = self._softness(y)
        y = y if c is None else y / c
        return -math_ops.log(-math_ops.expm1(-y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        c = self._softness(x)
        return -nn_ops.softplus(-x if c is None else -x / c)


@export("contrib.distributions.bijectors.Softsign")
class Softsign(ScalarMap):
    """`y = x / (1 + |x|)`.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args, name)

    def _y(self, y: Tensor) -> Any:
        one = convert_to_tensor(1.0, dtype=y.dtype.base_dtype)
        above = "Inverse transformation input must be greater than -1."
        below = "Inverse transformation input must be less than 1."
        return self._where(
            y,
            (check_ops.assert_greater, above, -one),
            (check_ops.assert_less, below, one),
        )

    def _forward(self, x: Tensor) -> Any:
        return x / (1.0 + math_ops.abs(x))

    def _inverse(self, y: Tensor) -> Any:
        y = self._y(y)
        return y / (1.0 - math_ops.abs(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return -2.0 * math_ops.log1p(math_ops.abs(x))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return -2.0 * math_ops.log1p(-math_ops.abs(self._y(y)))


@export("contrib.distributions.bijectors.Square")
class Square(ScalarMap):
    """`y = x^2`, of x of at least zero.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args, name)

    def _value(self, x: Tensor) -> Any:
        message = "All elements must be non-negative."
        return self._where(x, (check_ops.assert_non_negative, message))

    def _forward(self, x: Tensor) -> Any:
        return math_ops.square(self._value(x))

    def _inverse(self, y: Tensor) -> Any:
        return math_ops.sqrt(self._value(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return math.log(2.0) + math_ops.log(self._value(x))


@export("contrib.distributions.bijectors.Gumbel")
class Gumbel(ScalarMap):
    """`y = exp(-exp(-(x - loc) / scale))`: from a Gumbel variable to a uniform one.

    Args:
      loc, scale: of the Gumbel distribution.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ) -> None:
        with name_scope(name), name_scope("init", values=[loc, scale]):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale")
            check_type.assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                message = "Argument scale was not positive"
                check = check_ops.assert_positive(self._scale, message=message)
                self._scale = checked(self._scale, [check])
        super().__init__(validate_args, name)

    @property
    def loc(self) -> Tensor:
        """The mode."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    def _y(self, y: Tensor) -> Any:
        above = "Inverse transformation input must be greater than 0."
        below = "Inverse transformation input must be less than or equal to 1."
        one = convert_to_tensor(1.0, dtype=y.dtype)
        return self._where(
            y,
            (check_ops.assert_non_negative, above),
            (check_ops.assert_less_equal, below, one),
        )

    def _z(self, x: Tensor) -> Any:
        return (x - self.loc) / self.scale

    def _forward(self, x: Tensor) -> Any:
        return math_ops.exp(-math_ops.exp(-self._z(x)))

    def _inverse(self, y: Tensor) -> Any:
        y = self._y(y)
        return self.loc - self.scale * math_ops.log(-math_ops.log(y))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        y = self._y(y)
        return math_ops.log(self.scale / (-math_ops.log(y) * y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        z = self._z(x)
        return -z - math_ops.exp(-z) - math_ops.log(self.scale)


@export("contrib.distributions.bijectors.Kumaraswamy")
class Kumaraswamy(ScalarMap):
    """`y = (1 - (1 - x)^(1 / b))^(1 / a)`: from a uniform variable to Kumaraswamy's.

    Args:
      concentration1: a.
      concentration0: b.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        message = "Concentration parameter must be positive."
        made = []
        with (
            name_scope(name),
            name_scope("init", values=[concentration1, concentration0]),
        ):
            for text, value in (
                ("concentration1", concentration1),
                ("concentration0", concentration0),
            ):
                tensor = convert_to_tensor(value, name=text)
                if validate_args:
                    check = check_ops.assert_positive(tensor, message=message)
                    tensor = checked(tensor, [check])
                made.append(tensor)
        self._concentration1, self._concentration0 = made
        super().__init__(validate_args, name)

    @property
    def concentration1(self) -> Tensor:
        """The a of the formula."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The b of the formula."""
        return self._concentration0

    def _value(self, x: Tensor) -> Any:
        one = array_ops.ones([], self.concentration0.dtype)
        return self._where(
            x,
            (check_ops.assert_non_negative, "sample must be non-negative"),
            (check_ops.assert_less_equal, "sample must be no larger than `1`.", one),
        )

    def _forward(self, x: Tensor) -> Any:
        x = self._value(x)
        rest = math_ops.exp(math_ops.log1p(-x) / self.concentration0)
        return math_ops.exp(math_ops.log1p(-rest) / self.concentration1)

    def _inverse(self, y: Tensor) -> Any:
        y = self._value(y)
        rest = (1 - y**self.concentration1) ** self.concentration0
        return math_ops.exp(math_ops.log1p(-rest))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        y, a, b = self._value(y), self.concentration1, self.concentration0
        density = (a - 1) * math_ops.log(y) + (b - 1) * math_ops.log1p(-(y**a))
        return math_ops.log(a) + math_ops.log(b) + density


@export("contrib.distributions.bijectors.SinhArcsinh")
class SinhArcsinh(ScalarMap):
    """`y = sinh((arcsinh(x) + skewness) tailweight)`: makes tails heavier, or skewed.

    Args:
      skewness: 0 if None: none.
      tailweight: 1 if None; above it, tails grow heavier.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        skewness: Any = None,
        tailweight: Any = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        with name_scope(name), name_scope("init", values=[skewness, tailweight]):
            tailweight = 1.0 if tailweight is None else tailweight
            skewness = 0.0 if skewness is None else skewness
            self._skewness = convert_to_tensor(skewness, name="skewness")
            self._tailweight = convert_to_tensor(
                tailweight, name="tailweight", dtype=self._skewness.dtype
            )
            check_type.assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                message = "Argument tailweight was not positive"
                check = check_ops.assert_positive(self._tailweight, message=message)
                self._tailweight = checked(self._tailweight, [check])
        super().__init__(validate_args, name)

    @property
    def skewness(self) -> Tensor:
        """How far to one side."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight

    def _forward(self, x: Tensor) -> Any:
        return math_ops.sinh((math_ops.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Tensor) -> Any:
        return math_ops.sinh(math_ops.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        back = math_ops.asinh(y) / self.tailweight - self.skewness
        slope = math_ops.cosh(back) / _root_of_square_and_one(y)
        return math_ops.log(slope) - math_ops.log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        there = (math_ops.asinh(x) + self.skewness) * self.tailweight
        slope = math_ops.cosh(there) / _root_of_square_and_one(x)
        return math_ops.log(slope) + math_ops.log(self.tailweight)


def _root_of_square_and_one(x: Tensor) -> Tensor:
    """sqrt(x^2 + 1), also where the square is too large for the dtype."""
    small = math.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps)
    is_moderate = math_ops.abs(x) * small <= 1.0
    root = math_ops.sqrt(x**2.0 + 1.0)
    return array_ops.where_v2(is_moderate, root, math_ops.abs(x))
