"""Normal distributions of vectors, by their scale: diagonal, triangular, low rank."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.distributions.bijectors.affine_maps import AffineLinearOperator
from tensorloom.contrib.distributions.scales import (
    diagonal_scale,
    is_diagonal,
    optional_tensor,
    shapes_of,
)
from tensorloom.contrib.distributions.transformed import TransformedDistribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.static_values import dimension_size
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator_identity import LinearOperatorIdentity
from tensorloom.linalg.linear_operator_low_rank_update import (
    LinearOperatorLowRankUpdate,
)
from tensorloom.linalg.linear_operator_lower_triangular import (
    LinearOperatorLowerTriangular,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.linalg.matrix_decomposition import cholesky
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


class ScaledVector(TransformedDistribution):
    """`scale x + loc`, of a vector x of independent draws of one distribution.

    Args:
      make: a function of a dtype that makes the distribution of the draws.
      loc: a vector, or None.
      scale: a `tf.linalg.LinearOperator`.
      validate_args: whether steps check arguments.
      name: of the scope.

    Raises:
      ValueError: there is no scale.
      TypeError: it is not of floats.
    """

    def __init__(
        self, make: Any, loc: Any, scale: Any, validate_args: bool, name: str
    ) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc = optional_tensor(loc, "loc")
            batch_shape, event_shape = shapes_of(loc, scale)
        super().__init__(
            make(scale.dtype),
            bijector=AffineLinearOperator(
                shift=loc, scale=scale, validate_args=validate_args
            ),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )

    @property
    def loc(self) -> Any:
        """What is added, or None."""
        return self.bijector.shift  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale  # type: ignore[attr-defined]

    def _full_shape(self) -> Any:
        static = self.batch_shape.concatenate(self.event_shape)
        if static.is_fully_defined():
            return static.as_list()
        return array_ops.concat(
            [self.batch_shape_tensor(), self.event_shape_tensor()], 0
        )

    def _shifted(self, value: Any) -> Any:
        """A vector plus `loc`, in the full shape."""
        shape = self._full_shape()
        if self.loc is not None:
            value = self.loc if value is None else value + self.loc
        if value is None:
            return array_ops.zeros(shape, self.dtype)
        if isinstance(shape, list) and value.shape.is_compatible_with(shape):
            return array_ops.identity(value)
        return value + array_ops.zeros(shape, self.dtype)

    def _covariance_of_scale(self) -> Any:
        if is_diagonal(self.scale):
            return array_ops.matrix_diag(math_ops.square(self.scale.diag_part()))
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance_of_scale(self) -> Any:
        if is_diagonal(self.scale):
            return math_ops.square(self.scale.diag_part())
        dense = self.scale.to_dense()
        is_symmetric = isinstance(self.scale, LinearOperatorLowRankUpdate)
        is_symmetric = is_symmetric and bool(self.scale.is_self_adjoint)
        product = self.scale.matmul(dense, adjoint_arg=not is_symmetric)
        return array_ops.matrix_diag_part(product)


def _standard_normal(dtype: Any) -> Normal:
    zero, one = array_ops.zeros([], dtype=dtype), array_ops.ones([], dtype=dtype)
    return Normal(loc=zero, scale=one)


class MultivariateNormalLinearOperator(ScaledVector):
    """The normal distribution of mean `loc` and covariance `scale scale^T`.

    Args:
      loc: the mean; zero if None.
      scale: a `tf.linalg.LinearOperator`.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        super().__init__(_standard_normal, loc, scale, validate_args, name)
        self._parameters = parameters

    def _mean(self) -> Any:
        return self._shifted(None)

    def _mode(self) -> Any:
        return self._mean()

    def _covariance(self) -> Any:
        return self._covariance_of_scale()

    def _variance(self) -> Any:
        return self._variance_of_scale()

    def _stddev(self) -> Any:
        if is_diagonal(self.scale):
            return math_ops.abs(self.scale.diag_part())
        return math_ops.sqrt(self._variance_of_scale())


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_of_normals(a: Any, b: Any, name: str | None = None) -> Any:
    parents = [*a.scale.graph_parents, *b.scale.graph_parents]
    with name_scope(name, "kl_mvn", values=[a.loc, b.loc, *parents]):
        if is_diagonal(a.scale) and is_diagonal(b.scale):
            ratio = (a.stddev() / b.stddev())[..., None]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        apart = b.scale.solve((b.mean() - a.mean())[..., None])
        squares = [
            math_ops.reduce_sum(math_ops.square(one), axis=[-2, -1])
            for one in (ratio, apart)
        ]
        size = math_ops.cast(a.scale.domain_dimension_tensor(), a.dtype)
        volumes = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        divergence = volumes + 0.5 * (squares[0] + squares[1] - size)
        divergence.set_shape(
            array_ops.broadcast_static_shape(a.batch_shape, b.batch_shape)
        )
        return divergence


@export("contrib.distributions.MultivariateNormalDiag")
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The normal distribution of a vector of independent numbers.

    Args:
      loc: the mean; zero if None.
      scale_diag: the standard deviations; one if None.
      scale_identity_multiplier: is added to all of them.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: nothing tells the size.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier]
        with name_scope(name) as name, name_scope("init", values=values):
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """`MultivariateNormalDiag` of softplus of the standard deviations."""

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc,
                nn_ops.softplus(scale_diag),
                None,
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution whose covariance has a given Cholesky factor.

    Args:
      loc: the mean; zero if None.
      scale_tril: the factor, lower triangular; the identity if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: neither is given.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc = optional_tensor(loc, "loc")
            scale: Any
            if scale_tril is None:
                scale = LinearOperatorIdentity(
                    num_rows=dimension_size(loc, -1),
                    dtype=loc.dtype,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    assert_proper_shapes=validate_args,
                )
            else:
                scale = LinearOperatorLowerTriangular(
                    convert_to_tensor(scale_tril, name="scale_tril"),
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of a given covariance.

    Args:
      loc: the mean; zero if None.
      covariance_matrix: symmetric and positive definite; the identity if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        values = [loc, covariance_matrix]
        with name_scope(name) as name, name_scope("init", values=values):
            factor = None
            if covariance_matrix is not None:
                matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    message = "Matrix was not symmetric"
                    other = array_ops.matrix_transpose(matrix)
                    check = check_ops.assert_near(matrix, other, message=message)
                    matrix = checked(matrix, [check])
                factor = cholesky(matrix)
            super().__init__(loc, factor, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution whose scale is a diagonal and a matrix of low rank.

    Args:
      loc: the mean; zero if None.
      scale_diag: the diagonal.
      scale_identity_multiplier: is added to it.
      scale_perturb_factor: U, of few columns: `U diag(m) U^T` is added.
      scale_perturb_diag: m; ones if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        parts = [scale_diag, scale_identity_multiplier]
        low_rank = [scale_perturb_factor, scale_perturb_diag]
        values = [loc, *parts, *low_rank]
        has_low_rank = any(part is not None for part in low_rank)
        with name_scope(name) as name, name_scope("init", values=values):
            scale = diagonal_scale(
                loc,
                scale_diag,
                scale_identity_multiplier,
                validate_args=validate_args,
                assert_positive=has_low_rank,
            )
            if has_low_rank:
                scale = LinearOperatorLowRankUpdate(
                    scale,
                    u=optional_tensor(scale_perturb_factor, "scale_perturb_factor"),
                    diag_update=optional_tensor(
                        scale_perturb_diag, "scale_perturb_diag"
                    ),
                    is_diag_update_positive=scale_perturb_diag is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    is_square=True,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters
