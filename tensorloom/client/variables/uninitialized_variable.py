"""A resource variable without an initial value: what restores it initializes it."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.ref_variable import location_attr
from tensorloom.client.variables.variable_policy import validate_variable_policy
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.ops.state import resource_variable as resource_variable_ops


class UninitializedVariable(BaseResourceVariable):
    """A variable of a dtype and shape; it is no member of the trainable collection."""

    def __init__(
        self,
        trainable: bool | None = None,
        name: str | None = None,
        dtype: Any = dtypes.float32,
        shape: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> None:
        self._synchronization, self._aggregation, self._trainable = (
            validate_variable_policy(synchronization, aggregation, trainable, name)
        )
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._shape = as_shape(shape)
        self._save_slice_info = None
        self._constraint = None
        self._initial_value = None
        # What restores its value, once that is known.
        self._initializer_op = None
        with init_scope(), name_scope(name, "Variable", []) as scope:
            handle_name = scope[:-1]
            with location_attr(handle_name):
                self._handle = resource_variable_ops.var_handle_op(
                    dtype=self._dtype,
                    shape=self._shape,
                    shared_name=handle_name,
                    name=scope,
                    container=get_default_graph()._container,
                )
            self._handle_name = f"{handle_name}:0"
            with name_scope("Read"), device(self._handle.device):
                self._graph_element = self._read_variable_op()
            add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)
