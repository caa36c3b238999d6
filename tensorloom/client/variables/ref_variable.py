"""`RefVariable`: a variable behind a reference edge, the default kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.variables import variable_def as variable_protos
from tensorloom.client.variables.initial_value import guard_initial_value
from tensorloom.client.variables.variable_policy import validate_variable_policy
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collections,
    colocate_with,
    device,
    get_default_graph,
    init_scope,
    name_scope,
    register_dense_tensor_like_type,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import (
    check_conversion,
    convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state import scatter as scatter_ops

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType


def check_variable_arguments(
    initial_value: Any, collections: Any, constraint: Any
) -> list[Any]:
    """Checks what both kinds of variables check, and gives the collections.

    Raises:
      ValueError: there is no initial value, or an argument is of a wrong kind.
    """
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or "
            f"set. Got {collections} of type {type(collections)}"
        )
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    return list(collections)


def check_outside_control_flow(initial_value: Tensor, name: str) -> None:
    """Raises ValueError for an initial value made inside a loop or conditional."""
    graph = initial_value.graph
    if initial_value.op._get_control_flow_context() is not None or (
        isinstance(graph, FuncGraph) and graph.frame is not None
    ):
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, "
            "such as a loop or conditional. When creating a variable inside a loop or "
            "conditional, use a lambda as the initializer."
        )


def location_attr(name: str) -> AbstractContextManager[None]:
    """Ops made inside are colocated with the variable's op of this name."""
    location = f"loc:@{name}".encode()
    return get_default_graph()._attr_scope({"_class": [location]})


class RefVariable(Variable):
    """A variable whose op is a VariableV2; see `Variable`."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
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
        collections = check_variable_arguments(initial_value, collections, constraint)
        self._synchronization, self._aggregation, self._trainable = (
            validate_variable_policy(synchronization, aggregation, trainable, name)
        )
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
        self._caching_device = caching_device
        self._save_slice_info = None
        self._constraint = constraint
        with init_scope():
            values = [] if callable(initial_value) else [initial_value]
            with name_scope(name, "Variable", values) as scope:
                self._build(initial_value, scope, dtype, shape, validate_shape)
            add_to_collections(collections, self)

    def _build(
        self, initial_value: Any, scope: str, dtype: Any, shape: Any, validate: bool
    ) -> None:
        """Makes the ops, inside the variable's name scope."""
        if callable(initial_value):
            with location_attr(scope[:-1]):
                with name_scope("Initializer"), device(None):
                    value = convert_to_tensor(
                        initial_value(), name="initial_value", dtype=dtype
                    )
                    shape = _static_shape(value, shape, validate)
                self._variable: Tensor = state_ops.variable_op_v2(
                    shape, value.dtype.base_dtype, name=scope
                )
        else:
            value = convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
            check_outside_control_flow(value, scope)
            shape = _static_shape(value, shape, validate)
            self._variable = state_ops.variable_op_v2(
                shape, value.dtype.base_dtype, name=scope
            )
        self._initial_value = value
        if validate and not value.get_shape().is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        self._initializer_op = state_ops.assign(
            self._variable,
            guard_initial_value(scope, value),
            validate_shape=validate,
        ).op
        where = (
            device(self._caching_device)
            if self._caching_device is not None
            else colocate_with(self._variable.op)
        )
        with where:
            self._snapshot = identity_ops.identity(self._variable, name="read")

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> None:
        element = variable_protos.restore(self, proto, import_scope)
        self._variable = element(proto.variable_name)
        self._snapshot = element(proto.snapshot_name)
        self._caching_device = None

    # --- facts -------------------------------------------------------------------

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    @property
    def name(self) -> str:
        """`op_name:0`."""
        return self._variable.name

    @property
    def dtype(self) -> DType:
        """The reference dtype."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.get_shape()

    @property
    def op(self) -> Operation:
        """The VariableV2 operation."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        return self._variable.graph

    def set_shape(self, shape: Any) -> None:
        """Refines the static shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    # --- values ------------------------------------------------------------------

    def value(self) -> Tensor:
        """The variable's `read` tensor."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new Identity of the variable."""
        return identity_ops.identity(self._variable, name="read")

    def eval(self, session: Any = None) -> Any:
        """The value in a session, or in the default session."""
        return self._variable.eval(session=session)

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assigns; gives the reference, or the operation with `read_value=False`."""
        result = state_ops.assign(
            self._variable, value, use_locking=use_locking, name=name
        )
        return result if read_value else result.op

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds; gives the reference, or the operation with `read_value=False`."""
        result = state_ops.assign_add(
            self._variable, delta, use_locking=use_locking, name=name
        )
        return result if read_value else result.op

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts; gives the reference, or the operation with `read_value=False`."""
        result = state_ops.assign_sub(
            self._variable, delta, use_locking=use_locking, name=name
        )
        return result if read_value else result.op

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Assigns slices batch-wise, see `tf.batch_scatter_update`."""
        return scatter_ops.batch_scatter_update(
            self,
            sparse_delta.indices,
            sparse_delta.values,
            use_locking=use_locking,
            name=name,
        )

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: Any) -> Any:
        return apply_op(
            f"ScatterNd{kind}",
            ref=self._variable,
            indices=indices,
            updates=updates,
            use_locking=True,
            name=name,
        )

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Subtracts slices at index vectors."""
        return self._scatter_nd("Sub", indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Adds slices at index vectors."""
        return self._scatter_nd("Add", indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Assigns slices at index vectors."""
        return self._scatter_nd("Update", indices, updates, name)

    def _strided_slice_assign(self, **arguments: Any) -> Any:
        return apply_op("StridedSliceAssign", ref=self._variable, **arguments)

    def count_up_to(self, limit: int) -> Any:
        """The value, incrementing it up to `limit`."""
        return state_ops.count_up_to(self._variable, limit=limit)

    # --- protos ------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A `VariableDef`, or None when the variable is outside the scope."""
        return variable_protos.to_proto(
            self, self._variable.name, self._snapshot, export_scope
        )


def _static_shape(value: Tensor, shape: Any, validate: bool) -> Any:
    if shape is not None:
        return shape
    return value.get_shape() if validate else TensorShape.of(None)


def scatter_method(kind: str, doc: str) -> Callable[..., Any]:
    """A method of RefVariable that scatters IndexedSlices into it."""

    def scatter(
        self: RefVariable,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        check_indexed_slices(sparse_delta)
        return apply_op(
            f"Scatter{kind}",
            ref=self._variable,
            indices=sparse_delta.indices,
            updates=sparse_delta.values,
            use_locking=use_locking,
            name=name,
        )

    scatter.__name__ = f"scatter_{kind.lower()}"
    scatter.__doc__ = doc
    return scatter


def check_indexed_slices(value: Any) -> None:
    """Raises TypeError unless `value` is IndexedSlices."""
    if not isinstance(value, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {value}")


SCATTER_METHODS = {
    "Sub": "Subtracts IndexedSlices.",
    "Add": "Adds IndexedSlices.",
    "Max": "Takes the maximum with IndexedSlices.",
    "Min": "Takes the minimum with IndexedSlices.",
    "Mul": "Multiplies by IndexedSlices.",
    "Div": "Divides by IndexedSlices.",
    "Update": "Assigns IndexedSlices.",
}
for _kind, _doc in SCATTER_METHODS.items():
    setattr(RefVariable, f"scatter_{_kind.lower()}", scatter_method(_kind, _doc))


def _to_tensor(
    variable: RefVariable, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    check_conversion(variable, dtype)
    return variable._variable if as_ref else variable._snapshot


register_tensor_conversion_function(RefVariable, _to_tensor)
register_dense_tensor_like_type(RefVariable)
