"""`tf.contrib.eager.metrics`: metrics that are objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tensorloom.client.functions.def_function import function
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import size
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.initializers import zeros_initializer

_NOT_OF_A_SCOPE: Final = re.compile("[^A-Za-z0-9.]")


@export("contrib.eager.metrics.Metric")
class Metric(Trackable):
    """Statistics over many batches: a call gives what adds a batch to them.

    A class of this defines `build`, which makes the variables by `add_variable`,
    `call`, which updates them, and `result`. `call` becomes a `tf.function`, so all of
    its updates run with what it returns.

    Args:
      name: of the metric and its variables' scope; by default the class's.
      use_global_variables: the variables are global ones, else local ones.
    """

    def __init__(
        self, name: str | None = None, use_global_variables: bool = False
    ) -> None:
        self._built = False
        self._vars: list[Any] = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        scope_name = _NOT_OF_A_SCOPE.sub("_", name)
        with variable_scope(scope_name, use_resource=True, reuse=False) as scope:
            end = scope.name.rfind(scope_name) + len(scope_name)
            self._name = name + scope.name[end:]
            self._scope = scope
        build = self.build

        def build_once(*args: Any, **kwargs: Any) -> None:
            build(*args, **kwargs)
            self._built = True

        build_once.__doc__ = build.__doc__
        self.build = build_once  # type: ignore[method-assign]
        self.call = function(self.call)  # type: ignore[method-assign]
        self._graph = get_default_graph()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What adds these arguments to the statistics when it runs.

        Args:
          *args, **kwargs: handed to `call`; the first time to `build`, too.
        """
        if not self._built:
            with variable_scope(self._scope), self._graph.as_default():
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name, as the program gave it."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """The variables, as they were made."""
        return self._vars

    def init_variables(self) -> Any:
        """The operation that initializes the variables; there after the first call."""
        return group([v.initializer for v in self._vars])

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """The value of the metric."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The same as `result()`."""
        return self.result()

    def aggregate(self, metrics: Sequence[Any]) -> None:
        """Adds the variables of other metrics to this one's.

        Raises:
          TypeError: a metric is of another class.
          ValueError: a metric's variables have other names.
        """
        for metric in metrics:
            if type(self) is not type(metric):
                raise TypeError(
                    "All metrics must be the same type, "
                    f"'{type(self)}' != '{type(metric)}'."
                )
        for position, variable in enumerate(self._vars):
            others = [metric.variables[position] for metric in metrics]
            if any(other.name != variable.name for other in others):
                raise ValueError("All metrics must have variables in the same order.")
            variable.assign_add(add_n(others))

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """A new variable of the metric; for `build`.

        Raises:
          RuntimeError: the metric is built.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        kind = GraphKeys.LOCAL_VARIABLES
        if self._use_global_variables:
            kind = GraphKeys.GLOBAL_VARIABLES
        variable = get_variable(
            name,
            shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            collections=[kind, GraphKeys.METRIC_VARIABLES],
            use_resource=True,
        )
        self._track_trackable(variable, name, overwrite=True)
        self._vars.append(variable)
        return variable


@export("contrib.eager.metrics.Mean")
class Mean(Metric):
    """The mean of all values, weighted.

    Args:
      name: see `Metric`.
      dtype: of the sums.
      use_global_variables: see `Metric`.
    """

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = dtypes.float64,
        use_global_variables: bool = False,
    ) -> None:
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the sum of values and that of weights."""
        zero = {"shape": (), "dtype": self.dtype, "initializer": zeros_initializer}
        self.numer = self.add_variable("numer", **zero)
        self.denom = self.add_variable("denom", **zero)

    def call(self, values: Any, weights: Any = None) -> Any:
        """Adds values.

        Args:
          values: a tensor.
          weights: one for each value, or for all; None is 1.

        Returns:
          The sum of the values; with weights, the weighted values and the weights.
        """
        if weights is None:
            self.denom.assign_add(cast(identity(size(values)), self.dtype))
            values = reduce_sum(values)
            self.numer.assign_add(cast(values, self.dtype))
            return values
        weights = cast(weights, self.dtype)
        self.denom.assign_add(reduce_sum(weights))
        values = cast(values, self.dtype) * weights
        self.numer.assign_add(reduce_sum(values))
        return values, weights

    def result(self, write_summary: Any = True) -> Any:
        """The mean.

        Args:
          write_summary: has no effect here: it is for writers of `tf.contrib.summary`.
        """
        del write_summary
        return self.numer / self.denom
