"""`MirroredVariable`: the same value on each device, updated on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.distribution.thread_modes import (
    current_mode,
    in_cross_replica_context,
)
from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.distribute.values.distributed_values import Mirrored
from tensorloom.distribute.values.distributed_variable import (
    DistributedVariable,
    assign_on,
    entered,
)
from tensorloom.distribute.values.update_context import get_update_device
from tensorloom.framework.types.tensor_conversion import (
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.framework.types.trackable import VARIABLE_VALUE_KEY
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.train.checkpoints.saver_saveables import ResourceVariableSaveable

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class MirroredVariable(DistributedVariable, Mirrored):
    """A variable with the same value on each device."""

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Assigns to all parts; from replicas their aggregated values."""
        return aggregated_update(self, "assign", args, kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to all parts; from replicas their aggregated values."""
        return aggregated_update(self, "assign_add", args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtracts from all parts; from replicas their aggregated values."""
        return aggregated_update(self, "assign_sub", args, kwargs)

    def _updated_part(self) -> Any:
        """The part that is being updated, inside an update; None outside."""
        where = get_update_device()
        return None if where is None else self.get(device=where)

    def _get_cross_replica(self) -> Any:
        return identity_ops.identity(self._on_device(None))

    def _as_graph_element(self) -> Any:
        part = self.primary if in_cross_replica_context() else self.get()
        return part._as_graph_element()

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        def saveable(name: str = self._common_name) -> _MirroredSaveable:
            return _MirroredSaveable(self, name)

        return {VARIABLE_VALUE_KEY: saveable}

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: Any = None, as_ref: bool = False
    ) -> Tensor:
        # What changes it must go through the strategy's `update`.
        assert not as_ref
        result: Tensor = internal_convert_to_tensor(
            self.get(), dtype=dtype, name=name, as_ref=as_ref
        )
        return result


class _MirroredSaveable(ResourceVariableSaveable):
    """Saves the first part, and restores all."""

    def __init__(self, variable: MirroredVariable, name: str) -> None:
        self._variable = variable
        super().__init__(variable.primary, "", name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value to all parts."""
        (tensor,) = restored_tensors
        parts = self._variable.values
        return control_flow_ops.group(
            tuple(assign_on(part, "assign", tensor) for part in parts)
        )


def _tensor_conversion(
    var: MirroredVariable, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    return var._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)


register_tensor_conversion_function(MirroredVariable, _tensor_conversion)


def aggregated_update(
    variable: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Calls `assign` or its like of all parts of a variable.

    In a replica, the values of all replicas are aggregated first.

    Raises:
      ValueError: the variable says no aggregation.
      RuntimeError: the scope of another strategy is open.
    """

    def change(part: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(part, method)(*arguments, **options)

    strategy = variable._distribute_strategy
    with entered(strategy):
        mode = current_mode()
        context = None if mode is None else mode.replica_context
        if context is None:
            part = variable._updated_part()
            if part is not None:
                return change(part, *args, **kwargs)
            return strategy.extended.update(variable, change, args=args, kwargs=kwargs)
        check_replica_context(context, strategy)
        if variable._aggregation == VariableAggregation.NONE:
            kind = type(variable).__name__
            raise ValueError(_NO_AGGREGATION.format(variable_type=kind))
        return context.merge_call(_merging(variable, change), args=args, kwargs=kwargs)


def _merging(variable: Any, change: Callable[..., Any]) -> Callable[..., Any]:
    def merge(strategy: Any, value: Any, *others: Any, **options: Any) -> Any:
        one = _aggregated(strategy, value, variable._aggregation, variable)
        return strategy.extended.update(
            variable, change, args=(one, *others), kwargs=options
        )

    return merge


def _aggregated(
    strategy: Any, value: Any, aggregation: VariableAggregation, destinations: Any
) -> Any:
    if aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
        first = strategy.experimental_local_results(value)[0]
        return strategy.extended.broadcast_to(first, destinations=destinations)
    reduce_op = ReduceOp.from_variable_aggregation(aggregation)
    return strategy.extended.reduce_to(reduce_op, value, destinations)


def check_replica_context(context: Any, strategy: Any) -> None:
    """Raises RuntimeError unless the context is of a replica of the strategy."""
    if context is None or context.strategy is not strategy:
        raise RuntimeError(
            "Replica-local variables may only be assigned in a replica context."
        )


_NO_AGGREGATION = (
    "You must specify an aggregation method to update a {variable_type} in Replica "
    "Context. You can do so by passing an explicit value for argument `aggregation` to "
    "tf.Variable(..), for example `tf.Variable(..., "
    "aggregation=tf.VariableAggregation.SUM)`. It says how the values that the "
    "replicas assign become the one that all parts get. Or update the {variable_type} "
    "for all replicas together: inside the function that "
    "`tf.distribute.get_replica_context().merge_call(merge_fn, ..)` calls, by "
    "`tf.distribute.StrategyExtended.update()`."
)
