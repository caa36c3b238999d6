"""Points and weights that stand for a distribution in an integral."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.contrib.distributions.bijectors.scalar_maps import Exp
from tensorloom.contrib.distributions.bijectors.vector_maps import SoftmaxCentered
from tensorloom.contrib.distributions.transformed import TransformedDistribution
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.parameters import checked
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.fill import fill
from tensorloom.ops.debugging.check_rank import assert_rank_at_least
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.sequence import linspace
from tensorloom.ops.nn import nn_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


def concat_vectors(*vectors: Any) -> Any:
    """Vectors one after the other: a list if all are known, else a tensor."""
    known = [constant_value(convert_to_tensor(vector)) for vector in vectors]
    if any(vector is None for vector in known):
        return array_ops.concat(vectors, axis=0)
    return [value for vector in known for value in vector]


def _hermite(count: int, dtype: Any) -> tuple[Any, Any]:
    """Points and weights of Gauss and Hermite; the weights sum to one."""
    points, weights = np.polynomial.hermite.hermgauss(deg=count)
    weights = weights.astype(dtype.as_numpy_dtype)
    weights /= weights.sum(keepdims=True)
    tensor = convert_to_tensor(weights, name="probs", dtype=dtype)
    return points.astype(dtype.as_numpy_dtype), tensor


def _batch_rank(distribution: Any) -> Any:
    rank = distribution.batch_shape.ndims
    if rank is None:
        return array_ops.shape(distribution.batch_shape_tensor())[0]
    return rank


def _edges(distribution: Any, count: int) -> Any:
    """Quantiles between equal parts, along a first axis; not the ends."""
    zero = array_ops.zeros([], dtype=distribution.dtype)
    parts = linspace(zero, 1.0, count + 3)[1:-1]
    ones = array_ops.ones([_batch_rank(distribution)], dtype=dtypes.int32)
    spread = array_ops.reshape(parts, shape=array_ops.concat([[-1], ones], axis=0))
    return distribution.quantile(spread)


def _first_axis_last(values: Any, rank: Any) -> Any:
    order = array_ops.concat([math_ops.range(1, 1 + rank), [0]], axis=0)
    return array_ops.transpose(values, order)


def _equal_weights(count: int, dtype: Any) -> Any:
    return fill(dims=[count], value=1.0 / math_ops.cast(count, dtype))


@export("contrib.distributions.quadrature_scheme_lognormal_gauss_hermite")
def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any,
    scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Logarithms of points for log-normal distributions, by Gauss and Hermite.

    Args:
      loc, scale: tensors, of the normal distributions.
      quadrature_size: how many points.
      validate_args: not looked at.
      name: of the scope.

    Returns:
      Points [..., quadrature_size] and weights [quadrature_size].
    """
    scope = "vector_diffeomixture_quadrature_gauss_hermite"
    with name_scope(name, scope, [loc, scale]):
        points, weights = _hermite(quadrature_size, loc.dtype)
        return loc[..., None] + math.sqrt(2.0) * scale[..., None] * points, weights


@export("contrib.distributions.quadrature_scheme_lognormal_quantiles")
def quadrature_scheme_lognormal_quantiles(
    loc: Any,
    scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points for log-normal distributions, in the middle between quantiles.

    Args:
      loc, scale: tensors, of the normal distributions.
      quadrature_size: how many points.
      validate_args: whether steps check arguments.
      name: of the scope.

    Returns:
      Points [..., quadrature_size] and equal weights [quadrature_size].
    """
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        distribution = TransformedDistribution(
            distribution=Normal(loc=loc, scale=scale),
            bijector=Exp(),
            validate_args=validate_args,
        )
        edges = _first_axis_last(
            _edges(distribution, quadrature_size), _batch_rank(distribution)
        )
        points = (edges[..., :-1] + edges[..., 1:]) / 2.0
        points.set_shape(distribution.batch_shape.concatenate([quadrature_size]))
        return points, _equal_weights(quadrature_size, distribution.dtype)


@export("contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite")
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points for the softmax of normal distributions, by Gauss and Hermite.

    Args:
      normal_loc, normal_scale: of the normal distributions, [..., 1].
      quadrature_size: how many points.
      validate_args: whether steps check arguments.
      name: of the scope.

    Returns:
      Points [..., 2, quadrature_size] and weights [quadrature_size].

    Raises:
      ValueError: a parameter is a scalar.
      NotImplementedError: there are more components than two; TensorFlow has no such.
    """
    scope = "quadrature_scheme_softmaxnormal_gauss_hermite"
    with name_scope(name, scope, [normal_loc, normal_scale]):
        loc, scale = _softmax_parameters(normal_loc, normal_scale, validate_args)
        points, weights = _hermite(quadrature_size, loc.dtype.base_dtype)
        normal = loc[..., None] + math.sqrt(2.0) * scale[..., None] * points
        logits = -array_ops.concat(
            [array_ops.zeros_like(normal[..., :1, :]), normal], axis=-2
        )
        return nn_ops.softmax(logits, axis=-2), weights


@export("contrib.distributions.quadrature_scheme_softmaxnormal_quantiles")
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points for the softmax of normal distributions, in the middle between quantiles.

    Args:
      normal_loc, normal_scale: of the normal distributions, [..., 1].
      quadrature_size: how many points.
      validate_args: whether steps check arguments.
      name: of the scope.

    Returns:
      Points [..., 2, quadrature_size] and equal weights [quadrature_size].

    Raises:
      ValueError: a parameter is a scalar.
      NotImplementedError: there are more components than two; TensorFlow has no such.
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc, scale = _softmax_parameters(normal_loc, normal_scale, validate_args)
        distribution = Normal(loc=loc, scale=scale)
        batch = distribution.batch_shape.with_rank_at_least(1)
        count = batch[-1].value
        components = None if count is None else count + 1

        def shape(last: int) -> TensorShape:
            return batch[:-1].concatenate([components, last])

        edges = SoftmaxCentered().forward(_edges(distribution, quadrature_size))
        edges = _first_axis_last(edges, _batch_rank(distribution))
        edges.set_shape(shape(quadrature_size + 1))
        points = (edges[..., :-1] + edges[..., 1:]) / 2.0
        points.set_shape(shape(quadrature_size))
        return points, _equal_weights(quadrature_size, distribution.dtype)


def _softmax_parameters(loc: Any, scale: Any, validate_args: bool) -> tuple[Any, Any]:
    loc = convert_to_tensor(loc, name="normal_loc")
    dtype = loc.dtype.base_dtype
    scale = convert_to_tensor(scale, dtype=dtype, name="normal_scale")
    return loc, _checked_parameter(scale, "normal_scale", validate_args)


def _checked_parameter(parameter: Tensor, name: str, validate_args: bool) -> Any:
    """The parameter, a vector or a batch of vectors of size 1."""
    checks: list[Any] = []
    with name_scope(f"check_{name}", values=[parameter]):
        shape = parameter.shape
        if shape.ndims == 0:
            raise ValueError(
                "Mixing params must be a (batch of) vector; "
                f"{name}.rank={shape.ndims} is not at least one."
            )
        if shape.ndims is None and validate_args:
            message = (
                "Mixing params must be a (batch of) vector; "
                f"{name}.rank is not at least one."
            )
            checks.append(assert_rank_at_least(parameter, 1, message=message))
        size = shape.with_rank_at_least(1)[-1].value
        if size != 1:
            raise NotImplementedError(
                f"Currently only bimixtures are supported; {name}.shape[-1]={size} is "
                "not 1."
            )
        return checked(parameter, checks)
