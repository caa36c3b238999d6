"""`AggregatingVariable`: one for all replicas, whose updates are aggregated."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variables import Variable
from tensorloom.distribute.values.mirrored_variable import aggregated_update
from tensorloom.distribute.values.update_context import get_update_device
from tensorloom.framework.graph.graph import Tensor, register_dense_tensor_like_type
from tensorloom.framework.types.tensor_conversion import (
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.framework.types.trackable import VARIABLE_VALUE_KEY

if TYPE_CHECKING:
    from tensorloom.client.variables.variable_policy import VariableAggregation
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


class AggregatingVariable(Variable):
    """A variable that several replicas read, and update by their aggregated values.

    Args:
      strategy: whose variable it is.
      v: the variable.
      aggregation: how the values that replicas assign become one.
    """

    _is_resource = True
    _has_parts = True

    def __init__(self, strategy: Any, v: Any, aggregation: VariableAggregation) -> None:
        self._distribute_strategy = strategy
        self._v = v
        v._aggregating_container = weakref.ref(self)
        self._aggregation = aggregation

    def __getattr__(self, name: str) -> Any:
        if name == "_v":
            raise AttributeError(name)
        return getattr(self._v, name)

    def get(self, device: Any = None) -> Any:
        """The variable."""
        return self._v

    @property
    def distribute_strategy(self) -> Any:
        """The strategy whose variable it is."""
        return self._distribute_strategy

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Assigns; from replicas their aggregated values."""
        return aggregated_update(self, "assign", args, kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds; from replicas their aggregated values."""
        return aggregated_update(self, "assign_add", args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtracts; from replicas their aggregated values."""
        return aggregated_update(self, "assign_sub", args, kwargs)

    def _updated_part(self) -> Any:
        return None if get_update_device() is None else self._v

    @property
    def name(self) -> str:
        """The variable's name."""
        name: str = self._v.name
        return name

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        dtype: DType = self._v.dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        shape: TensorShape = self._v.shape
        return shape

    @property
    def op(self) -> Operation:
        """The variable's operation."""
        op: Operation = self._v.op
        return op

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        graph: Graph = self._v.graph
        return graph

    @property
    def device(self) -> str:
        """The variable's device."""
        name: str = self._v.device
        return name

    @property
    def initializer(self) -> Any:
        """The operation that assigns the initial value."""
        return self._v.initializer

    @property
    def initial_value(self) -> Any:
        """The tensor that the initializer assigns."""
        return self._v.initial_value

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """What optimizers apply after an update."""
        found: Callable[[Any], Any] | None = self._v.constraint
        return found

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it by default."""
        return bool(self._v.trainable)

    @property
    def synchronization(self) -> Any:
        """When parts are brought together."""
        return self._v.synchronization

    @property
    def _save_slice_info(self) -> Any:
        return self._v._save_slice_info

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._v._set_save_slice_info(save_slice_info)

    def initialized_value(self) -> Tensor:
        """The value if there is one when it runs, else the initial value."""
        result: Tensor = self._v.initialized_value()
        return result

    def value(self) -> Tensor:
        """A read of the variable."""
        result: Tensor = self._v.value()
        return result

    def read_value(self) -> Tensor:
        """A new read, behind the control dependencies of this point."""
        result: Tensor = self._v.read_value()
        return result

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable."""
        result: Tensor = self._v.sparse_read(indices, name=name)
        return result

    def eval(self, session: Any = None) -> Any:
        """The value in a session, or in the default session."""
        return self._v.eval(session)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The variable's `VariableDef`."""
        return self._v.to_proto(export_scope)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self._v}

    def __repr__(self) -> str:
        return repr(self._v)

    def __str__(self) -> str:
        return str(self._v)


def _tensor_conversion(
    var: AggregatingVariable, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    result: Tensor = internal_convert_to_tensor(
        var.get(), dtype=dtype, name=name, as_ref=as_ref
    )
    return result


register_tensor_conversion_function(AggregatingVariable, _tensor_conversion)
register_dense_tensor_like_type(AggregatingVariable)
