"""`y = scale x + shift`, of numbers and of vectors."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.distributions.scales import optional_tensor, triangular_scale
from tensorloom.distributions.bijector import Bijector
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.static_values import dimension_size
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.linear_operator_low_rank_update import (
    LinearOperatorLowRankUpdate,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops


@export("contrib.distributions.bijectors.AffineScalar")
class AffineScalar(Bijector):
    """`y = scale x + shift` of each number alone.

    Args:
      shift: nothing if None.
      scale: 1 if None.
      validate_args: whether steps check that the scale is not zero.
      name: of its operations.
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        with name_scope(name), name_scope("init", values=[scale, shift]):
            self._shift = optional_tensor(shift, "shift")
            self._scale = optional_tensor(scale, "scale")
            if scale is not None and validate_args:
                zero = array_ops.zeros([], dtype=self._scale.dtype)
                check = check_ops.assert_none_equal(self._scale, zero)
                self._scale = checked(self._scale, [check])
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> Any:
        """What is added, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The factor, or None."""
        return self._scale

    def _forward(self, x: Tensor) -> Any:
        y = array_ops.identity(x)
        if self.scale is not None:
            y *= self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Any:
        x = array_ops.identity(y)
        if self.shift is not None:
            x -= self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        if self.scale is None:
            return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)
        return math_ops.log(math_ops.abs(self.scale))


class _VectorMap(Bijector):
    """`y = scale x + shift` of vectors, of a linear operator or None."""

    def __init__(
        self,
        shift: Any,
        scale: Any,
        dtype: Any,
        parents: list[Any],
        validate_args: bool,
        name: str,
    ) -> None:
        self._shift = shift
        self._scale = scale
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> Any:
        """What is added, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The linear operator, or None."""
        return self._scale

    def _checks_of_scale(self) -> list[Any]:
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []

    def _forward(self, x: Tensor) -> Any:
        if self.scale is not None:
            with control_dependencies(self._checks_of_scale()):
                x = _times(self.scale, x)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Tensor) -> Any:
        if self.shift is not None:
            y = y - self.shift
        return y if self.scale is None else _solved(self.scale, y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        if self.scale is None:
            return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)
        with control_dependencies(self._checks_of_scale()):
            return self.scale.log_abs_determinant()


def _times(scale: Any, x: Tensor) -> Any:
    """The operator applied to vectors [samples..., batch..., size]."""
    return scale.matvec(_with_batch(scale, x))


def _solved(scale: Any, y: Tensor) -> Any:
    return scale.solvevec(_with_batch(scale, y))


def _with_batch(scale: Any, x: Tensor) -> Any:
    """Vectors with at least as many axes as the operator's batch has."""
    batch = scale.batch_shape
    if batch.ndims == 0 or (
        batch.is_fully_defined()
        and x.shape.ndims is not None
        and x.shape.ndims > batch.ndims
    ):
        return x
    zeros = array_ops.zeros(
        array_ops.concat([scale.batch_shape_tensor(), [1]], 0), dtype=x.dtype
    )
    return x + zeros


def _check_dtypes(shift: Any, scale: Any) -> None:
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(
            f"shift.dtype({shift.dtype}) is incompatible with "
            f"scale.dtype({scale.dtype})."
        )


@export("contrib.distributions.bijectors.AffineLinearOperator")
class AffineLinearOperator(_VectorMap):
    """`y = scale x + shift` of vectors.

    Args:
      shift: a vector; nothing if None.
      scale: a `tf.linalg.LinearOperator`; the identity if None.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      TypeError: the scale is no operator, or has another dtype.
      ValueError: it is not known to be invertible, and that is to be checked.
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        dtype: Any = dtypes.float32
        parents: list[Any] = []
        with name_scope(name), name_scope("init", values=[shift]):
            shift = optional_tensor(shift, "shift")
            if shift is not None:
                dtype = shift.dtype.base_dtype
                parents.append(shift)
            if scale is not None:
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                _check_dtypes(shift, scale)
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                dtype = scale.dtype.base_dtype
        super().__init__(shift, scale, dtype, parents, validate_args, name)


@export("contrib.distributions.bijectors.Affine")
class Affine(_VectorMap):
    """`y = scale x + shift` of vectors, of a scale that is a sum of parts.

    The scale is `scale_identity_multiplier * identity + diag(scale_diag) + scale_tril +
    scale_perturb_factor diag(scale_perturb_diag) scale_perturb_factor^T`, of those
    parts that are given.

    Args:
      shift: a vector; nothing if None.
      scale_identity_multiplier: a number.
      scale_diag: a vector.
      scale_tril: a lower triangular matrix.
      scale_perturb_factor: a matrix of few columns.
      scale_perturb_diag: a vector, one number for each of those columns.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      ValueError: there is a `scale_perturb_diag` without a factor.
      TypeError: the shift has another dtype.
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(
                "When scale_perturb_diag is specified, scale_perturb_factor must be "
                "specified."
            )
        parts = (scale_diag, scale_tril, scale_perturb_factor)
        self._is_multiple = all(part is None for part in parts)
        values = [shift, scale_identity_multiplier, *parts, scale_perturb_diag]
        with name_scope(name), name_scope("init", values=values):
            shift = optional_tensor(shift, "shift")
            dtype = dtypes.float32 if shift is None else shift.dtype.base_dtype
            if self._is_multiple:
                scale = self._multiple(scale_identity_multiplier, dtype, validate_args)
                parents = [scale]
            else:
                scale = _sum_of_parts(
                    shift,
                    scale_identity_multiplier,
                    *parts,
                    scale_perturb_diag,
                    validate_args,
                )
                _check_dtypes(shift, scale)
                parents = [*scale.graph_parents]
            if shift is not None:
                parents.append(shift)
            dtype = scale.dtype.base_dtype
        super().__init__(shift, scale, dtype, parents, validate_args, name)

    @staticmethod
    def _multiple(value: Any, dtype: Any, validate_args: bool) -> Any:
        if value is None:
            return convert_to_tensor(1.0, dtype=dtype)
        multiple = convert_to_tensor(value, name="identity_multiplier")
        if not validate_args:
            return multiple
        zero = array_ops.zeros([], multiple.dtype)
        message = "identity_multiplier should be non-zero."
        check = check_ops.assert_none_equal(multiple, zero, message=message)
        return checked(multiple, [check])

    def _forward(self, x: Tensor) -> Any:
        if not self._is_multiple:
            return super()._forward(x)
        y = x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Any:
        if not self._is_multiple:
            return super()._inverse(y)
        x = y if self.shift is None else y - self.shift
        return x / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        if not self._is_multiple:
            return super()._forward_log_det_jacobian(x)
        size = math_ops.cast(array_ops.shape(x)[-1], dtype=self.scale.dtype)
        return math_ops.log(math_ops.abs(self.scale)) * size


def _sum_of_parts(
    shift: Any,
    multiple: Any,
    diagonal: Any,
    triangle: Any,
    factor: Any,
    factor_diagonal: Any,
    validate_args: bool,
) -> Any:
    factor = optional_tensor(factor, "perturb_factor")
    scale = triangular_scale(
        loc=shift,
        scale_tril=optional_tensor(triangle, "tril"),
        scale_diag=optional_tensor(diagonal, "diag"),
        scale_identity_multiplier=optional_tensor(multiple, "identity_multiplier"),
        shape_hint=None if factor is None else dimension_size(factor, -2),
        validate_args=validate_args,
    )
    if factor is None:
        return scale
    return LinearOperatorLowRankUpdate(
        scale,
        u=factor,
        diag_update=optional_tensor(factor_diagonal, "perturb_diag"),
        is_diag_update_positive=factor_diagonal is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )
