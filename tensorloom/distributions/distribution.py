"""The base class of distributions: names, shapes and what follows from what."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.distributions import divergence
from tensorloom.distributions.static_values import pick_vector
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.distributions.reparameterization import ReparameterizationType


@export("distributions.Distribution")
class Distribution:
    """A random variable, or a batch of independent ones of different parameters.

    A subclass gives what it knows under a leading underscore (`_log_prob`, `_mean`);
    the public methods add name scopes, conversion and what follows from the others.
    """

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: list[Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        for index, parent in enumerate(graph_parents or []):
            if not isinstance(parent, Tensor):
                raise ValueError(
                    f"Graph parent item {index} is not a Tensor; {parent}."
                )
        if not name or name[-1] != "/":
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = dict(parameters or {})
        self._graph_parents = list(graph_parents or [])
        self._name = name

    @classmethod
    def param_shapes(
        cls, sample_shape: Any, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
        """The shapes of the parameters that give samples of this shape."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The static shapes of the parameters that give samples of a static shape.

        Raises:
          ValueError: the shape is not static.
        """
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        static = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            value = constant_value(shape)
            if value is None:
                raise ValueError(
                    "sample_shape must be a fully-defined TensorShape or list/tuple"
                )
            static[name] = TensorShape(value)
        return static

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def name(self) -> str:
        """The scope of what methods add, with a slash at its end."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that made this distribution."""
        return {
            name: value
            for name, value in self._parameters.items()
            if not name.startswith("__") and name not in ("self", "__class__")
        }

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether an undefined statistic is NaN, and not an error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether steps check parameters and values."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same arguments, but for those given here."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of one event's parameters, as far as it is known."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The static shape of one draw, as far as it is known."""
        return TensorShape(self._event_shape())

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        """`n` draws along a new first dimension; a kind of distribution says how."""
        raise NotImplementedError(f"sample_n is not implemented: {type(self).__name__}")

    def _batch_shape_tensor(self) -> Tensor:
        raise NotImplementedError(
            f"batch_shape_tensor is not implemented: {type(self).__name__}"
        )

    def _event_shape_tensor(self) -> Tensor:
        raise NotImplementedError(
            f"event_shape_tensor is not implemented: {type(self).__name__}"
        )

    def _batch_shape(self) -> Any:
        return TensorShape(None)

    def _event_shape(self) -> Any:
        return TensorShape(None)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The batch shape, int32 of rank one."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return _shape_constant(self.batch_shape, "batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """The event shape, int32 of rank one."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return _shape_constant(self.event_shape, "event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether one draw is a scalar."""
        with self._name_scope(name):
            scalar = _is_scalar(self.event_shape, self.event_shape_tensor)
            return convert_to_tensor(scalar, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution and no batch."""
        with self._name_scope(name):
            scalar = _is_scalar(self.batch_shape, self.batch_shape_tensor)
            return convert_to_tensor(scalar, name="is_scalar_batch")

    def sample(
        self, sample_shape: Any = (), seed: Any = None, name: str = "sample"
    ) -> Tensor:
        """Draws of shape `sample_shape + batch_shape + event_shape`."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(
        self, sample_shape: Any, seed: Any, name: str, **kwargs: Any
    ) -> Tensor:
        """`sample`, which may have conditions; kinds of distributions draw here."""
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(
                sample_shape, dtype=dtypes.int32, name="sample_shape"
            )
            shape, count = self._as_vector(shape)
            drawn = self._sample_n(count, seed, **kwargs)
            rest = array_ops.shape(drawn)[1:]
            samples = array_ops.reshape(drawn, array_ops.concat([shape, rest], 0))
            return self._with_static_shape(samples, shape)

    def _as_vector(self, shape: Tensor) -> tuple[Tensor, Any]:
        """The shape as a vector; and how many draws it asks for, a number if known."""
        static = constant_value(shape)
        if static is not None:
            count: Any = np.prod(static, dtype=np.int32)
        else:
            count = math_ops.reduce_prod(shape)
        if shape.shape.ndims is None:
            scalar = math_ops.equal(array_ops.rank(shape), 0)
            one = np.array([1], np.int32)
            vector = pick_vector(scalar, one, array_ops.shape(shape))
            shape = array_ops.reshape(shape, vector)
        elif shape.shape.ndims == 0:
            if static is not None:
                one = np.array([static], np.int32)
                shape = convert_to_tensor(one, name="sample_shape")
            else:
                shape = array_ops.reshape(shape, [1])
        elif shape.shape.ndims != 1:
            raise ValueError("Input is neither scalar nor vector.")
        return shape, count

    def _with_static_shape(self, samples: Tensor, shape: Tensor) -> Tensor:
        static = constant_value(shape)
        if static is not None:
            known = TensorShape(static).concatenate(self.batch_shape)
            samples.set_shape(
                samples.shape.merge_with(known.concatenate(self.event_shape))
            )
        return samples

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability of a discrete value."""
        return self._of_value(name, value, ("log_prob", None), ("prob", math_ops.log))

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density, or the probability of a discrete value."""
        return self._of_value(name, value, ("prob", None), ("log_prob", math_ops.exp))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of at most this value."""
        return self._of_value(name, value, ("log_cdf", None), ("cdf", math_ops.log))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability of at most this value."""
        return self._of_value(name, value, ("cdf", None), ("log_cdf", math_ops.exp))

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function"
    ) -> Tensor:
        """The logarithm of the probability of more than this value."""
        return self._of_value(
            name,
            value,
            ("log_survival_function", None),
            by_cdf=lambda cdf: math_ops.log1p(-cdf),
        )

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability of more than this value."""
        return self._of_value(
            name,
            value,
            ("survival_function", None),
            by_cdf=lambda cdf: 1.0 - cdf,
        )

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The value below which this part of the draws is."""
        return self._of_value(name, value, ("quantile", None))

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy in nats."""
        return self._statistic(name, "entropy")

    def mean(self, name: str = "mean") -> Tensor:
        """The mean."""
        return self._statistic(name, "mean")

    def mode(self, name: str = "mode") -> Tensor:
        """The most likely value."""
        return self._statistic(name, "mode")

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance matrix of a vector's entries."""
        return self._statistic(name, "covariance")

    def variance(self, name: str = "variance") -> Tensor:
        """The variance, entry by entry."""
        with self._name_scope(name):
            if self._knows("variance"):
                return self._rule("variance")()
            if self._knows("stddev"):
                return math_ops.square(self._rule("stddev")())
            raise self._unknown("variance")

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation, entry by entry."""
        with self._name_scope(name):
            if self._knows("stddev"):
                return self._rule("stddev")()
            if self._knows("variance"):
                return math_ops.sqrt(self._rule("variance")())
            raise self._unknown("stddev")

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The entropy and the divergence from another distribution."""
        with self._name_scope(name):
            return divergence.cross_entropy(
                self, other, allow_nan_stats=self.allow_nan_stats
            )

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """The Kullback-Leibler divergence from another distribution."""
        with self._name_scope(name):
            return divergence.kl_divergence(
                self, other, allow_nan_stats=self.allow_nan_stats
            )

    def _of_value(
        self,
        name: str,
        value: Any,
        *rules: tuple[str, Callable[[Tensor], Tensor] | None],
        by_cdf: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
        """The first of these that the subclass knows, turned into what is asked.

        Args:
          by_cdf: turns what `cdf` gives, where no rule is known.
        """
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            for rule, turned in rules:
                if self._knows(rule):
                    found = self._rule(rule)(value)
                    return found if turned is None else turned(found)
            if by_cdf is not None and (self._knows("cdf") or self._knows("log_cdf")):
                return by_cdf(self.cdf(value))
            raise self._unknown(rules[0][0])

    def _statistic(self, name: str, rule: str) -> Tensor:
        with self._name_scope(name):
            if self._knows(rule):
                return self._rule(rule)()
            raise self._unknown(rule)

    def _knows(self, rule: str) -> bool:
        return hasattr(self, f"_{rule}")

    def _rule(self, rule: str) -> Callable[..., Tensor]:
        return getattr(self, f"_{rule}")  # type: ignore[no-any-return]

    def _unknown(self, rule: str) -> NotImplementedError:
        return NotImplementedError(f"{rule} is not implemented: {type(self).__name__}")

    @contextlib.contextmanager
    def _name_scope(self, name: str, values: list[Any] | None = None) -> Iterator[str]:
        with (
            name_scope(self.name),
            name_scope(name, values=[*(values or []), *self._graph_parents]) as scope,
        ):
            yield scope

    def __str__(self) -> str:
        parts = [f'"{self.name}"']
        if self.batch_shape.ndims is not None:
            parts.append(f"batch_shape={self.batch_shape}")
        if self.event_shape.ndims is not None:
            parts.append(f"event_shape={self.event_shape}")
        parts.append(f"dtype={dtypes.as_dtype(self.dtype).name}")
        return f"tfp.distributions.{type(self).__name__}({', '.join(parts)})"

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}'"
            f" batch_shape={self.batch_shape} event_shape={self.event_shape}"
            f" dtype={dtypes.as_dtype(self.dtype).name}>"
        )


def _shape_constant(shape: TensorShape, name: str) -> Tensor:
    return convert_to_tensor(shape.as_list(), dtype=dtypes.int32, name=name)


def _is_scalar(static: TensorShape, dynamic: Callable[[], Tensor]) -> Any:
    if static.ndims is not None:
        return static.ndims == 0
    return math_ops.equal(array_ops.shape(dynamic())[0], 0)
