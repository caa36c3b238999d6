"""`ResourceVariable`: a variable behind a handle, read and written by explicit ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables import variable_def as variable_protos
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.initial_value import guard_initial_value
from tensorloom.client.variables.ref_variable import (
    check_outside_control_flow,
    check_variable_arguments,
    location_attr,
)
from tensorloom.client.variables.variable_policy import validate_variable_policy
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collections,
    colocate_with,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.state import resource_variable as resource_variable_ops


class ResourceVariable(BaseResourceVariable):
    """A variable whose op is a VarHandleOp; see `Variable`."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        distribute_strategy: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError(
                    "variable_def and initial_value are mutually exclusive."
                )
            self._init_from_proto(variable_def, import_scope)
            return
        self._synchronization, self._aggregation, self._trainable = (
            validate_variable_policy(synchronization, aggregation, trainable, name)
        )
        collections = check_variable_arguments(initial_value, collections, constraint)
        _check_not_in_function(initial_value)
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
        self._save_slice_info = None
        self._constraint = constraint
        if distribute_strategy is not None:
            self._distribute_strategy = distribute_strategy
        with init_scope():
            values = [] if callable(initial_value) else [initial_value]
            with name_scope(name, "Variable", values) as scope:
                self._build(initial_value, scope, dtype, shape, caching_device)
            add_to_collections(collections, self)

    def _build(
        self,
        initial_value: Any,
        scope: str,
        dtype: Any,
        shape: Any,
        caching_device: Any,
    ) -> None:
        """Makes the ops, inside the variable's name scope."""
        name = scope[:-1]
        with location_attr(name):
            with name_scope("Initializer"), device(None):
                value = convert_to_tensor(
                    initial_value() if callable(initial_value) else initial_value,
                    name="initial_value",
                    dtype=dtype,
                )
            self._shape = _checked_shape(value, shape)
            self._dtype = value.dtype.base_dtype
            self._handle = resource_variable_ops.var_handle_op(
                dtype=self._dtype,
                shape=self._shape,
                shared_name=name,
                name=scope,
                container=get_default_graph()._container,
            )
        self._handle_name = f"{name}:0"
        self._initial_value = value
        check_outside_control_flow(value, scope)
        with name_scope("IsInitialized"):
            resource_variable_ops.var_is_initialized_op(self._handle)
        with (
            name_scope("Assign") as assign_scope,
            colocate_with(None, ignore_existing=True),
            device(self._handle.device),
        ):
            self._initializer_op = resource_variable_ops.assign_variable_op(
                self._handle, guard_initial_value(scope, value), name=assign_scope
            )
        with name_scope("Read"):
            with device(self._handle.device):
                self._graph_element = self._read_variable_op()
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached_value = identity_ops.identity(self._graph_element)

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> None:
        if not proto.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        element = variable_protos.restore(self, proto, import_scope)
        self._handle = element(proto.variable_name)
        self._shape = self._handle.op.attrs["shape"]
        self._dtype = dtypes.as_dtype(self._handle.op.attrs["dtype"])
        self._handle_name = self._handle.name
        if proto.snapshot_name:
            snapshot = element(proto.snapshot_name)
            if snapshot.op.type != "ReadVariableOp":
                self._cached_value = snapshot
            while snapshot.op.type != "ReadVariableOp":
                snapshot = snapshot.op.inputs[0]
            self._graph_element = snapshot
        else:
            self._graph_element = self._handle.graph.get_tensor_by_name(
                f"{self._handle.op.name}/Read/ReadVariableOp:0"
            )


def _check_not_in_function(initial_value: Any) -> None:
    if isinstance(initial_value, Tensor) and initial_value.graph.building_function:
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an "
            "init_scope or callable (e.g., `tf.Variable(lambda : "
            "tf.truncated_normal([10, 40]))`) when building functions."
        )


def _checked_shape(value: Tensor, shape: Any) -> TensorShape:
    if shape is None:
        return value.shape
    if not value.shape.is_compatible_with(shape):
        raise ValueError(
            f"The initial value's shape ({value.shape}) is not compatible with the "
            f"explicitly supplied `shape` argument ({shape})."
        )
    return as_shape(shape)
