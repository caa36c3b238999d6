"""`tf.train.ExponentialMovingAverage`: shadow variables that follow others slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.distribution.thread_modes import (
    in_cross_replica_context,
    merge_call,
)
from tensorloom.client.variables.variable_lists import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    add_to_collection,
    get_default_graph,
    get_name_scope,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import initializers as init_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.train.optimizers import slot_creator

_FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(
    variable: Any,
    value: Any,
    decay: Any,
    zero_debias: bool = True,
    name: str | None = None,
) -> Any:
    """variable -= (1 - decay) * (variable - value).

    Args:
      zero_debias: take the variable to have begun at zero and correct for that, as in
        Adam (Kingma and Ba, 2014).

    Returns:
      The updated variable.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = convert_to_tensor(1.0 - decay, name="decay")
        if rate.dtype != variable.dtype.base_dtype:
            rate = math_ops.cast(rate, variable.dtype.base_dtype)

        def update(variable: Any, value: Any) -> Any:
            change = (variable - value) * rate
            return state_ops.assign_sub(variable, change, name=scope)

        def merged(strategy: Any, variable: Any, value: Any) -> Any:
            # Of several replicas, by the mean of their values.
            if strategy is not None and in_replica:
                value = strategy.extended.reduce_to(ReduceOp.MEAN, value, variable)
            if zero_debias:
                return _zero_debias(strategy, variable, value, rate)
            return updated(strategy, variable, update, value)

        in_replica = not in_cross_replica_context()
        return merge_call(merged, variable, value)


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """moving_average(value * weight) / moving_average(weight), both updated.

    Args:
      value: a tensor of numbers.
      decay: how much of an average stays, a number below 1.
      weight: a tensor that can be multiplied with `value`.
      truediv: divide as floats; else as the dtypes say.
      collections: of the two variables; the global ones when None.
      name: of the variable scope, `WeightedMovingAvg` when None.
    """
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]

    def average_of(of: str, update: Any) -> Any:
        variable = get_variable(
            of,
            shape=update.get_shape(),
            dtype=update.dtype,
            initializer=init_ops.Zeros(),
            trainable=False,
            collections=collections,
        )
        return assign_moving_average(variable, update, decay, zero_debias=False)

    values = [value, weight, decay]
    with variable_scope(name, "WeightedMovingAvg", values) as scope:
        above = average_of("value_x_weight", value * weight)
        below = average_of("weight", weight)
        divide = math_ops.truediv if truediv else math_ops.div
        return divide(above, below, name=scope.name)


def updated(
    strategy: Any, variable: Any, update: Callable[..., Any], *values: Any
) -> Any:
    """`update(variable, *values)`, for each part of a strategy's variable."""
    if strategy is None:
        return update(variable, *values)
    return strategy.extended.update(variable, update, args=values)


def _zero_debias(strategy: Any, unbiased: Any, value: Any, rate: Any) -> Any:
    """Keeps a biased average and a count of steps beside the variable."""
    scope = variable_scope(unbiased.op.name, values=[unbiased, value, rate])
    with scope, slot_creator.colocated(unbiased):
        biased = get_variable(
            _unique_in_scope("biased"),
            initializer=init_ops.Zeros(),
            shape=unbiased.get_shape(),
            dtype=unbiased.dtype,
            trainable=False,
        )
        local_step = get_variable(
            _unique_in_scope("local_step"),
            shape=[],
            dtype=unbiased.dtype,
            initializer=init_ops.Zeros(),
            trainable=False,
        )

    def update(unbiased: Any, value: Any, biased: Any, local_step: Any) -> Any:
        update_biased = state_ops.assign_sub(biased, (biased - value) * rate)
        update_step = local_step.assign_add(1)
        factor = 1 - math_ops.pow(1.0 - rate, update_step)
        return state_ops.assign(
            unbiased, update_biased / factor, name=f"{get_name_scope()}/"
        )

    return updated(strategy, unbiased, update, value, biased, local_step)


def _unique_in_scope(name: str) -> str:
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable.op.name for variable in scope.global_variables()}
    full_name = f"{scope.name}/{name}"
    if full_name not in taken:
        return name
    index = 1
    while f"{full_name}_{index}" in taken:
        index += 1
    return f"{name}_{index}"


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Maintains averages: shadow = decay * shadow + (1 - decay) * variable.

    Args:
      decay: a number or tensor near 1.
      num_updates: a count of updates; the decay is then smaller at first.
      zero_debias: for averages of tensors, correct for their beginning at zero.
      name: of the operations; ends the shadow variables' names.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name of the operations."""
        return self._name

    def apply(self, var_list: Any = None) -> Operation:
        """An operation that updates the averages, which it makes where needed.

        Args:
          var_list: variables and tensors; the trainable variables when None.

        Raises:
          TypeError: one of them is not of floating point.
        """
        if var_list is None:
            var_list = trainable_variables()
        debiased: set[Any] = set()
        for variable in var_list:
            if variable.dtype.base_dtype not in _FLOATS:
                raise TypeError(
                    f"The variables must be half, float, or double: {variable.name}"
                )
            if variable not in self._averages:
                self._averages[variable] = self._make(variable, debiased)
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                count = math_ops.cast(
                    self._num_updates, dtypes.float32, name="num_updates"
                )
                decay = math_ops.minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [
                assign_moving_average(
                    self._averages[v], v, decay, self._averages[v] in debiased
                )
                for v in var_list
            ]
            op: Operation = control_flow_ops.group(*updates, name=scope)
            return op

    def _make(self, variable: Any, debiased: set[Any]) -> Any:
        with init_scope():
            if isinstance(variable, Variable):
                average = slot_creator.create_slot(
                    variable, variable.initialized_value(), self._name
                )
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
                return average
            is_variable = variable.op.type in ("Variable", "VariableV2", "VarHandleOp")
            average = slot_creator.create_zeros_slot(
                variable, self._name, colocate_with_primary=is_variable
            )
            if self._zero_debias:
                debiased.add(average)
            return average

    def average(self, var: Any) -> Any:
        """The shadow variable, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name that the shadow variable has or would have."""
        if var in self._averages:
            name: str = self._averages[var].op.name
            return name
        return get_default_graph().unique_name(
            f"{var.op.name}/{self._name}", mark_as_used=False
        )

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Variables by the name to restore them from: averages where there are any."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = dict.fromkeys(moving_avg_variables)
        names = {self.average_name(v): v for v in averaged}
        averaged_names = {v.name for v in averaged}
        for variable in dict.fromkeys(global_variables()):
            if variable.name not in averaged_names and variable.op.name not in names:
                names[variable.op.name] = variable
        return names
