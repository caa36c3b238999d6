"""Scales of vectors: linear operators made of diagonals, triangles and multiples."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.distributions.parameters import checked
from tensorloom.distributions.static_values import prefer_static_broadcast_shape
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from tensorloom.linalg.linear_operator_lower_triangular import (
    LinearOperatorLowerTriangular,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops


def optional_tensor(value: Any, name: str) -> Any:
    """The value as a tensor; None stays None."""
    return None if value is None else convert_to_tensor(value, name=name)


def is_diagonal(scale: Any) -> bool:
    """Whether an operator has nothing beside its diagonal."""
    return isinstance(
        scale,
        LinearOperatorIdentity | LinearOperatorScaledIdentity | LinearOperatorDiag,
    )


def _diagonal_checks(
    diagonal: Tensor, validate_args: bool, assert_positive: bool
) -> list[Any]:
    if not validate_args:
        return []
    if assert_positive:
        message = "diagonal part must be positive"
        return [check_ops.assert_positive(diagonal, message=message)]
    zero = array_ops.zeros([], diagonal.dtype)
    message = "diagonal part must be non-zero"
    return [check_ops.assert_none_equal(diagonal, zero, message=message)]


def diagonal_scale(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str = "make_diag_scale",
) -> Any:
    """An operator of a diagonal, a multiple of the identity, or both added.

    Args:
      loc: the shift that goes with it: it has as many elements.
      scale_diag: the diagonal.
      scale_identity_multiplier: the multiple.
      shape_hint: the size, where nothing else tells it.
      validate_args: whether steps check that the diagonal is not zero.
      assert_positive: whether they check that it is positive.
      name: of the scope.

    Raises:
      ValueError: nothing tells the size.
    """
    with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]):
        loc = optional_tensor(loc, "loc")
        diagonal = optional_tensor(scale_diag, "scale_diag")
        multiple = optional_tensor(
            scale_identity_multiplier, "scale_identity_multiplier"
        )
        if diagonal is not None:
            if multiple is not None:
                diagonal += multiple[..., None]
            checks = _diagonal_checks(diagonal, validate_args, assert_positive)
            return LinearOperatorDiag(
                checked(diagonal, checks),
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )
        if loc is None and shape_hint is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified."
            )
        size = loc.shape.as_list()[-1] if shape_hint is None else shape_hint
        if multiple is None:
            return LinearOperatorIdentity(
                num_rows=size,
                dtype=loc.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        checks = _diagonal_checks(multiple, validate_args, assert_positive)
        return LinearOperatorScaledIdentity(
            num_rows=size,
            multiplier=checked(multiple, checks),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )


def triangular_scale(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str = "make_tril_scale",
) -> Any:
    """An operator of a lower triangle, a diagonal and a multiple of the identity.

    Args:
      scale_tril: the triangle; what is above its diagonal is ignored.

    The other arguments, and errors, are those of `diagonal_scale`.
    """
    if scale_tril is None:
        return diagonal_scale(
            loc,
            scale_diag,
            scale_identity_multiplier,
            shape_hint,
            validate_args,
            assert_positive,
        )
    with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]):
        matrix = convert_to_tensor(scale_tril, name="scale_tril")
        matrix = array_ops.matrix_band_part(matrix, -1, 0)
        diagonal = array_ops.matrix_diag_part(matrix)
        if scale_diag is not None:
            diagonal += convert_to_tensor(scale_diag, name="scale_diag")
        if scale_identity_multiplier is not None:
            multiple = convert_to_tensor(
                scale_identity_multiplier, name="scale_identity_multiplier"
            )
            diagonal += multiple[..., None]
        matrix = array_ops.matrix_set_diag(matrix, diagonal)
        checks = _diagonal_checks(diagonal, validate_args, assert_positive)
        return LinearOperatorLowerTriangular(
            checked(matrix, checks),
            is_non_singular=True,
            is_self_adjoint=False,
            is_positive_definite=assert_positive,
        )


def shapes_of(
    loc: Any, scale: Any, name: str = "shapes_from_loc_and_scale"
) -> tuple[Any, Any]:
    """The batch shape and the event shape of a shift and a scale, known if possible.

    Raises:
      ValueError: they are of different sizes.
    """
    with name_scope(name, values=[loc, *scale.graph_parents]):
        sizes = scale.shape.as_list() if scale.shape.ndims else [None]
        known = sizes[-2] if len(sizes) > 1 else None
        size = scale.range_dimension_tensor() if known is None else known
        event_shape = size[None] if known is None else [known]
        if loc is not None and loc.shape.ndims:
            other = loc.shape.as_list()[-1]
            if None not in (known, other) and other not in (1, known):
                raise ValueError(
                    f"Event size of 'scale' ({known}) could not be broadcast up to "
                    f"that of 'loc' ({other})."
                )
        batch: Any = scale.batch_shape_tensor()
        if scale.batch_shape.is_fully_defined():
            batch = np.array(scale.batch_shape.as_list(), np.int32)
        if loc is None:
            return batch, event_shape
        batch = convert_to_tensor(batch, dtypes.int32)
        static = loc.shape.with_rank_at_least(1)[:-1]
        if loc.shape.ndims is None or not static.is_fully_defined():
            its_batch = array_ops.shape(loc)[:-1]
        else:
            its_batch = convert_to_tensor(
                static.as_list(), dtype=batch.dtype, name="loc_batch_shape"
            )
        return prefer_static_broadcast_shape(batch, its_batch), event_shape
