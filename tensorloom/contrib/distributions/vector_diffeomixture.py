"""`VectorDiffeomixture`: vectors scaled and shifted between two ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.contrib.distributions import interpolations
from tensorloom.contrib.distributions.bijectors.affine_maps import AffineLinearOperator
from tensorloom.contrib.distributions.quadratures import (
    concat_vectors,
    quadrature_scheme_softmaxnormal_quantiles,
)
from tensorloom.distributions.categorical import Categorical
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import checked, derived_seed
from tensorloom.distributions.reparameterization import FULLY_REPARAMETERIZED
from tensorloom.distributions.static_values import pick_vector
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_full_matrix import LinearOperatorFullMatrix
from tensorloom.linalg.linear_operator_identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from tensorloom.linalg.operator_sums import add_operators
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg.matrix_diag import matrix_diag_part
from tensorloom.ops.math import math_ops

_NONE: Final = np.zeros(0, np.int32)
_ANY_SIZE: Final = np.array([-1], np.int32)


@export("contrib.distributions.VectorDiffeomixture")
class VectorDiffeomixture(Distribution):
    """loc(z) + scale(z) x, where z mixes two ends and x has independent elements.

    z is the softmax of a normal number; a few values of it with weights stand for all.
    Dillon and Langmore, "Quadrature Compound", arXiv 1801.03080.

    Args:
      mix_loc: [..., 1]; the larger, the more of the second end.
      temperature: broadcast with it; the smaller, the nearer z is to one of the ends.
      distribution: of the elements of x, a scalar distribution.
      loc: two vectors, None for zeros.
      scale: two `LinearOperator`s.
      quadrature_size: how many values of z there are.
      quadrature_fn: from the normal's loc and scale, quadrature_size and validate_args
        to values of z and weights.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: there are no two scales, as many locs, or one is not positive definite
        (with `validate_args`), or the distribution is no scalar.
      TypeError: dtypes differ.
      NotImplementedError: there are more ends than two; TensorFlow has no such.
    """

    def __init__(
        self,
        mix_loc: Any,
        temperature: Any,
        distribution: Any,
        loc: Sequence[Any] | None = None,
        scale: Sequence[Any] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            scales = _checked_scales(scale, validate_args)
            dtype = scales[0].dtype.base_dtype
            locs = _locs(loc, len(scales), dtype)

            def affine(kind: str, pairs: Any) -> list[AffineLinearOperator]:
                return [
                    AffineLinearOperator(
                        shift=shift,
                        scale=operator,
                        validate_args=validate_args,
                        name=f"{kind}_affine_{number}",
                    )
                    for number, (shift, operator) in enumerate(pairs)
                ]

            self._endpoint_affine = affine("endpoint", zip(locs, scales, strict=True))
            interpolations.check_two(scales)
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(
                temperature, dtype=dtype, name="temperature"
            )
            self._grid, probs = quadrature_fn(
                mix_loc / temperature,
                1.0 / temperature,
                quadrature_size,
                validate_args,
            )
            self._mixture_distribution = Categorical(
                logits=math_ops.log(probs),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            checks = interpolations.scalar_checks(distribution, dtype, validate_args)
            self._grid = checked(self._grid, checks)
            self._distribution = distribution
            self._interpolated_affine = affine(
                "interpolated",
                zip(
                    interpolations.interpolate_loc(self._grid, locs),
                    interpolations.interpolate_scale(self._grid, scales),
                    strict=True,
                ),
            )
            self._shapes = interpolations.shapes_of_mixture(
                self._grid, self._endpoint_affine
            )
            super().__init__(
                dtype=dtype,
                reparameterization_type=FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                graph_parents=[
                    *distribution._graph_parents,
                    *(shift for shift in locs if shift is not None),
                    *(parent for one in scales for parent in one.graph_parents),
                ],
                name=name,
            )

    @property
    def mixture_distribution(self) -> Categorical:
        """Chooses a value of z."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """Of the elements of x."""
        return self._distribution

    @property
    def grid(self) -> Any:
        """The values of z, [..., 2, quadrature_size]."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[AffineLinearOperator]:
        """The affine maps of the ends."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[AffineLinearOperator]:
        """The affine map of each value of z."""
        return self._interpolated_affine

    def _batch_shape_tensor(self) -> Any:
        return self._shapes.batch_tensor

    def _batch_shape(self) -> Any:
        return self._shapes.batch

    def _event_shape_tensor(self) -> Any:
        return self._shapes.event_tensor

    def _event_shape(self) -> Any:
        return self._shapes.event

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        x = self.distribution.sample(
            sample_shape=concat_vectors(
                [n], self.batch_shape_tensor(), self.event_shape_tensor()
            ),
            seed=seed,
        )
        first, second = (affine.forward(x) for affine in self.endpoint_affine)
        size = _element_count(self.batch_shape, self.batch_shape_tensor)
        mixture = self.mixture_distribution
        own = _element_count(mixture.batch_shape, mixture.batch_shape_tensor)
        # One choice for each part of the batch, where several share weights.
        more = pick_vector(self.is_scalar_batch(), _NONE, [size // own])
        chosen = mixture.sample(
            sample_shape=concat_vectors([n], more),
            seed=derived_seed(seed, "vector_diffeomixture"),
        )
        flat = pick_vector(self.is_scalar_batch(), _NONE, _ANY_SIZE)
        chosen = array_ops.reshape(chosen, shape=concat_vectors([n], flat))
        stride: Any = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        if stride is None:
            stride = math_ops.reduce_prod(array_ops.shape(self.grid)[-2:])
        # The shares of the first end, of all parts one after the other.
        offset = math_ops.range(
            start=0, limit=size * stride, delta=stride, dtype=chosen.dtype
        )
        grid = array_ops.reshape(self.grid, shape=[-1])
        share = array_ops.reshape(
            array_ops.gather(grid, chosen + offset),
            shape=concat_vectors([-1], self.batch_shape_tensor(), [1]),
        )
        return share * (first - second) + second

    def _log_prob(self, x: Any) -> Any:
        inverses = [affine.inverse(x) for affine in self.interpolated_affine]
        log_prob = math_ops.reduce_sum(
            self.distribution.log_prob(array_ops.stack(inverses, axis=-1)), axis=-2
        )
        # Of affine maps it is the same everywhere.
        rank = array_ops.rank(self.event_shape_tensor())
        jacobians = [
            affine.forward_log_det_jacobian(x, event_ndims=rank)
            for affine in self.interpolated_affine
        ]
        logits = self.mixture_distribution.logits
        return math_ops.reduce_logsumexp(
            logits - array_ops.stack(jacobians, axis=-1) + log_prob, axis=-1
        )

    def _mean(self) -> Any:
        probs = self._expanded_probs()
        mean = self._expanded_mean()
        return sum(
            probs[..., number] * affine.forward(mean)
            for number, affine in enumerate(self.interpolated_affine)
        )

    def _covariance(self) -> Any:
        return _added(self._mean_covariance(False), self._covariance_of_means(False))

    def _variance(self) -> Any:
        return _added(self._mean_covariance(True), self._covariance_of_means(True))

    def _mean_covariance(self, diag_only: bool) -> Any:
        """The mean of the covariances for each z, as kinds of matrices sum up."""
        multiplier, diag, full = self._squared_scales(diag_only)
        variance = self.distribution.variance()
        multiplier = None if multiplier is None else multiplier * variance
        diag = None if diag is None else diag * variance[..., None]
        full = None if full is None else full * variance[..., None]
        if diag_only:
            total = _added(diag, full)
            if total is None and multiplier is not None:
                ones = array_ops.ones(self.event_shape_tensor(), dtype=self.dtype)
                return multiplier[..., None] * ones
            return _added(total, multiplier)
        positive = [
            affine.scale.is_positive_definite for affine in self.endpoint_affine
        ]
        is_positive = True if all(positive) else None
        parts: list[Any] = []
        if diag is not None:
            parts.append(LinearOperatorDiag(diag, is_positive_definite=is_positive))
        if full is not None:
            parts.append(
                LinearOperatorFullMatrix(full, is_positive_definite=is_positive)
            )
        if multiplier is not None:
            parts.append(
                LinearOperatorScaledIdentity(
                    num_rows=self.event_shape_tensor()[0],
                    multiplier=multiplier,
                    is_positive_definite=is_positive,
                )
            )
        return add_operators(parts)[0].to_dense() if parts else None

    def _squared_scales(self, diag_only: bool) -> tuple[Any, Any, Any]:
        """Weighted S S^T: of multiples of the unit matrix, of diagonals, of others."""
        probs = self.mixture_distribution.probs
        multiplier: Any = None
        diag: Any = None
        full: Any = None
        for number, affine in enumerate(self.interpolated_affine):
            scale, weight = affine.scale, probs[..., number, None]
            if scale is None or isinstance(scale, LinearOperatorIdentity):
                multiplier = _added(multiplier, weight)
            elif isinstance(scale, LinearOperatorScaledIdentity):
                square = math_ops.square(scale.multiplier)
                multiplier = _added(multiplier, weight * square)
            elif isinstance(scale, LinearOperatorDiag):
                diag = _added(diag, weight * math_ops.square(scale.diag_part()))
            else:
                square = scale.matmul(scale.to_dense(), adjoint_arg=True)
                square = weight[..., None] * square
                full = _added(full, matrix_diag_part(square) if diag_only else square)
        return multiplier, diag, full

    def _covariance_of_means(self, diag_only: bool) -> Any:
        probs = self._expanded_probs()
        if not diag_only:
            probs = probs[..., None, :]
        mean, each = self._mean(), self._expanded_mean()
        total = None
        for number, affine in enumerate(self.interpolated_affine):
            distance = affine.forward(each) - mean
            if diag_only:
                square = math_ops.square(distance)
            else:
                square = distance[..., :, None] * distance[..., None, :]
            total = _added(total, probs[..., number] * square)
        return total

    def _expanded_mean(self) -> Any:
        """The mean of x, in the shape of batch and event."""
        shape = concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        ones = array_ops.ones_like(shape, dtype=dtypes.int32)
        mean = array_ops.reshape(self.distribution.mean(), shape=ones)
        mean = array_ops.tile(mean, multiples=shape)
        mean.set_shape(self.batch_shape.concatenate(self.event_shape))
        return mean

    def _expanded_probs(self) -> Any:
        """The weights, [..., 1, quadrature_size]: to be broadcast with events."""
        probs = self.mixture_distribution.probs
        rank: Any = self.event_shape.ndims
        if rank is None:
            rank = array_ops.shape(self.event_shape_tensor())[0]
        shape = [
            self.mixture_distribution.batch_shape_tensor(),
            array_ops.ones([rank], dtype=dtypes.int32),
            array_ops.shape(probs)[-1:],
        ]
        return array_ops.reshape(probs, shape=array_ops.concat(shape, axis=0))


def _added(x: Any, y: Any) -> Any:
    """The sum; None is zero."""
    if x is None or y is None:
        return y if x is None else x
    return x + y


def _element_count(shape: Any, shape_tensor: Callable[[], Any]) -> Any:
    known = shape.num_elements()
    return math_ops.reduce_prod(shape_tensor()) if known is None else known


def _checked_scales(scale: Any, validate_args: bool) -> list[Any]:
    if not scale or len(scale) < 2:
        raise ValueError(
            "Must specify list (or list-like object) of scale LinearOperators, one for "
            "each component with num_component >= 2."
        )
    dtype = scale[0].dtype.base_dtype
    for number, operator in enumerate(scale):
        if validate_args and not operator.is_positive_definite:
            raise ValueError(
                f"scale[{number}].is_positive_definite = "
                f"{operator.is_positive_definite} != True"
            )
        if operator.dtype.base_dtype != dtype:
            raise TypeError(
                f'dtype mismatch; scale[{number}].base_dtype="'
                f'{operator.dtype.base_dtype.name}" != "{dtype.name}"'
            )
    return list(scale)


def _locs(loc: Sequence[Any] | None, count: int, dtype: Any) -> list[Any]:
    if loc is None:
        return [None] * count
    if len(loc) != count:
        raise ValueError(
            "loc/scale must be same-length lists (or same-length list-like objects)."
        )
    return [
        None if one is None else convert_to_tensor(one, dtype, name=f"loc{number}")
        for number, one in enumerate(loc)
    ]
