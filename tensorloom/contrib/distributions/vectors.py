"""Distributions of scaled vectors, and of numbers that are skewed by a function."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.contrib.distributions.axes import broadcast_shape
from tensorloom.contrib.distributions.bijectors import scalar_maps
from tensorloom.contrib.distributions.bijectors.affine_maps import Affine, AffineScalar
from tensorloom.contrib.distributions.bijectors.compositions import Chain
from tensorloom.contrib.distributions.multivariate_normal import ScaledVector
from tensorloom.contrib.distributions.scales import (
    diagonal_scale,
    is_diagonal,
    optional_tensor,
    shapes_of,
)
from tensorloom.contrib.distributions.transformed import TransformedDistribution
from tensorloom.distributions.exponential import Exponential
from tensorloom.distributions.laplace import Laplace
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.reparameterization import FULLY_REPARAMETERIZED
from tensorloom.distributions.uniform import Uniform
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.special import lbeta


class _DiagonalVector(ScaledVector):
    """A vector whose scale is a diagonal."""

    def __init__(
        self,
        make: Any,
        loc: Any,
        scale_diag: Any,
        scale_identity_multiplier: Any,
        validate_args: bool,
        name: str,
        parameters: dict[str, Any],
    ) -> None:
        values = [loc, scale_diag, scale_identity_multiplier]
        with name_scope(name), name_scope("init", values=values):
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(make, loc, scale, validate_args, name)
        self._parameters = parameters


@export("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(_DiagonalVector):
    """`loc + scale x`, of a vector x of exponential numbers of rate 1.

    Args:
      loc: zero if None.
      scale_diag: the scales; one if None.
      scale_identity_multiplier: is added to all of them.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())

        def make(dtype: Any) -> Any:
            one = array_ops.ones([], dtype=dtype)
            return Exponential(one, allow_nan_stats=allow_nan_stats)

        super().__init__(
            make,
            loc,
            scale_diag,
            scale_identity_multiplier,
            validate_args,
            name,
            parameters,
        )

    def _mean(self) -> Any:
        ones = array_ops.ones(self._full_shape(), self.dtype)
        return self._shifted(self.scale.matvec(ones))

    def _mode(self) -> Any:
        zeros = array_ops.zeros(self._full_shape(), self.dtype)
        return self._shifted(self.scale.matvec(zeros))

    def _covariance(self) -> Any:
        return self._covariance_of_scale()

    def _variance(self) -> Any:
        return self._variance_of_scale()

    def _stddev(self) -> Any:
        if is_diagonal(self.scale):
            return math_ops.abs(self.scale.diag_part())
        return math_ops.sqrt(self._variance_of_scale())


@export("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(_DiagonalVector):
    """`loc + scale x`, of a vector x of Laplace's numbers of scale 1.

    Args:
      loc: the mean; zero if None.
      scale_diag: the scales; one if None.
      scale_identity_multiplier: is added to all of them.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())

        def make(dtype: Any) -> Any:
            zero, one = (f([], dtype=dtype) for f in (array_ops.zeros, array_ops.ones))
            return Laplace(loc=zero, scale=one)

        super().__init__(
            make,
            loc,
            scale_diag,
            scale_identity_multiplier,
            validate_args,
            name,
            parameters,
        )

    def _mean(self) -> Any:
        return self._shifted(None)

    def _mode(self) -> Any:
        return self._mean()

    def _covariance(self) -> Any:
        return 2.0 * self._covariance_of_scale()

    def _variance(self) -> Any:
        return 2.0 * self._variance_of_scale()

    def _stddev(self) -> Any:
        if is_diagonal(self.scale):
            return math.sqrt(2) * math_ops.abs(self.scale.diag_part())
        return math_ops.sqrt(self._variance())


def _base(distribution: Any, dtype: Any, validate_args: bool, nan: bool) -> Any:
    """The distribution to be skewed: a standard normal one if None.

    Raises:
      TypeError: it has another dtype.
      ValueError: it is not of single numbers, or has no gradients and is checked.
    """
    if distribution is None:
        zero, one = array_ops.zeros([], dtype=dtype), array_ops.ones([], dtype=dtype)
        return Normal(loc=zero, scale=one, allow_nan_stats=nan)
    if distribution.dtype != dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
            f'"{dtype.name}"'
        )
    reparameterized = distribution.reparameterization_type
    if validate_args and reparameterized != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of "
            "non-trainable variables; distribution.reparameterization_type = "
            f'"{reparameterized}" != "FULLY_REPARAMETERIZED".'
        )
    for what in ("event", "batch"):
        if getattr(distribution, f"{what}_shape").ndims != 0:
            raise ValueError(
                "distribution must be scalar; "
                f"distribution.is_scalar_{what}=False is not True"
            )
    return distribution


def _skewing(skewness: Any, tailweight: Any, is_skewed: bool) -> tuple[Any, Any]:
    """The function, and what it makes of 2 without skewing: that is to stay 2."""
    function = scalar_maps.SinhArcsinh(skewness=skewness, tailweight=tailweight)
    plain = function
    if is_skewed:
        zero = convert_to_tensor(0.0, dtype=skewness.dtype)
        plain = scalar_maps.SinhArcsinh(skewness=zero, tailweight=tailweight)
    return function, plain.forward(convert_to_tensor(2, dtype=skewness.dtype))


@export("contrib.distributions.SinhArcsinh")
class SinhArcsinh(TransformedDistribution):
    """A normal variable with lighter or heavier tails, and skewed.

    Args:
      loc: a shift.
      scale: a scale: without skewness, 2 standard deviations of the base stay that.
      skewness: none if None.
      tailweight: 1 if None; above it, tails are heavier.
      distribution: the base; standard normal if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype
            is_skewed = skewness is not None
            self._scale = convert_to_tensor(scale, name="scale", dtype=dtype)
            self._tailweight = convert_to_tensor(
                1.0 if tailweight is None else tailweight,
                name="tailweight",
                dtype=dtype,
            )
            self._skewness = convert_to_tensor(
                skewness if is_skewed else 0.0, name="skewness", dtype=dtype
            )
            shape = broadcast_shape(
                self._loc, self._scale, self._tailweight, self._skewness
            )
            base = _base(distribution, dtype, validate_args, allow_nan_stats)
            function, two = _skewing(self._skewness, self._tailweight, is_skewed)
            affine = AffineScalar(self._loc, 2 * self._scale / two, validate_args)
            super().__init__(
                base,
                bijector=Chain([affine, function]),
                batch_shape=shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def loc(self) -> Tensor:
        """The shift."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    @property
    def skewness(self) -> Tensor:
        """How far to one side."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight


@export("contrib.distributions.VectorSinhArcsinhDiag")
class VectorSinhArcsinhDiag(TransformedDistribution):
    """A vector of independent numbers, each as `SinhArcsinh`'s.

    Args:
      loc: a vector; zero if None.
      scale_diag: the scales; one if None.
      scale_identity_multiplier: is added to all of them.
      skewness: none if None.
      tailweight: 1 if None; above it, tails are heavier.
      distribution: the base, of numbers; standard normal if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=values) as name:
            self._loc = loc = optional_tensor(loc, "loc")
            self._scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_of(loc, self._scale)
            diagonal = self._scale.diag_part()
            dtype = diagonal.dtype
            is_skewed = skewness is not None
            base = _base(distribution, dtype, validate_args, allow_nan_stats)
            self._skewness = convert_to_tensor(
                skewness if is_skewed else 0.0, dtype=dtype, name="skewness"
            )
            self._tailweight = convert_to_tensor(
                1.0 if tailweight is None else tailweight,
                dtype=dtype,
                name="tailweight",
            )
            function, two = _skewing(self._skewness, self._tailweight, is_skewed)
            affine = Affine(
                shift=loc, scale_diag=2 * diagonal / two, validate_args=validate_args
            )
            super().__init__(
                base,
                bijector=Chain([affine, function]),
                batch_shape=batch_shape,
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self._scale

    @property
    def skewness(self) -> Tensor:
        """How far to one side."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight


@export("contrib.distributions.Kumaraswamy")
class Kumaraswamy(TransformedDistribution):
    """A distribution on (0, 1), like the beta distribution, with a simple inverse.

    Args:
      concentration1, concentration0: a and b of `P(x <= q) = 1 - (1 - q^a)^b`.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        with name_scope(name, values=[concentration1, concentration0]):
            first = convert_to_tensor(concentration1, name="concentration1")
            second = convert_to_tensor(concentration0, name="concentration0")
        zero, one = (f([], first.dtype) for f in (array_ops.zeros, array_ops.ones))
        super().__init__(
            Uniform(low=zero, high=one, allow_nan_stats=allow_nan_stats),
            bijector=scalar_maps.Kumaraswamy(first, second, validate_args),
            batch_shape=broadcast_shape(first, second),
            name=name,
        )
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Any:
        """The a of the formula."""
        return self.bijector.concentration1  # type: ignore[attr-defined]

    @property
    def concentration0(self) -> Any:
        """The b of the formula."""
        return self.bijector.concentration0  # type: ignore[attr-defined]

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        one = array_ops.ones([], dtype=b.dtype)
        harmonic = math_ops.digamma(b + one) - math_ops.digamma(one)
        size = math_ops.log(a) + math_ops.log(b)
        return 1 - 1.0 / a + (1 - 1.0 / b) * harmonic + size

    def _moment(self, n: int) -> Any:
        """The mean of the nth power: b B(1 + n / a, b)."""
        ones = array_ops.ones_like(self.concentration1 + self.concentration0)
        a, b = ones * self.concentration1, ones * self.concentration0
        beta = lbeta(array_ops.stack([1 + n / a, b], -1))
        return math_ops.exp(math_ops.log(b) + beta)

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - math_ops.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        if self.allow_nan_stats:
            nan = convert_to_tensor(math.nan, dtype=self.dtype)
            missing = array_ops.fill(self.batch_shape_tensor(), nan)
            return array_ops.where_v2((a > 1.0) & (b > 1.0), mode, missing)
        one = array_ops.ones([], dtype=a.dtype)
        checks = [
            check_ops.assert_less(
                one, value, message=f"Mode undefined for concentration{which} <= 1."
            )
            for which, value in ((1, a), (0, b))
        ]
        return checked(mode, checks)
