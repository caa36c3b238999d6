"""`Bijector`: an invertible function of random variables, with its Jacobian."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank
from tensorloom.ops.math import math_ops


@dataclass
class _Pair:
    """What is known of a point and its image."""

    x: Any = None
    y: Any = None
    # The logarithm of the inverse's Jacobian, by the rank of an event.
    log_det: dict[int, Any] = field(default_factory=dict)


class Bijector(abc.ABC):
    """An invertible, differentiable function; a subclass gives `_forward` and the like.

    What was computed of a tensor is kept: `inverse(forward(x))` is x itself.

    Args:
      graph_parents: tensors that it is made of.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: whether arguments are checked when they run.
      dtype: of its arguments; any if None.
      forward_min_event_ndims, inverse_min_event_ndims: how many of the last axes
        `_forward` and `_inverse` work on, as one event; one of them at least.
      name: of its operations; from the class's name by default.

    Raises:
      ValueError: both ranks are None, one is negative, or a parent is no tensor.
      TypeError: a rank is no integer.
    """

    @abc.abstractmethod
    def __init__(
        self,
        graph_parents: Sequence[Tensor] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        ranks = (forward_min_event_ndims, inverse_min_event_ndims)
        given = [rank for rank in ranks if rank is not None]
        if not given:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        for rank, side in zip(ranks, ("forward", "inverse"), strict=True):
            if rank is not None and not isinstance(rank, int):
                raise TypeError(
                    f"Expected {side}_min_event_ndims to be of type int, got "
                    f"{type(rank).__name__}"
                )
            if rank is not None and rank < 0:
                raise ValueError(
                    f"{side}_min_event_ndims must be a non-negative integer."
                )
        self._graph_parents = list(graph_parents or [])
        for number, parent in enumerate(self._graph_parents):
            if not isinstance(parent, Tensor):
                raise ValueError(
                    f"Graph parent item {number} is not a Tensor; {parent}."
                )
        self._forward_min_event_ndims = given[0]
        self._inverse_min_event_ndims = given[-1]
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or _snake_case(type(self).__name__.lstrip("_"))
        self._pairs: dict[Any, _Pair] = {}
        self._constant_log_det: dict[int, Any] = {}

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """How many of the last axes `forward` works on."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """How many of the last axes `inverse` works on."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        """Whether `inverse` gives one value; else a tuple of all of them."""
        return True

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked when they run."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The dtype of its arguments; None for any."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of its operations."""
        return self._name

    # --- shapes ------------------------------------------------------------------

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return output_shape

    def forward_event_shape_tensor(
        self, input_shape: Any, name: str = "forward_event_shape_tensor"
    ) -> Tensor:
        """The shape of an image's event, an int32 vector."""
        with self._name_scope(name, [input_shape]):
            shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(shape)  # type: ignore[no-any-return]

    def inverse_event_shape_tensor(
        self, output_shape: Any, name: str = "inverse_event_shape_tensor"
    ) -> Tensor:
        """The shape of the event that an image comes from, an int32 vector."""
        with self._name_scope(name, [output_shape]):
            shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(shape)  # type: ignore[no-any-return]

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The static shape of an image's event."""
        return as_shape(self._forward_event_shape(as_shape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The static shape of the event that an image comes from."""
        return as_shape(self._inverse_event_shape(as_shape(output_shape)))

    # --- values ------------------------------------------------------------------

    def _forward(self, x: Tensor) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Tensor) -> Any:
        raise NotImplementedError("inverse not implemented")

    def forward(self, x: Any, name: str = "forward", **kwargs: Any) -> Any:
        """The image of x.

        Raises:
          TypeError: `x` has another dtype.
          NotImplementedError: the subclass does not say it.
        """
        with self._name_scope(name, [x]):
            x = self._argument(x, "x")
            pair = self._pair("x", x, kwargs)
            if not self._is_injective:
                return self._forward(x, **kwargs)
            if pair.y is None:
                self._complete(pair, "y", self._forward(x, **kwargs), kwargs)
            return pair.y

    def inverse(self, y: Any, name: str = "inverse", **kwargs: Any) -> Any:
        """The x whose image is y.

        Raises:
          TypeError: `y` has another dtype.
          NotImplementedError: the subclass does not say it.
        """
        with self._name_scope(name, [y]):
            y = self._argument(y, "y")
            pair = self._pair("y", y, kwargs)
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            if pair.x is None:
                self._complete(pair, "x", self._inverse(y, **kwargs), kwargs)
            return pair.x

    # --- Jacobians ---------------------------------------------------------------

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def inverse_log_det_jacobian(
        self,
        y: Any,
        event_ndims: Any,
        name: str = "inverse_log_det_jacobian",
        **kwargs: Any,
    ) -> Any:
        """The logarithm of the determinant of the inverse's Jacobian at y.

        Args:
          event_ndims: how many of the last axes are one event, an int scalar; the
            logarithms of smaller events are summed.

        Raises:
          TypeError: `y` has another dtype.
          ValueError: `event_ndims` is no integer scalar, or too small.
          NotImplementedError: the subclass does not say it.
        """
        with self._name_scope(name, [y]):
            y = self._argument(y, "y")
            with control_dependencies(self._checks("inverse", event_ndims)):
                rank = _known_rank(event_ndims)
                pair = self._pair("y", y, kwargs)
                known = self._known(pair, rank)
                if known is not None:
                    return known
                found = self._inverse_log_det(pair, y, event_ndims, kwargs)
                self._keep(pair, rank, found)
                return found

    def forward_log_det_jacobian(
        self,
        x: Any,
        event_ndims: Any,
        name: str = "forward_log_det_jacobian",
        **kwargs: Any,
    ) -> Any:
        """The logarithm of the determinant of the Jacobian at x.

        Args:
          event_ndims: as of `inverse_log_det_jacobian`.

        Raises:
          TypeError, ValueError, NotImplementedError: as there; also where a y has more
            than one x.
        """
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective "
                "transforms."
            )
        with self._name_scope(name, [x]):
            x = self._argument(x, "x")
            with control_dependencies(self._checks("forward", event_ndims)):
                rank = _known_rank(event_ndims)
                pair = self._pair("x", x, kwargs)
                known = self._known(pair, rank)
                if known is not None:
                    return -known
                found = self._forward_log_det(pair, x, event_ndims, kwargs)
                self._keep(pair, rank, -found)
                return found

    def _inverse_log_det(
        self, pair: _Pair, y: Tensor, event_ndims: Any, kwargs: Any
    ) -> Any:
        smallest = self._inverse_min_event_ndims
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
        except NotImplementedError as missing:
            x = self._or_raise(missing, self._inverse, pair.x, y, kwargs)
            found = self._or_raise(
                missing, self._forward_log_det_jacobian, None, x, kwargs
            )
            return -_summed(x, found, self._forward_min_event_ndims, event_ndims)
        if isinstance(found, tuple):  # for each of several values
            return tuple(_summed(y, part, smallest, event_ndims) for part in found)
        return _summed(y, found, smallest, event_ndims)

    def _forward_log_det(
        self, pair: _Pair, x: Tensor, event_ndims: Any, kwargs: Any
    ) -> Any:
        try:
            found = self._forward_log_det_jacobian(x, **kwargs)
        except NotImplementedError as missing:
            y = self._or_raise(missing, self._forward, pair.y, x, kwargs)
            found = self._or_raise(
                missing, self._inverse_log_det_jacobian, None, y, kwargs
            )
            return -_summed(y, found, self._inverse_min_event_ndims, event_ndims)
        return _summed(x, found, self._forward_min_event_ndims, event_ndims)

    @staticmethod
    def _or_raise(
        missing: Exception, function: Callable[..., Any], known: Any, at: Any, kw: Any
    ) -> Any:
        """What a function gives; the first error if it is not implemented either."""
        if known is not None:
            return known
        try:
            return function(at, **kw)
        except NotImplementedError:
            raise missing from None

    # --- what is known already -----------------------------------------------------

    def _pair(self, side: str, tensor: Tensor, kwargs: Any) -> _Pair:
        """What is known of a tensor, which stays as long as that is kept."""
        key = (side, id(tensor), repr(sorted(kwargs.items())))
        new = _Pair(x=tensor) if side == "x" else _Pair(y=tensor)
        return self._pairs.setdefault(key, new)

    def _complete(self, pair: _Pair, side: str, tensor: Any, kwargs: Any) -> None:
        setattr(pair, side, tensor)
        key = (side, id(tensor), repr(sorted(kwargs.items())))
        self._pairs[key] = pair

    def _known(self, pair: _Pair, rank: int | None) -> Any:
        if rank is None:
            return None
        return pair.log_det.get(rank, self._constant_log_det.get(rank))

    def _keep(self, pair: _Pair, rank: int | None, inverse_log_det: Any) -> None:
        if rank is None:
            return
        pair.log_det[rank] = inverse_log_det
        if self._is_constant_jacobian:
            self._constant_log_det[rank] = inverse_log_det

    # --- arguments ---------------------------------------------------------------

    @contextmanager
    def _name_scope(self, name: str, values: list[Any] | None = None) -> Iterator[str]:
        """A scope for its operations; bijectors of a program's own use it, too."""
        values = [*(values or []), *self.graph_parents]
        with name_scope(self.name), name_scope(name, values=values) as scope:
            yield scope

    def _argument(self, value: Any, name: str) -> Tensor:
        tensor = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != tensor.dtype.base_dtype:
            raise TypeError(
                f"Input had dtype {tensor.dtype} but expected {self.dtype}."
            )
        return tensor

    def _checks(self, side: str, event_ndims: Any) -> list[Any]:
        """Checks of `event_ndims` when it runs; what is known is checked now."""
        smallest = getattr(self, f"_{side}_min_event_ndims")
        rank = convert_to_tensor(event_ndims, name="event_ndims")
        if not rank.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {rank.dtype}")
        if rank.shape.ndims not in (None, 0):
            raise ValueError(f"Expected scalar event_ndims, got shape {rank.shape}")
        known = constant_value(rank)
        if known is not None and smallest > known:
            raise ValueError(
                f"event_ndims ({known}) must be larger than min_event_ndims "
                f"({smallest})"
            )
        checks = []
        if self.validate_args and known is None:
            checks.append(check_ops.assert_greater_equal(rank, smallest))
        if self.validate_args and rank.shape.ndims is None:
            checks.append(check_rank.assert_rank(rank, 0, message="Expected scalar."))
        return checks


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", name).lower()


def _known_rank(event_ndims: Any) -> int | None:
    known = constant_value(convert_to_tensor(event_ndims))
    return None if known is None else int(known)


def _summed(at: Tensor, log_det: Any, smallest: int, event_ndims: Any) -> Tensor:
    """The sum over those axes of an event that are not of its smallest parts."""
    log_det = convert_to_tensor(log_det)
    rank = array_ops.rank(at)
    sizes = array_ops.shape(at)[rank - event_ndims : rank - smallest]
    # A constant Jacobian has no axes: it counts once for each part.
    repeated = array_ops.ones(sizes, log_det.dtype) * log_det
    known = _known_rank(event_ndims)
    axes: Any = (
        math_ops.range(smallest - event_ndims, 0)
        if known is None
        else list(range(smallest - known, 0))
    )
    total = math_ops.reduce_sum(repeated, axis=axes)
    axis_count = at.shape.ndims
    if None not in (known, axis_count, log_det.shape.ndims):
        assert known is not None
        assert axis_count is not None
        parts = TensorShape(
            at.shape.as_list()[axis_count - known : axis_count - smallest]
        )
        shape = array_ops.broadcast_static_shape(log_det.shape, parts).as_list()
        total.set_shape(shape[: len(shape) - (known - smallest)])
    return total


class Identity(Bijector):
    """The function whose image of x is x."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Tensor:
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        return y

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return convert_to_tensor(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return convert_to_tensor(0.0, dtype=x.dtype)
