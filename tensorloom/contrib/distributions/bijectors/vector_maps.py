"""Functions of vectors: permutations, order, shapes, softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.distributions.bijector import Bijector
from tensorloom.distributions.parameters import checked
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


def _size(shape: TensorShape) -> int | None:
    """The last size of a shape, if it is known."""
    return shape.as_list()[-1] if shape.ndims else None


def _check_size(shape: TensorShape) -> None:
    size = _size(shape)
    if size is not None and size <= 1:
        raise ValueError(f"output_shape[-1] = {size} <= 1")


def _checked_size(shape: Tensor, wanted: bool) -> Any:
    message = "Need last dimension greater than 1."
    return checked(
        shape, [check_ops.assert_greater(shape[-1], 1, message=message)], wanted
    )


@export("contrib.distributions.bijectors.Ordered")
class Ordered(Bijector):
    """From vectors of growing numbers to vectors of any: first, logs of differences.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(
            forward_min_event_ndims=1, validate_args=validate_args, name=name
        )

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        size = _size(input_shape)
        return input_shape if size is None else TensorShape([size])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape[-1][..., None]

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        _check_size(output_shape)
        return self._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _checked_size(output_shape, self.validate_args)[-1][..., None]

    def _steps(self, x: Tensor) -> Any:
        steps = x[..., 1:] - x[..., :-1]
        message = "Forward transformation input must be strictly increasing."
        wanted = self.validate_args
        return checked(
            steps, [check_ops.assert_positive(steps, message=message)] if wanted else []
        )

    def _forward(self, x: Tensor) -> Any:
        logs = math_ops.log(self._steps(x))
        return array_ops.concat([x[..., :1], logs], axis=-1)

    def _inverse(self, y: Tensor) -> Any:
        steps = math_ops.exp(y[..., 1:])
        return math_ops.cumsum(array_ops.concat([y[..., :1], steps], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return math_ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return -math_ops.reduce_sum(math_ops.log(self._steps(x)), axis=-1)


@export("contrib.distributions.bijectors.Permute")
class Permute(Bijector):
    """The elements of vectors in another order.

    Args:
      permutation: the old places, by the new ones; an int vector.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      TypeError: it is not of integers.
      ValueError: it does not have each place once.
    """

    def __init__(
        self, permutation: Any, validate_args: bool = False, name: str | None = None
    ) -> None:
        message = (
            "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
        )
        with name_scope(name, "permute", values=[permutation]):
            places = convert_to_tensor(permutation, name="permutation")
            if not places.dtype.is_integer:
                raise TypeError(
                    f"permutation.dtype ({places.dtype.name}) should be `int`-like."
                )
            known = constant_value(places)
            if known is not None:
                if set(known) != set(range(known.size)):
                    raise ValueError(message)
            elif validate_args:
                count = array_ops.shape(places)[-1]
                falling, _ = nn_ops.top_k(-places, k=count, sorted=True)
                all_places = math_ops.range(array_ops.size(falling))
                check = check_ops.assert_equal(-falling, all_places, message=message)
                places = checked(places, [check])
            self._permutation = places
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self) -> Tensor:
        """The old places, by the new ones."""
        return self._permutation

    def _forward(self, x: Tensor) -> Any:
        return array_ops.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Tensor) -> Any:
        places = array_ops.invert_permutation(self.permutation)
        return array_ops.gather(y, places, axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return convert_to_tensor(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)


@export("contrib.distributions.bijectors.SoftmaxCentered")
class SoftmaxCentered(Bijector):
    """Probabilities of one class more than there are numbers: of a zero behind them.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self, validate_args: bool = False, name: str = "softmax_centered"
    ) -> None:
        super().__init__(
            forward_min_event_ndims=1, validate_args=validate_args, name=name
        )

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        size = _size(input_shape)
        return input_shape if size is None else TensorShape([size + 1])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return (input_shape[-1] + 1)[..., None]

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        _check_size(output_shape)
        size = _size(output_shape)
        return output_shape if size is None else TensorShape([size - 1])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        shape = _checked_size(output_shape, self.validate_args)
        return (shape[-1] - 1)[..., None]

    def _forward(self, x: Tensor) -> Any:
        logits = array_ops.concat([x, array_ops.zeros_like(x[..., :1])], axis=-1)
        return nn_ops.softmax(logits)

    def _inverse(self, y: Tensor) -> Any:
        logs = math_ops.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return -math_ops.reduce_sum(math_ops.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        total = math_ops.reduce_logsumexp(x, axis=-1, keepdims=True)
        norm = nn_ops.softplus(total)
        logs = math_ops.reduce_sum(x - norm, axis=-1, keepdims=True)
        return array_ops.squeeze(logs - norm, axis=-1)


@export("contrib.distributions.bijectors.Reshape")
class Reshape(Bijector):
    """Events in another shape.

    Args:
      event_shape_out: the shape after, an int vector; one size may be -1.
      event_shape_in: the shape before.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      TypeError: a shape is not of integers.
      ValueError: a shape is no vector, or has impossible sizes.
    """

    def __init__(
        self,
        event_shape_out: Any,
        event_shape_in: Any = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            out = convert_to_tensor(
                event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32
            )
            before = convert_to_tensor(
                event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32
            )
            checks = _shape_checks(out, validate_args)
            self._assertions = checks + _shape_checks(before, validate_args)
        self._shape_out, self._shape_in = out, before
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _reshaped(self, x: Tensor, before: Tensor, after: Tensor) -> Any:
        rank = _size(before.shape)
        known = rank is not None and self._check_event(x, before, rank)
        if self.validate_args and not known:
            x = checked(x, [_event_check(x, before)])
        if rank is None:
            sizes = array_ops.shape(x)[: array_ops.rank(x) - array_ops.shape(before)[0]]
            return array_ops.reshape(x, array_ops.concat([sizes, after], axis=0))
        axes = x.shape.ndims
        if axes == rank:
            return array_ops.reshape(x, after)
        count = array_ops.rank(x) - rank if axes is None else axes - rank
        sizes = array_ops.shape(x)[:count]
        return array_ops.reshape(x, array_ops.concat([sizes, after], axis=0))

    @staticmethod
    def _check_event(x: Tensor, before: Tensor, rank: int) -> bool:
        """Whether static shapes say that it fits. Raises ValueError if it does not."""
        expected = constant_value(before)
        if x.shape.ndims is None or expected is None:
            return False
        event = x.shape.with_rank_at_least(rank)[x.shape.ndims - rank :]
        if event.is_fully_defined():
            found = np.array(event.as_list(), np.int32)
            if not np.array_equal(found[expected >= 0], expected[expected >= 0]):
                raise ValueError(
                    "Input `event_shape` does not match `event_shape_in` "
                    f"({found} vs {expected})."
                )
        return event.is_fully_defined()

    def _forward(self, x: Tensor) -> Any:
        with control_dependencies(self._assertions):
            return self._reshaped(x, self._shape_in, self._shape_out)

    def _inverse(self, y: Tensor) -> Any:
        with control_dependencies(self._assertions):
            return self._reshaped(y, self._shape_out, self._shape_in)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return convert_to_tensor(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype)

    # What becomes of a shape is seen on zeros of that shape.
    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.forward(array_ops.zeros(input_shape)).shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.inverse(array_ops.zeros(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return array_ops.shape(self.forward(array_ops.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return array_ops.shape(self.inverse(array_ops.zeros(output_shape)))


def _event_check(x: Tensor, before: Tensor) -> Any:
    """Whether the last axes of a tensor are of these sizes; -1 is any size."""
    first = array_ops.rank(x) - array_ops.shape(before)[0]
    event = math_ops.cast(array_ops.shape(x)[first:], before.dtype)
    expected = array_ops.where_v2(before >= 0, before, event)
    message = "Input `event_shape` does not match `event_shape_in`."
    return check_ops.assert_equal(event, expected, message=message)


def _shape_checks(shape: Tensor, validate_args: bool) -> list[Any]:
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    if shape.shape.ndims is not None and shape.shape.ndims > 1:
        raise ValueError(f"`{shape}` rank ({shape.shape.ndims}) should be <= 1.")
    known = constant_value(shape)
    if known is not None:
        if np.sum(known == -1) > 1:
            raise ValueError(f"`{shape}` must have at most one `-1` (given {known})")
        if np.any(known < -1):
            raise ValueError(
                f"`{shape}` elements must be either positive integers or `-1`"
                f"(given {known})."
            )
        return []
    if not validate_args:
        return []
    open_sizes = math_ops.reduce_sum(
        math_ops.cast(math_ops.equal(shape, -1), dtypes.int32)
    )
    at_most_one = f"`{shape}` elements must have at most one `-1`."
    positive = f"`{shape}` elements must be either positive integers or `-1`."
    return [
        check_ops.assert_less_equal(open_sizes, 1, message=at_most_one),
        check_ops.assert_greater_equal(shape, -1, message=positive),
    ]
