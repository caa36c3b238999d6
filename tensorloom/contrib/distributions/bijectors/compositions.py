"""Bijectors made of others, or of functions: chains, inverses, inline ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.distributions.bijector import Bijector, Identity
from tensorloom.framework.export import export, export_value
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

export_value(Bijector, "contrib.distributions.bijectors.Bijector")
export_value(Identity, "contrib.distributions.bijectors.Identity")


@export("contrib.distributions.bijectors.ConditionalBijector")
class ConditionalBijector(Bijector):
    """A bijector whose functions take conditions, as keyword arguments.

    `forward`, `inverse` and the Jacobians of every bijector hand them on.
    """


def _event_rank(bijectors: Sequence[Bijector], forward: bool) -> int:
    """On how many of the last axes a chain works, at least.

    Args:
      bijectors: the last one is applied first.
      forward: whether to `forward`; else to `inverse`.
    """
    rank = working = 0
    for bijector in reversed(bijectors) if forward else bijectors:
        taken, given = (
            bijector.forward_min_event_ndims,
            bijector.inverse_min_event_ndims,
        )
        if not forward:
            taken, given = given, taken
        # What was made so far has `working` axes of events; more must come in for it.
        rank += max(0, taken - working)
        working = max(taken, working) - (taken - given)
    return rank


@export("contrib.distributions.bijectors.Chain")
class Chain(Bijector):
    """`y = first(second(... last(x)))`.

    Conditions of a bijector are given as a dict, under its name.

    Args:
      bijectors: a list; the last one is applied first. The identity if None.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      NotImplementedError: one of them has several x for a y.
      ValueError: they have different dtypes.
    """

    def __init__(
        self,
        bijectors: Sequence[Bijector] | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        bijectors = () if bijectors is None else bijectors
        for bijector in bijectors:
            if not bijector._is_injective:
                raise NotImplementedError(
                    "Invert is not implemented for non-injective bijector "
                    f"({bijector.name})"
                )
        found = {bijector.dtype for bijector in bijectors} - {None}
        if len(found) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(found, key=str)}")
        self._bijectors = bijectors
        names = "_of_".join(["chain", *(bijector.name for bijector in bijectors)])
        super().__init__(
            graph_parents=list(
                itertools.chain.from_iterable(b.graph_parents for b in bijectors)
            ),
            forward_min_event_ndims=_event_rank(bijectors, forward=True),
            inverse_min_event_ndims=_event_rank(bijectors, forward=False),
            is_constant_jacobian=all(b.is_constant_jacobian for b in bijectors),
            validate_args=validate_args,
            dtype=next(iter(found), None),
            name=name or (names if bijectors else "identity"),
        )

    @property
    def bijectors(self) -> Sequence[Bijector]:
        """What it is made of; the last one is applied first."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Tensor, **kwargs: Any) -> Any:
        for bijector in reversed(self.bijectors):
            x = bijector.forward(x, **kwargs.get(bijector.name, {}))
        return x

    def _inverse(self, y: Tensor, **kwargs: Any) -> Any:
        for bijector in self.bijectors:
            y = bijector.inverse(y, **kwargs.get(bijector.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Any:
        total = math_ops.cast(0.0, dtype=y.dtype.base_dtype)
        events = _Events(y, self.inverse_min_event_ndims)
        for bijector in self.bijectors:
            conditions = kwargs.get(bijector.name, {})
            total += bijector.inverse_log_det_jacobian(
                y, event_ndims=events.rank, **conditions
            )
            events.become(
                bijector.inverse_event_shape, bijector.inverse_event_shape_tensor
            )
            y = bijector.inverse(y, **conditions)
        return total

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Any:
        total = math_ops.cast(0.0, dtype=x.dtype.base_dtype)
        events = _Events(x, self.forward_min_event_ndims)
        for bijector in reversed(self.bijectors):
            conditions = kwargs.get(bijector.name, {})
            total += bijector.forward_log_det_jacobian(
                x, event_ndims=events.rank, **conditions
            )
            events.become(
                bijector.forward_event_shape, bijector.forward_event_shape_tensor
            )
            x = bijector.forward(x, **conditions)
        return total


class _Events:
    """The shape of one event on its way through a chain, as far as it is known."""

    def __init__(self, tensor: Tensor, rank: int) -> None:
        self.rank: Any = rank
        self._is_static = tensor.shape.is_fully_defined()
        if self._is_static:
            axes = tensor.shape.ndims or 0
            self._shape: Any = tensor.shape[axes - rank :]
        else:
            self._shape = array_ops.shape(tensor)[array_ops.rank(tensor) - rank :]

    def become(
        self, static: Callable[[Any], Any], dynamic: Callable[[Any], Any]
    ) -> None:
        """Goes through a bijector, which says what shape comes out."""
        if self._is_static:
            self._shape = static(self._shape)
            self.rank = self._shape.ndims
            return
        self._shape = dynamic(self._shape)
        size = array_ops.size(self._shape)
        known = constant_value(size)
        self.rank = size if known is None else int(known)


@export("contrib.distributions.bijectors.Invert")
class Invert(Bijector):
    """The inverse of a bijector.

    Args:
      bijector: the other one.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      NotImplementedError: the other one has several x for a y.
    """

    def __init__(
        self,
        bijector: Bijector,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if not bijector._is_injective:
            raise NotImplementedError(
                "Invert is not implemented for non-injective bijectors."
            )
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The other one."""
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Tensor, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Tensor, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


@export("contrib.distributions.bijectors.Inline")
class Inline(Bijector):
    """A bijector of functions that are given.

    Args:
      forward_fn, inverse_fn: the function and its inverse.
      inverse_log_det_jacobian_fn, forward_log_det_jacobian_fn: the logarithms of the
        determinants of their Jacobians.
      forward_event_shape_fn, forward_event_shape_tensor_fn, inverse_event_shape_fn,
        inverse_event_shape_tensor_fn: how they change shapes; not at all if None.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: whether steps check arguments.
      forward_min_event_ndims, inverse_min_event_ndims: on how many of the last axes
        they work.
      name: of its operations.
    """

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward_fn": forward_fn,
            "inverse_fn": inverse_fn,
            "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn,
        }
        self._shapes = {
            "forward": forward_event_shape_fn,
            "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn,
            "inverse_tensor": inverse_event_shape_tensor_fn,
        }

    def _shape(self, which: str, shape: Any) -> Any:
        function = self._shapes[which]
        return shape if function is None else function(shape)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape("forward", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape("forward_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape("inverse", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape("inverse_tensor", output_shape)

    def _call(self, which: str, value: Tensor, kwargs: Any) -> Any:
        function = self._functions[which]
        if not callable(function):
            raise NotImplementedError(f"{which} is not a callable function.")
        return function(value, **kwargs)

    def _forward(self, x: Tensor, **kwargs: Any) -> Any:
        return self._call("forward_fn", x, kwargs)

    def _inverse(self, y: Tensor, **kwargs: Any) -> Any:
        return self._call("inverse_fn", y, kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Any:
        found = self._call("inverse_log_det_jacobian_fn", y, kwargs)
        return convert_to_tensor(found)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Any:
        found = self._call("forward_log_det_jacobian_fn", x, kwargs)
        return convert_to_tensor(found)
