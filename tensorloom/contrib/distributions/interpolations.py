"""Locations and scales between two ends, for `VectorDiffeomixture`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorloom.distributions.reparameterization import FULLY_REPARAMETERIZED
from tensorloom.distributions.static_values import maybe_get_static_value
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from tensorloom.linalg.linear_operator_lower_triangular import (
    LinearOperatorLowerTriangular,
)
from tensorloom.linalg.operator_sums import add_operators
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops


class MixtureShapes(NamedTuple):
    """The shapes of a mixture, as far as they are known, and as tensors."""

    batch: Any
    batch_tensor: Any
    event: Any
    event_tensor: Any


def check_two(ends: Sequence[Any]) -> None:
    """Raises NotImplementedError where there are more ends than two."""
    if len(ends) != 2:
        raise NotImplementedError(
            f"Currently only bimixtures are supported; len(scale)={len(ends)} is not 2."
        )


def _count(grid: Tensor) -> int:
    count = grid.shape.with_rank_at_least(1)[-1].value
    if count is None:
        raise ValueError(
            "Num quadrature grid points must be known prior to graph execution."
        )
    return int(count)


def interpolate_loc(grid: Tensor, loc: Sequence[Any]) -> list[Any]:
    """The location at each point of the grid, [..., 2, points]; None for zero."""
    check_two(loc)
    count = _count(grid)
    with name_scope("interpolate_loc", values=[grid, *loc]):
        if loc[0] is None and loc[1] is None:
            return [None] * count
        share = grid[..., None, :, :]
        first, second = (None if one is None else one[..., None] for one in loc)
        if first is None:
            between = share[..., 1, :] * second
        elif second is None:
            between = share[..., 0, :] * first
        else:
            between = share[..., 0, :] * (first - second) + second
        return [between[..., number] for number in range(count)]


def interpolate_scale(grid: Tensor, scale: Sequence[Any]) -> list[Any]:
    """The scale at each point of the grid, a `LinearOperator`."""
    check_two(scale)
    count = _count(grid)
    with name_scope("interpolate_scale", values=[grid]):
        return [
            add_operators(
                [
                    _scaled(grid[..., end, number], operator)
                    for end, operator in enumerate(scale)
                ]
            )[0]
            for number in range(count)
        ]


def _scaled(weight: Tensor, operator: Any) -> Any:
    """An operator times a weight above zero."""
    hints = {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
    }
    with name_scope("linop_scale", values=[weight]):
        if isinstance(operator, (LinearOperatorIdentity, LinearOperatorScaledIdentity)):
            if isinstance(operator, LinearOperatorScaledIdentity):
                weight = weight * operator.multiplier
            return LinearOperatorScaledIdentity(
                num_rows=operator.range_dimension_tensor(), multiplier=weight, **hints
            )
        if isinstance(operator, LinearOperatorDiag):
            return LinearOperatorDiag(
                diag=weight[..., None] * operator.diag_part(), **hints
            )
        if isinstance(operator, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(
                tril=weight[..., None, None] * operator.to_dense(), **hints
            )
        raise NotImplementedError(f"Unsupported Linop type ({type(operator).__name__})")


def shapes_of_mixture(grid: Tensor, endpoint_affine: Sequence[Any]) -> MixtureShapes:
    """The shapes that the grid and all affine maps are broadcast to."""
    static, dynamic = (
        array_ops.broadcast_static_shape,
        array_ops.broadcast_dynamic_shape,
    )
    with name_scope("determine_batch_event_shapes"):
        batch, batch_tensor = grid.shape[:-2], array_ops.shape(grid)[:-2]
        event: Any = None
        event_tensor: Any = None
        for affine in endpoint_affine:
            parts = []
            shift, scale = affine.shift, affine.scale
            if shift is not None:
                sizes, known = array_ops.shape(shift), shift.shape
                parts.append((known[:-1], sizes[:-1], known[-1:], sizes[-1:]))
            if scale is not None:
                parts.append(
                    (
                        scale.batch_shape,
                        scale.batch_shape_tensor(),
                        TensorShape([scale.range_dimension]),
                        scale.range_dimension_tensor()[None],
                    )
                )
            for own, own_tensor, own_event, own_event_tensor in parts:
                batch = static(batch, own)
                batch_tensor = dynamic(batch_tensor, own_tensor)
                if event is None:
                    event, event_tensor = own_event, own_event_tensor
                else:
                    event = static(event, own_event)
                    event_tensor = dynamic(event_tensor, own_event_tensor)
        return MixtureShapes(batch, batch_tensor, event, event_tensor)


def scalar_checks(distribution: Any, dtype: Any, validate_args: bool) -> list[Any]:
    """Checks that a distribution is of scalars, one, of a dtype, reparameterized.

    Raises:
      TypeError: its dtype is another.
      ValueError: it is known not to be so.
    """
    if distribution.dtype != dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
            f'"{dtype.name}"'
        )
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of "
            f'non-trainable variables; distribution.reparameterization_type = "{kind}" '
            '!= "FULLY_REPARAMETERIZED".'
        )
    checks = []
    with name_scope("check_distribution"):
        for what, is_scalar in (
            ("event", distribution.is_scalar_event()),
            ("batch", distribution.is_scalar_batch()),
        ):
            message = f"distribution must be scalar-{what} for this distribution"
            known = maybe_get_static_value(is_scalar)
            if known is None:
                if validate_args:
                    checks.append(
                        check_ops.assert_equal(is_scalar, True, message=message)
                    )
            elif not known:
                raise ValueError(f"{message}.")
    return checks
