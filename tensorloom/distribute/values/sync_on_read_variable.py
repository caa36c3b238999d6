"""`SyncOnReadVariable`: a part for each replica, which a read brings together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.distribution.thread_modes import in_cross_replica_context
from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.distribute.values.distributed_variable import (
    DistributedVariable,
    assign_on,
    entered,
)
from tensorloom.framework.types.tensor_conversion import (
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.framework.types.trackable import VARIABLE_VALUE_KEY
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class SyncOnReadVariable(DistributedVariable):
    """A variable of which each replica has its own, such as what a metric counts."""

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Assigns to a replica's part; for all replicas, parts that add up to it."""
        return self._change("assign", args, kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to a replica's part; for all replicas, to all parts.

        Raises:
          ValueError: for all replicas, where a read adds the parts up.
        """
        return self._change("assign_add", args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtracts from a replica's part; for all replicas, from all parts.

        Raises:
          ValueError: for all replicas, where a read adds the parts up.
        """
        return self._change("assign_sub", args, kwargs)

    def _change(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with entered(self._distribute_strategy):
            if not in_cross_replica_context():
                return getattr(self.get(), method)(*args, **kwargs)
            value = args[0]
            if self._aggregation == VariableAggregation.SUM:
                if method != "assign":
                    raise ValueError(
                        f"SyncOnReadVariable does not support `{method}` in "
                        "cross-replica context when aggregation is set to "
                        "`tf.VariableAggregation.SUM`."
                    )
                # So that the parts add up to what is assigned.
                value *= 1.0 / len(self.devices)
            return control_flow_ops.group(
                tuple(assign_on(part, method, value) for part in self._values)
            )

    def _get_cross_replica(self) -> Any:
        if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary
        strategy = self._distribute_strategy
        with entered(strategy):
            reduce_op = ReduceOp.from_variable_aggregation(self._aggregation)
            return strategy.reduce(reduce_op, self, axis=None)

    def _as_graph_element(self) -> Any:
        if in_cross_replica_context():
            return self._get_cross_replica()
        return self.get()._as_graph_element()

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        def saveable(name: str = self._common_name) -> _SyncOnReadSaveable:
            return _SyncOnReadSaveable(self, name)

        return {VARIABLE_VALUE_KEY: saveable}

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: Any = None, as_ref: bool = False
    ) -> Tensor:
        result: Tensor = internal_convert_to_tensor(
            self.get(), dtype=dtype, name=name, as_ref=as_ref
        )
        return result


class _SyncOnReadSaveable(SaveableObject):
    """Saves the parts brought together, and restores what comes to the same."""

    def __init__(self, variable: SyncOnReadVariable, name: str) -> None:
        self._variable = variable

        def tensor() -> Any:  # read only where it is saved
            return variable._distribute_strategy.extended.read_var(variable)

        spec = SaveSpec(
            tensor, "", name, dtype=variable.dtype, device=variable.primary.device
        )
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value to the variable."""
        (tensor,) = restored_tensors
        return self._variable.assign(tensor)


def _tensor_conversion(
    var: SyncOnReadVariable, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    return var._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)


register_tensor_conversion_function(SyncOnReadVariable, _tensor_conversion)
