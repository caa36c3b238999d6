"""Distributions of functions of random variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.distributions.shape_override import ShapeOverride
from tensorloom.distributions.bijector import Bijector, Identity
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.static_values import pick_vector
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("contrib.distributions.TransformedDistribution")
class TransformedDistribution(Distribution):
    """The distribution of `bijector(x)`, of an x of another distribution.

    Args:
      distribution: of x.
      bijector: the function; the identity if None.
      batch_shape: the batch, if the base distribution is a single one.
      event_shape: the event, made of as many draws of a base distribution of numbers.
      validate_args: whether steps check arguments.
      name: of the scope.

    Raises:
      ValueError: the base has a shape that is to be overridden.
    """

    def __init__(
        self,
        distribution: Any,
        bijector: Bijector | None = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        prefix = "" if bijector is None else bijector.name
        name = name or prefix + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            if bijector is None:
                bijector = Identity(validate_args=validate_args)
            self._new_batch = ShapeOverride(
                batch_shape,
                distribution.is_scalar_batch(),
                validate_args,
                "batch_shape",
            )
            self._new_event = ShapeOverride(
                event_shape,
                distribution.is_scalar_event(),
                validate_args,
                "event_shape",
            )
            self._turned = self._axes_to_turn(distribution)
        self._distribution = distribution
        self._bijector = bijector
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[*distribution._graph_parents, *bijector.graph_parents],
            name=name,
        )

    def _axes_to_turn(self, base: Any) -> Any:
        """How many axes of draws stand before the base's batch, but belong behind it.

        These are the axes of an event that is made of draws. An int if that is known.
        """
        event, batch = self._new_event.rank, self._new_batch.rank
        base_is_scalar = constant_value(base.is_scalar_batch())
        if not self._new_event.may_override or base_is_scalar:
            return 0
        if isinstance(batch, int):
            if batch:
                return 0
            if base_is_scalar is not None:
                return event
        turns = math_ops.logical_and(
            math_ops.equal(batch, 0), math_ops.logical_not(base.is_scalar_batch())
        )
        return array_ops.where_v2(turns, event, 0)

    @property
    def distribution(self) -> Any:
        """The distribution of x."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        """The function."""
        return self._bijector

    # --- shapes ------------------------------------------------------------------

    def _event_shape(self) -> Any:
        before = self._new_event.static(self.distribution.event_shape)
        return self.bijector.forward_event_shape(before)

    def _event_shape_tensor(self) -> Any:
        before = self._new_event.dynamic(self.distribution.event_shape_tensor)
        return self.bijector.forward_event_shape_tensor(before)

    def _batch_shape(self) -> Any:
        return self._new_batch.static(self.distribution.batch_shape)

    def _batch_shape_tensor(self) -> Any:
        return self._new_batch.dynamic(self.distribution.batch_shape_tensor)

    def _event_rank(self) -> Any:
        if self.event_shape.ndims is not None:
            return self.event_shape.ndims
        return array_ops.size(self.event_shape_tensor())

    def _conditions(self, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The conditions of the bijector, and of the distribution."""
        return kwargs, kwargs

    # --- draws -------------------------------------------------------------------

    def sample(
        self,
        sample_shape: Any = (),
        seed: Any = None,
        name: str = "sample",
        **kwargs: Any,
    ) -> Tensor:
        """Draws of shape `sample_shape + batch_shape + event_shape`.

        Args:
          **kwargs: conditions of the distribution and of the bijector.
        """
        return self._call_sample_n(sample_shape, seed, name, **kwargs)

    def _call_sample_n(
        self, sample_shape: Any, seed: Any, name: str, **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(
                sample_shape, dtype=dtypes.int32, name="sample_shape"
            )
            shape, count = self._as_vector(shape)
            x = self._sample_n(count, seed, **kwargs)
            rest = array_ops.shape(x)[1:]
            x = array_ops.reshape(x, array_ops.concat([shape, rest], 0))
            y = self.bijector.forward(x, **self._conditions(kwargs)[0])
            return self._with_static_shape(y, shape)

    def _sample_n(self, n: Any, seed: Any = None, **kwargs: Any) -> Any:
        count = [array_ops.reshape(convert_to_tensor(n, dtypes.int32), [1])]
        if isinstance(self._turned, int):
            before, after = ([], count) if self._turned else (count, [])
        else:
            turns = math_ops.not_equal(self._turned, 0)
            empty = array_ops.zeros([0], dtypes.int32)
            before = [pick_vector(turns, empty, count[0])]
            after = [pick_vector(turns, count[0], empty)]
        parts = [*before, self._new_batch.tensor, self._new_event.tensor, *after]
        known = [constant_value(part) for part in parts]
        shape: Any
        if any(part is None for part in known):
            shape = array_ops.concat(parts, 0)
        else:
            sizes = np.concatenate([np.asarray(part).reshape(-1) for part in known])
            shape = sizes.astype(np.int32)
        conditions = self._conditions(kwargs)[1]
        x = self.distribution.sample(sample_shape=shape, seed=seed, **conditions)
        return self._turn(x, self._turned)

    @staticmethod
    def _turn(x: Tensor, count: Any) -> Any:
        """The first axes put last."""
        if isinstance(count, int) and count == 0:
            return x
        rank: Any = x.shape.ndims
        if rank is not None and isinstance(count, int):
            axes: Any = [*range(count, rank), *range(count)]
        else:
            rank = array_ops.rank(x)
            axes = array_ops.concat(
                [math_ops.range(count, rank), math_ops.range(count)], 0
            )
        return array_ops.transpose(x, axes)

    def _turn_back(self, x: Tensor) -> Any:
        if isinstance(self._turned, int) and self._turned == 0:
            return x
        rank = array_ops.rank(x) if x.shape.ndims is None else x.shape.ndims
        return self._turn(x, rank - self._turned)

    # --- probabilities -----------------------------------------------------------

    def _fibers(self, y: Tensor, kwargs: Any) -> list[tuple[Tensor, Any]]:
        """All x of a y, with the logarithms of the determinants there."""
        rank, given = self._event_rank(), self._conditions(kwargs)[0]
        x = self.bijector.inverse(y, **given)
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=rank, **given)
        if self.bijector._is_injective:
            return [(x, log_det)]
        return list(zip(x, log_det, strict=True))

    def _of_event(self, values: Tensor, reduce: Any) -> Any:
        """What the draws of an event have together."""
        if not self._new_event.may_override:
            return values
        first, last = self._turned - self._new_event.rank, self._turned
        if isinstance(first, int) and isinstance(last, int):
            return reduce(values, list(range(first, last)))
        return reduce(values, math_ops.range(first, last))

    def _log_prob(self, y: Tensor, **kwargs: Any) -> Any:
        parts = []
        given = self._conditions(kwargs)[1]
        for x, log_det in self._fibers(y, kwargs):
            log_prob = self.distribution.log_prob(self._turn_back(x), **given)
            log_prob = self._of_event(log_prob, math_ops.reduce_sum)
            parts.append(log_prob + math_ops.cast(log_det, log_prob.dtype))
        if len(parts) > 1:
            return math_ops.reduce_logsumexp(array_ops.stack(parts), axis=0)
        return parts[0]

    def _prob(self, y: Tensor, **kwargs: Any) -> Any:
        parts = []
        given = self._conditions(kwargs)[1]
        for x, log_det in self._fibers(y, kwargs):
            prob = self.distribution.prob(self._turn_back(x), **given)
            prob = self._of_event(prob, math_ops.reduce_prod)
            parts.append(prob * math_ops.exp(math_ops.cast(log_det, prob.dtype)))
        return sum(parts[1:], parts[0])

    def _before(self, y: Tensor, what: str, kwargs: Any) -> Any:
        """The x of a y, for what has a meaning for numbers alone."""
        self._check_is_plain(what)
        return self.bijector.inverse(y, **self._conditions(kwargs)[0])

    def _check_is_plain(self, what: str) -> None:
        if self._new_event.may_override:
            raise NotImplementedError(
                f"{what} is not implemented when overriding event_shape"
            )
        if not self.bijector._is_injective:
            raise NotImplementedError(
                f"{what} is not implemented when bijector is not injective."
            )

    def _log_cdf(self, y: Tensor, **kwargs: Any) -> Any:
        x = self._before(y, "log_cdf", kwargs)
        return self.distribution.log_cdf(x, **self._conditions(kwargs)[1])

    def _cdf(self, y: Tensor, **kwargs: Any) -> Any:
        x = self._before(y, "cdf", kwargs)
        return self.distribution.cdf(x, **self._conditions(kwargs)[1])

    def _log_survival_function(self, y: Tensor, **kwargs: Any) -> Any:
        x = self._before(y, "log_survival_function", kwargs)
        return self.distribution.log_survival_function(x, **self._conditions(kwargs)[1])

    def _survival_function(self, y: Tensor, **kwargs: Any) -> Any:
        x = self._before(y, "survival_function", kwargs)
        return self.distribution.survival_function(x, **self._conditions(kwargs)[1])

    def _quantile(self, value: Tensor) -> Any:
        self._check_is_plain("quantile")
        return self.bijector.forward(self.distribution.quantile(value))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError(
                "entropy is not implemented when bijector is not injective."
            )
        entropy = self.distribution.entropy()
        if self._new_event.may_override:
            draws = math_ops.reduce_prod(self._new_event.tensor)
            entropy *= math_ops.cast(draws, dtype=entropy.dtype.base_dtype)
        if self._new_batch.may_override:
            entropy += array_ops.zeros(self._new_batch.tensor, dtype=entropy.dtype)
        # A constant Jacobian is the same at any y: at zero, for example.
        shapes = [self.batch_shape_tensor(), self.event_shape_tensor()]
        nothing = array_ops.zeros(array_ops.concat(shapes, 0), dtype=self.dtype)
        log_det = self.bijector.inverse_log_det_jacobian(
            nothing, event_ndims=self._event_rank()
        )
        entropy -= math_ops.cast(log_det, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


@export("contrib.distributions.ConditionalDistribution")
class ConditionalDistribution(Distribution):
    """A distribution whose methods take conditions, as keyword arguments.

    A subclass gives `_sample_n(n, seed, **conditions)`, `_log_prob(x, **conditions)`,
    and so on.
    """

    def sample(
        self,
        sample_shape: Any = (),
        seed: Any = None,
        name: str = "sample",
        **condition_kwargs: Any,
    ) -> Tensor:
        """Draws of shape `sample_shape + batch_shape + event_shape`."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(
        self, value: Any, name: str = "log_prob", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of the density, or of the probability of a discrete value."""
        with self._given("_log_prob _prob", condition_kwargs):
            return super().log_prob(value, name)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """The density, or the probability of a discrete value."""
        with self._given("_log_prob _prob", condition_kwargs):
            return super().prob(value, name)

    def log_cdf(
        self, value: Any, name: str = "log_cdf", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of the probability of at most this value."""
        with self._given("_log_cdf _cdf", condition_kwargs):
            return super().log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """The probability of at most this value."""
        with self._given("_log_cdf _cdf", condition_kwargs):
            return super().cdf(value, name)

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of the probability of more than this value."""
        rules = "_log_survival_function _log_cdf _cdf"
        with self._given(rules, condition_kwargs):
            return super().log_survival_function(value, name)

    def survival_function(
        self, value: Any, name: str = "survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """The probability of more than this value."""
        rules = "_survival_function _log_cdf _cdf"
        with self._given(rules, condition_kwargs):
            return super().survival_function(value, name)

    def _given(self, names: str, conditions: dict[str, Any]) -> Any:
        return _Given(self, names.split(), conditions)


class _Given:
    """Inside, a distribution's rules take conditions."""

    def __init__(
        self, distribution: Any, names: list[str], conditions: dict[str, Any]
    ) -> None:
        self._distribution = distribution
        self._names = [name for name in names if hasattr(distribution, name)]
        self._conditions = conditions

    def __enter__(self) -> None:
        if self._conditions:
            for name in self._names:
                rule = getattr(self._distribution, name)
                vars(self._distribution)[name] = self._bound(rule)

    def _bound(self, rule: Any) -> Any:
        return lambda *args: rule(*args, **self._conditions)

    def __exit__(self, *error: object) -> None:
        for name in self._names:
            vars(self._distribution).pop(name, None)


@export("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(
    ConditionalDistribution, TransformedDistribution
):
    """The distribution of `bijector(x)` under conditions.

    Methods take the conditions as two dicts, `bijector_kwargs` and
    `distribution_kwargs`.

    Args, Raises: as of `TransformedDistribution`.
    """

    def _conditions(self, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return (
            kwargs.get("bijector_kwargs") or {},
            kwargs.get("distribution_kwargs") or {},
        )

    def prob(self, *args: Any, **kwargs: Any) -> Tensor:
        """The density, or the probability of a discrete value."""
        return super().prob(*args, **kwargs)

    def log_prob(self, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `prob`."""
        return super().log_prob(*args, **kwargs)

    def cdf(self, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of at most a value."""
        return super().cdf(*args, **kwargs)

    def log_cdf(self, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return super().log_cdf(*args, **kwargs)

    def survival_function(self, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of more than a value."""
        return super().survival_function(*args, **kwargs)

    def log_survival_function(self, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `survival_function`."""
        return super().log_survival_function(*args, **kwargs)
