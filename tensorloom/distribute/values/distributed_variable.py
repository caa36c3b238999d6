"""What variables with a part for each replica have in common."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.client.distribution.thread_modes import (
    current_mode,
    current_strategy,
    has_strategy,
    in_cross_replica_context,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.distribute.values.distributed_values import DistributedDelegate
from tensorloom.distribute.values.update_context import get_update_device
from tensorloom.framework.graph.graph import (
    Tensor,
    device,
    register_dense_tensor_like_type,
)
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.client.variables.variable_policy import (
        VariableAggregation,
        VariableSynchronization,
    )
    from tensorloom.distribute.values.device_maps import DeviceMap
    from tensorloom.framework.graph.graph import Graph
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


class DistributedVarOp(NamedTuple):
    """What is known of a variable's operation where all replicas are built for."""

    name: str
    graph: Any
    traceback: Any
    type: str


@contextmanager
def entered(strategy: Any) -> Iterator[None]:
    """Enters a strategy's scope, unless it is open.

    Raises:
      RuntimeError: the scope of another strategy is open.
    """
    if not has_strategy():
        with strategy.scope():
            yield
        return
    current = current_strategy()
    if current is not strategy:
        raise RuntimeError(
            "Mixing different tf.distribute.Strategy objects: "
            f"{current} is not {strategy}"
        )
    yield


class DistributedVariable(DistributedDelegate, Variable):
    """A variable with a part for each replica.

    Args:
      strategy: whose variable it is.
      device_map: the devices of the parts.
      values: the parts, resource variables.
      aggregation: how updates by several replicas become one.
      logical_device: which of a replica's devices the parts are on.
    """

    _is_resource = True
    _has_parts = True
    # The initializer that a checkpoint's value brought, in place of those of the parts.
    _initializer_op: Any

    def __init__(
        self,
        strategy: Any,
        device_map: DeviceMap,
        values: Sequence[Any],
        aggregation: VariableAggregation,
        logical_device: int | None = None,
    ) -> None:
        self._distribute_strategy = strategy
        super().__init__(device_map, values, logical_device=logical_device)
        self._aggregation = aggregation
        self._common_name: str = self.primary.name.split(":")[0]
        for value in values:
            value._distributed_container = weakref.ref(self)
        self._keras_initialized = False
        self._initializer_op = None

    __hash__ = Variable.__hash__
    __eq__ = Variable.__eq__
    __repr__ = DistributedDelegate.__repr__

    # --- facts -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the first part."""
        name: str = self.primary.name
        return name

    @property
    def _shared_name(self) -> str:
        return self._common_name

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        dtype: DType = self.primary.dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        shape: TensorShape = self.primary.shape
        return shape

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        graph: Graph = self.primary.graph
        return graph

    @property
    def op(self) -> Any:
        """The operation of a replica's part; facts of the first for all replicas."""
        if in_cross_replica_context():
            op = self.primary.op
            return DistributedVarOp(op.name, op.graph, tuple(op.traceback), op.type)
        return self.get().op

    @property
    def device(self) -> str:
        """The device of the part that is at hand."""
        name: str = self._get_closest().device
        return name

    @property
    def handle(self) -> Tensor:
        """The resource tensor of a replica's part.

        Raises:
          ValueError: all replicas are built for, and no part is updated.
        """
        mode = current_mode()
        where = None
        if mode is not None and mode.replica_context is None:
            where = get_update_device()
            if where is None:
                raise ValueError(
                    "`handle` is not available outside the replica context or a "
                    "`tf.distribute.Strategy.update()` call."
                )
        handle: Tensor = self.get(device=where).handle
        return handle

    @property
    def initializer(self) -> Any:
        """The operation that gives each part its initial value."""
        if self._initializer_op is not None:
            return self._initializer_op
        return control_flow_ops.group(tuple(v.initializer for v in self._values))

    @property
    def initial_value(self) -> Any:
        """The initial value of the part that is at hand."""
        return self._get_closest().initial_value

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """What optimizers apply after an update."""
        found: Callable[[Any], Any] | None = self.primary.constraint
        return found

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it by default."""
        return bool(self.primary.trainable)

    @property
    def synchronization(self) -> VariableSynchronization:
        """When the parts are brought together."""
        found: VariableSynchronization = self.primary.synchronization
        return found

    @property
    def distribute_strategy(self) -> Any:
        """The strategy whose variable it is."""
        return self._distribute_strategy

    # --- values ------------------------------------------------------------------

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether all parts have a value: a scalar bool tensor."""
        result = self.primary.is_initialized()
        for value in self._values[1:-1]:
            result = math_ops.logical_and(result, value.is_initialized())
        last = self._values[-1].is_initialized()
        both: Tensor = math_ops.logical_and(result, last, name=name)
        return both

    def initialized_value(self) -> Tensor:
        """The value if there is one when it runs, else the initial value."""
        result: Tensor = self._get_closest().initialized_value()
        return result

    def value(self) -> Tensor:
        """A read of the part that is at hand."""
        result: Tensor = self._get_closest().value()
        return result

    def read_value(self) -> Tensor:
        """A new read, behind the control dependencies of this point."""
        with entered(self._distribute_strategy):
            result: Tensor = identity_ops.identity(self.get())
        return result

    def eval(self, session: Any = None) -> Any:
        """The value of the part at hand in a session, or in the default session."""
        return self._get_closest().eval(session)

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: Any = None, as_ref: bool = False
    ) -> Tensor:
        raise NotImplementedError

    # --- protos and checkpoints ----------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The `VariableDef` of the first part."""
        return self.primary.to_proto(export_scope=export_scope)

    @property
    def _save_slice_info(self) -> Any:
        return self.primary._save_slice_info

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        for value in self._values:
            value._set_save_slice_info(save_slice_info)

    def _clone_with_new_values(self, new_values: Sequence[Any]) -> DistributedVariable:
        return type(self)(
            self._distribute_strategy,
            self._device_map,
            new_values,
            self._aggregation,
            self._logical_device,
        )


for _method in (
    "count_up_to",
    "load",
    *(f"scatter_{kind}" for kind in ("add", "div", "max", "min", "mul", "sub")),
    *(f"scatter_{kind}" for kind in ("update", "nd_add", "nd_sub", "nd_update")),
    "batch_scatter_update",
):

    def _of_part(
        self: DistributedVariable, *args: Any, _name: str = _method, **kwargs: Any
    ) -> Any:
        return getattr(self.get(), _name)(*args, **kwargs)

    _of_part.__name__ = _method
    _of_part.__doc__ = f"`{_method}` of the part that is at hand."
    setattr(DistributedVariable, _method, _of_part)

register_dense_tensor_like_type(DistributedVariable)


def assign_on(part: Any, method: str, value: Any) -> Any:
    """`part.assign(value)` or its like, on the part's device."""
    with device(part.device):
        return getattr(part, method)(value)


def is_distributed_variable(v: Any) -> bool:
    """Whether a variable has a part for each replica."""
    return isinstance(v, DistributedVariable)
