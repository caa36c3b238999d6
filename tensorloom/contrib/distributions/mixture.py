"""Mixtures: draws of a component that is drawn first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.contrib.distributions.axes import batch_rank_of, spread
from tensorloom.distributions.categorical import Categorical
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import derived_seed
from tensorloom.distributions.reparameterization import NOT_REPARAMETERIZED
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


@export("contrib.distributions.Mixture")
class Mixture(Distribution):
    """Draws of one of several distributions, which a `Categorical` chooses.

    Args:
      cat: a Categorical.
      components: a list of distributions of one dtype, with its batch shape.
      validate_args: whether steps check the shapes.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      use_static_graph: whether all components are drawn, and one is taken; slower to
        run, but it has no shapes that depend on draws.
      name: of the scope.

    Raises:
      TypeError: arguments of other kinds, or components of different dtypes.
      ValueError: there is no component, or not one for each class.
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        _check_components(cat, components)
        event_shape = components[0].event_shape
        batch_shape = cat.batch_shape
        for component in components:
            event_shape = event_shape.merge_with(component.event_shape)
            batch_shape = batch_shape.merge_with(component.batch_shape)
        if event_shape.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the "
                "components provide a static number of ndims"
            )
        with name_scope(name, values=[cat.logits]) as name:
            classes = constant_value(cat.event_size)
            if classes is None:
                raise ValueError(
                    "Could not infer number of classes from cat and unable to compare "
                    "this value to the number of components passed in."
                )
            if int(classes) != len(components):
                raise ValueError(
                    f"cat.num_classes != len(components): {int(classes)} vs. "
                    f"{len(components)}"
                )
            self._cat = cat
            self._components = list(components)
            self._static = (batch_shape, event_shape)
            self._use_static_graph = use_static_graph
            self._assertions = self._shape_checks() if validate_args else []
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                *cat._graph_parents,
                *(parent for c in components for parent in c._graph_parents),
            ],
            name=name,
        )

    def _shape_checks(self) -> list[Any]:
        wanted = self.cat.batch_shape_tensor()
        checks = []
        for number, component in enumerate(self._components):
            message = f"components[{number}] batch shape must match cat batch shape"
            found = component.batch_shape_tensor()
            ranks = (array_ops.size(wanted), array_ops.size(found))
            checks.append(check_ops.assert_equal(*ranks, message=message))
            checks.append(check_ops.assert_equal(wanted, found, message=message))
        return checks

    @property
    def cat(self) -> Any:
        """The distribution of which component."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """What is drawn from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many they are."""
        return len(self._components)

    def _batch_shape_tensor(self) -> Any:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._static[0]

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._static[1]

    @property
    def _event_rank(self) -> int:
        return int(self._static[1].ndims)

    def _weights(self, logs: bool, of_events: bool = False) -> list[Tensor]:
        """The probability of each component, or its logarithm."""
        function = nn_ops.log_softmax if logs else nn_ops.softmax
        weights = array_ops.unstack(
            function(self.cat.logits), num=self.num_components, axis=-1
        )
        if of_events:
            for _ in range(self._event_rank):
                weights = [array_ops.expand_dims(weight, -1) for weight in weights]
        return weights

    def _mean(self) -> Any:
        with control_dependencies(self._assertions):
            weights = self._weights(logs=False, of_events=True)
            means = [component.mean() for component in self.components]
            return math_ops.add_n(
                [p * mean for p, mean in zip(weights, means, strict=True)]
            )

    def _stddev(self) -> Any:
        with control_dependencies(self._assertions):
            means = [component.mean() for component in self.components]
            deviations = [component.stddev() for component in self.components]
            weights = self._weights(logs=False, of_events=True)
            parts = zip(weights, means, deviations, strict=True)
            moments = [
                (p * mean, p * (math_ops.square(mean) + math_ops.square(deviation)))
                for p, mean, deviation in parts
            ]
            mean = math_ops.add_n([first for first, _ in moments])
            square = math_ops.add_n([second for _, second in moments])
            return math_ops.sqrt(square - math_ops.square(mean))

    def _log_of_sum(self, rule: str, x: Tensor) -> Any:
        with control_dependencies(self._assertions):
            x = convert_to_tensor(x, name="x")
            found = [getattr(component, rule)(x) for component in self.components]
            weights = self._weights(logs=True)
            parts = [w + log for w, log in zip(weights, found, strict=True)]
            return math_ops.reduce_logsumexp(array_ops.stack(parts, 0), [0])

    def _log_prob(self, x: Tensor) -> Any:
        return self._log_of_sum("log_prob", x)

    def _log_cdf(self, x: Tensor) -> Any:
        return self._log_of_sum("log_cdf", x)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """A lower bound of the entropy: the mean of the components' entropies."""
        with (
            self._name_scope(name, [self.cat.logits]),
            control_dependencies(self._assertions),
        ):
            found = [component.entropy() for component in self.components]
            weights = self._weights(logs=False)
            return math_ops.add_n([p * h for p, h in zip(weights, found, strict=True)])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with control_dependencies(self._assertions):
            chosen = self.cat.sample(n, seed=seed)
            return self._sample_chosen(n, chosen, seed)

    def _sample_all(self, n: Tensor, seed: Any) -> Any:
        """Draws all components, and takes the chosen ones."""
        chosen = self.cat.sample(n, seed=seed)
        drawn = []
        for component in self.components:
            seed = derived_seed(seed, "mixture")
            drawn.append(component.sample(n, seed=seed))
        x = array_ops.stack(drawn, -self._event_rank - 1)
        mask = array_ops.one_hot(chosen, self.num_components, dtype=x.dtype)
        axes = batch_rank_of(self) - batch_rank_of(self.cat)
        mask = spread(mask, axes, self._event_rank)
        return math_ops.reduce_sum(x * mask, axis=-1 - self._event_rank)

    def _sample_chosen(self, n: Tensor, chosen: Tensor, seed: Any) -> Any:
        """Draws of each component as many as chose it, and takes the batch's own."""
        from tensorloom.ops.indexing.partition import (
            dynamic_partition,
            dynamic_stitch,
        )

        shape = array_ops.shape(chosen)
        batch = math_ops.reduce_prod(self.batch_shape_tensor())
        places = array_ops.reshape(math_ops.range(array_ops.size(chosen)), shape)
        of_batch = array_ops.tile(math_ops.range(batch), [n])
        of_batch = array_ops.reshape(of_batch, shape)
        count = self.num_components
        places_of = dynamic_partition(places, chosen, count)
        batch_of = dynamic_partition(of_batch, chosen, count)
        event = self.event_shape_tensor()
        drawn = []
        for number, component in enumerate(self.components):
            its_count = array_ops.size(places_of[number])
            seed = derived_seed(seed, "mixture")
            x = component.sample(its_count, seed=seed)
            rows = array_ops.concat([[its_count * batch], event], 0)
            own = batch * math_ops.range(its_count) + batch_of[number]
            drawn.append(array_ops.gather(array_ops.reshape(x, rows), own))
        flat = dynamic_stitch(places_of, drawn)
        x = array_ops.reshape(flat, array_ops.concat([shape, event], 0))
        x.set_shape(chosen.shape.concatenate(self.event_shape))
        return x


def _check_components(cat: Any, components: Any) -> None:
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, list | tuple):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(component, Distribution) for component in components):
        raise TypeError(
            "all entries in components must be Distribution instances but saw: "
            f"{components}"
        )
    if any(component.dtype != components[0].dtype for component in components):
        found = [(component.name, component.dtype) for component in components]
        raise TypeError(
            f"All components must have the same dtype, but saw dtypes: {found}"
        )


@export("contrib.distributions.MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """Draws of one of a batch of distributions, which another one chooses.

    Args:
      mixture_distribution: a Categorical.
      components_distribution: a batch [batch..., k] of distributions.
      validate_args: whether steps check the shapes.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: the first is not over integers, or the batches do not fit.
    """

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            self._assertions = self._checks(validate_args)
        super().__init__(
            dtype=components_distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                *mixture_distribution._graph_parents,
                *components_distribution._graph_parents,
            ],
            name=name,
        )

    def _checks(self, validate_args: bool) -> list[Any]:
        mixture, components = self._mixture_distribution, self._components_distribution
        if not mixture.dtype.is_integer:
            raise ValueError(
                f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over "
                "integers"
            )
        if mixture.event_shape.ndims:
            raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
        if components.event_shape.ndims is None:
            raise ValueError(
                "`components_distribution.event_shape` must be of known rank"
            )
        own = mixture.batch_shape
        theirs = components.batch_shape.with_rank_at_least(1)[:-1]
        are_known = own.is_fully_defined() and theirs.is_fully_defined()
        if are_known and own.ndims and own.as_list() != theirs.as_list():
            raise ValueError(
                f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not "
                "compatible with `components_distribution.batch_shape` "
                f"(`{theirs.as_list()}`)"
            )
        wanted = mixture.logits.shape.with_rank_at_least(1).as_list()[-1]
        found = components.batch_shape.with_rank_at_least(1).as_list()[-1]
        if None not in (wanted, found):
            if wanted != found:
                raise ValueError(
                    f"`mixture_distribution components` ({wanted}) does not equal "
                    f"`components_distribution.batch_shape[-1]` ({found})"
                )
            return []
        if not validate_args:
            return []
        sizes = (
            array_ops.shape(mixture.logits)[-1],
            components.batch_shape_tensor()[-1],
        )
        message = (
            "`mixture_distribution components` does not equal "
            "`components_distribution.batch_shape[-1:]`"
        )
        return [check_ops.assert_equal(*sizes, message=message)]

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of which component."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Any:
        """The batch of components."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    @property
    def _event_rank(self) -> int:
        return int(self.components_distribution.event_shape.ndims)

    def _of_components(self, x: Tensor) -> Any:
        """[..., batch..., 1, event...]: for all components."""
        return array_ops.expand_dims(x, -1 - self._event_rank)

    def _spread_weights(self, weights: Tensor, events: int) -> Any:
        axes = batch_rank_of(self) - batch_rank_of(self.mixture_distribution)
        return spread(weights, axes, events)

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        with control_dependencies(self._assertions):
            # As in TensorFlow 1.15, the seed is not used here.
            x = self.components_distribution.sample(n)
            classes = array_ops.shape(self.mixture_distribution.logits)[-1]
            chosen = self.mixture_distribution.sample(n)
            mask = array_ops.one_hot(chosen, classes, dtype=x.dtype)
            mask = self._spread_weights(mask, self._event_rank)
            return math_ops.reduce_sum(x * mask, axis=-1 - self._event_rank)

    def _log_of_sum(self, rule: str, x: Tensor) -> Any:
        with control_dependencies(self._assertions):
            found = getattr(self.components_distribution, rule)(self._of_components(x))
            weights = nn_ops.log_softmax(self.mixture_distribution.logits, axis=-1)
            return math_ops.reduce_logsumexp(found + weights, axis=-1)

    def _log_prob(self, x: Tensor) -> Any:
        return self._log_of_sum("log_prob", x)

    def _log_cdf(self, x: Tensor) -> Any:
        return self._log_of_sum("log_cdf", x)

    def _average(self, values: Tensor, events: int) -> Any:
        weights = self._spread_weights(self.mixture_distribution.probs, events)
        return math_ops.reduce_sum(weights * values, axis=-1 - events)

    def _mean(self) -> Any:
        return self._average(self.components_distribution.mean(), self._event_rank)

    def _variance(self) -> Any:
        means = self.components_distribution.mean()
        within = self.components_distribution.variance()
        mean = self._of_components(self._mean())
        between = math_ops.squared_difference(means, mean)
        return self._average(within, self._event_rank) + self._average(
            between, self._event_rank
        )

    def _covariance(self) -> Any:
        if self._event_rank != 1:
            raise NotImplementedError("covariance is not implemented")
        apart = self.components_distribution.mean() - self._of_components(self._mean())
        between = apart[..., None, :] * apart[..., None]
        within = self.components_distribution.covariance()
        return self._average(within, 2) + self._average(between, 2)
