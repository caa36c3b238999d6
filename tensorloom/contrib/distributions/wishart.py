"""Wishart distributions: positive definite matrices, as sums of squares of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import checked, derived_seed
from tensorloom.distributions.reparameterization import FULLY_REPARAMETERIZED
from tensorloom.distributions.value_checks import assert_symmetric
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator_lower_triangular import (
    LinearOperatorLowerTriangular,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.linalg import matrix_diag
from tensorloom.ops.linalg.matrix_decomposition import cholesky
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.sequence import linspace
from tensorloom.ops.random import random_ops


class WishartLinearOperator(Distribution):
    """Matrices X with density det(X)^((df - k - 1) / 2) exp(-tr(V^-1 X) / 2) / Z.

    Z is 2^(df k / 2) det(V)^(df / 2) Gamma_k(df / 2), and V, k by k, is the scale.

    Args:
      df: degrees of freedom, k or more.
      scale_operator: a `LinearOperator` S with V = S S^T.
      cholesky_input_output_matrices: whether matrices that go in and out are Cholesky
        factors.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      TypeError: the scale is not of floats, or `df` of another dtype.
      ValueError: the scale is not square, or `df` is less than k.
    """

    def __init__(
        self,
        df: Any,
        scale_operator: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        self._cholesky_input_output_matrices = cholesky_input_output_matrices
        operator = self._scale_operator = scale_operator
        with name_scope(name) as name, name_scope("init", values=[df]):
            if not operator.dtype.is_floating:
                raise TypeError(
                    f"scale_operator.dtype={operator.dtype} is not a floating-point "
                    "type"
                )
            if not operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._df = convert_to_tensor(df, dtype=operator.dtype, name="df")
            size: Any = None
            if operator.shape.ndims is not None:
                size = operator.shape[-1].value
            if size is None:
                self._dimension = math_ops.cast(
                    operator.domain_dimension_tensor(),
                    dtype=operator.dtype,
                    name="dimension",
                )
            else:
                self._dimension = convert_to_tensor(
                    size, dtype=operator.dtype, name="dimension"
                )
            self._check_degrees(validate_args)
        super().__init__(
            dtype=operator.dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            reparameterization_type=FULLY_REPARAMETERIZED,
            parameters=parameters,
            graph_parents=[self._df, self._dimension, *operator.graph_parents],
            name=name,
        )

    def _check_degrees(self, validate_args: bool) -> None:
        degrees, size = constant_value(self._df), constant_value(self._dimension)
        if degrees is not None and size is not None:
            if np.any(np.asarray(degrees) < size):
                raise ValueError(
                    f"Degrees of freedom (df = {np.atleast_1d(degrees)}) cannot be "
                    f"less than dimension of scale matrix (scale.dimension = {size})"
                )
            return
        if validate_args:
            enough = check_ops.assert_less_equal(
                self._dimension,
                self._df,
                message=(
                    f"Degrees of freedom (df = {self._df}) cannot be less than "
                    f"dimension of scale matrix (scale.dimension = {self._dimension})"
                ),
            )
            self._df = checked(self._df, [enough])

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    def _square_scale_operator(self) -> Any:
        dense = self.scale_operator.to_dense()
        return self.scale_operator.matmul(dense, adjoint_arg=True)

    def scale(self) -> Any:
        """The scale V, or its factor where factors go in and out."""
        if self._cholesky_input_output_matrices:
            return self.scale_operator.to_dense()
        return self._square_scale_operator()

    @property
    def scale_operator(self) -> Any:
        """The factor S of the scale, a `LinearOperator`."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices that go in and out are Cholesky factors."""
        return self._cholesky_input_output_matrices

    @property
    def dimension(self) -> Any:
        """k."""
        return self._dimension

    def _event_shape_tensor(self) -> Any:
        size = self.scale_operator.domain_dimension_tensor()
        return array_ops.stack([size, size])

    def _event_shape(self) -> TensorShape:
        size = self.scale_operator.domain_dimension
        return TensorShape([size, size])

    def _batch_shape_tensor(self) -> Any:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        """By Bartlett: a triangle of normal draws, with roots of chi-squares on it."""
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = array_ops.shape(batch)[0] + 3
        drawn = random_ops.random_normal(
            shape=array_ops.concat([[n], batch, event], 0),
            mean=0.0,
            stddev=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        degrees = self.df * array_ops.ones(
            self.scale_operator.batch_shape_tensor(), dtype=self.df.dtype.base_dtype
        )
        squares = random_ops.random_gamma(
            shape=[n],
            alpha=self._multi_gamma_sequence(0.5 * degrees, self.dimension),
            beta=0.5,
            dtype=self.dtype,
            seed=derived_seed(seed, "wishart"),
        )
        lower = matrix_diag.matrix_band_part(drawn, -1, 0)
        lower = matrix_diag.matrix_set_diag(lower, math_ops.sqrt(squares))
        # Draws last, so that one product serves all of a batch.
        order = array_ops.concat([math_ops.range(1, rank), [0]], 0)
        columns = array_ops.reshape(
            array_ops.transpose(lower, order),
            array_ops.concat([batch, [event[0]], [-1]], 0),
        )
        scaled = array_ops.reshape(
            self.scale_operator.matmul(columns),
            array_ops.concat([batch, event, [n]], 0),
        )
        order = array_ops.concat([[rank - 1], math_ops.range(0, rank - 1)], 0)
        factor = array_ops.transpose(scaled, order)
        if self.cholesky_input_output_matrices:
            return factor
        return math_ops.matmul(factor, factor, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        factor = x if self.cholesky_input_output_matrices else cholesky(x)
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = array_ops.rank(factor)
        sample_rank = rank - array_ops.shape(batch)[0] - 2
        sample = array_ops.shape(factor)[:sample_rank]
        # Draws last, so that one solution serves all of a batch.
        first, last = math_ops.range(0, sample_rank), math_ops.range(sample_rank, rank)
        turned = array_ops.transpose(factor, array_ops.concat([last, first], 0))
        size = math_ops.cast(self.dimension, dtype=dtypes.int32)
        columns = array_ops.reshape(turned, array_ops.concat((batch, (size, -1)), 0))
        solved = array_ops.reshape(
            self.scale_operator.solve(columns),
            array_ops.concat([batch, event, sample], 0),
        )
        split = rank - sample_rank
        order = [math_ops.range(split, rank), math_ops.range(0, split)]
        solved = array_ops.transpose(solved, array_ops.concat(order, 0))
        # tr(V^-1 L L^T) is the sum of squares of S^-1 L.
        trace = math_ops.reduce_sum(math_ops.square(solved), axis=[-2, -1])
        half_log_det = math_ops.reduce_sum(
            math_ops.log(matrix_diag.matrix_diag_part(factor)), axis=[-1]
        )
        log_prob = (
            (self.df - self.dimension - 1.0) * half_log_det
            - 0.5 * trace
            - self.log_normalization()
        )
        if x.get_shape().ndims is not None:
            log_prob.set_shape(x.get_shape()[:-2])
        return log_prob

    def _prob(self, x: Any) -> Any:
        return math_ops.exp(self._log_prob(x))

    def _entropy(self) -> Any:
        half_next, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        return (
            self.dimension * (half_df + half_next * math.log(2.0))
            + 2 * half_next * self.scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df, self.dimension)
            + (half_next - half_df) * self._multi_digamma(half_df, self.dimension)
        )

    def _mean(self) -> Any:
        if self.cholesky_input_output_matrices:
            return math_ops.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square_scale_operator()

    def _variance(self) -> Any:
        x = math_ops.sqrt(self.df) * self._square_scale_operator()
        diagonal = array_ops.expand_dims(matrix_diag.matrix_diag_part(x), -1)
        variance = math_ops.square(x) + math_ops.matmul(
            diagonal, diagonal, adjoint_b=True
        )
        return cholesky(variance) if self.cholesky_input_output_matrices else variance

    def _stddev(self) -> Any:
        if self.cholesky_input_output_matrices:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does "
                "not make sense."
            )
        return cholesky(self.variance())

    def _mode(self) -> Any:
        factor = self.df - self.dimension - 1.0
        nan = constant(float("NaN"), dtype=self.dtype, name="nan")
        factor = where_v2(math_ops.less(factor, 0.0), nan, factor)
        if self.cholesky_input_output_matrices:
            return math_ops.sqrt(factor) * self.scale_operator.to_dense()
        return factor * self._square_scale_operator()

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """The mean of log(det(X))."""
        with self._name_scope(name):
            return (
                self._multi_digamma(0.5 * self.df, self.dimension)
                + self.dimension * math.log(2.0)
                + 2 * self.scale_operator.log_abs_determinant()
            )

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """log(Z)."""
        with self._name_scope(name):
            return (
                self.df * self.scale_operator.log_abs_determinant()
                + 0.5 * self.df * self.dimension * math.log(2.0)
                + self._multi_lgamma(0.5 * self.df, self.dimension)
            )

    def _multi_gamma_sequence(
        self, a: Any, p: Any, name: str = "multi_gamma_sequence"
    ) -> Any:
        """a, a - 1/2, ..., a - (p - 1) / 2 along a new last axis."""
        with self._name_scope(name, values=[a, p]):
            zero = constant(0.0, dtype=self.dtype)
            steps = linspace(zero, 0.5 - 0.5 * p, math_ops.cast(p, dtypes.int32))
            return steps + array_ops.expand_dims(a, [-1])

    def _multi_lgamma(self, a: Any, p: Any, name: str = "multi_lgamma") -> Any:
        """log(Gamma_p(a))."""
        with self._name_scope(name, values=[a, p]):
            logs = math_ops.lgamma(self._multi_gamma_sequence(a, p))
            constant_part = 0.25 * p * (p - 1.0) * math.log(math.pi)
            return constant_part + math_ops.reduce_sum(logs, axis=[-1])

    def _multi_digamma(self, a: Any, p: Any, name: str = "multi_digamma") -> Any:
        """The derivative of log(Gamma_p(a))."""
        with self._name_scope(name, values=[a, p]):
            parts = math_ops.digamma(self._multi_gamma_sequence(a, p))
            return math_ops.reduce_sum(parts, axis=[-1])


def _triangular(factor: Any) -> LinearOperatorLowerTriangular:
    return LinearOperatorLowerTriangular(
        tril=factor, is_non_singular=True, is_positive_definite=True, is_square=True
    )


@export("contrib.distributions.WishartCholesky")
class WishartCholesky(WishartLinearOperator):
    """A Wishart distribution by the Cholesky factor of its scale.

    Args:
      df: degrees of freedom, k or more.
      scale: the factor, [..., k, k].
      cholesky_input_output_matrices: whether matrices that go in and out are Cholesky
        factors.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      TypeError: the scale is not of floats, or `df` of another dtype.
      ValueError: `df` is less than k.
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with name_scope("init", values=[scale]):
                scale = convert_to_tensor(scale)
                if validate_args:
                    scale = checked(scale, _factor_checks(scale))
            super().__init__(
                df=df,
                scale_operator=_triangular(scale),
                cholesky_input_output_matrices=cholesky_input_output_matrices,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


def _factor_checks(scale: Tensor) -> list[Any]:
    sizes = array_ops.shape(scale)
    return [
        check_ops.assert_positive(
            matrix_diag.matrix_diag_part(scale),
            message="scale must be positive definite",
        ),
        check_ops.assert_equal(sizes[-1], sizes[-2], message="scale must be square"),
    ]


@export("contrib.distributions.WishartFull")
class WishartFull(WishartLinearOperator):
    """A Wishart distribution by its scale.

    Args:
      df: degrees of freedom, k or more.
      scale: symmetric and positive definite, [..., k, k].
      cholesky_input_output_matrices: whether matrices that go in and out are Cholesky
        factors.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      TypeError: the scale is not of floats, or `df` of another dtype.
      ValueError: `df` is less than k.
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[scale]):
            scale = convert_to_tensor(scale)
            if validate_args:
                scale = assert_symmetric(scale)
            factor = cholesky(scale)
            if validate_args:
                diagonal = matrix_diag.matrix_diag_part(factor)
                factor = checked(factor, [check_ops.assert_positive(diagonal)])
        super().__init__(
            df=df,
            scale_operator=_triangular(factor),
            cholesky_input_output_matrices=cholesky_input_output_matrices,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        self._parameters = parameters
