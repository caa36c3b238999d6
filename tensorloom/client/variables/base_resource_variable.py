"""What resource variables and the views of them after assignments have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.client.variables import variable_def as variable_protos
from tensorloom.client.variables.ref_variable import (
    SCATTER_METHODS,
    check_indexed_slices,
)
from tensorloom.client.variables.variable_makers import make_variable
from tensorloom.client.variables.variables import Variable, no_in_place_operator
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
    register_dense_tensor_like_type,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import (
    check_conversion,
    convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state import resource_variable as resource_variable_ops
from tensorloom.ops.state import scatter as scatter_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.indexed_slices import IndexedSlices
    from tensorloom.framework.types.tensor_shape import TensorShape


@contextmanager
def _graph_of(handle: Tensor) -> Iterator[None]:
    """The handle's graph as the default, unless a function body is being built."""
    graph = get_default_graph()
    if graph is handle.graph or graph.building_function:
        yield
    else:
        with handle.graph.as_default():
            yield


class BaseResourceVariable(Variable):
    """What a variable and the view of it after an assignment have in common."""

    _is_resource = True
    _handle: Tensor
    _handle_name: str
    _shape: TensorShape
    _dtype: DType
    _graph_element: Any
    _cached_value: Tensor | None = None

    # --- facts -------------------------------------------------------------------

    @property
    def handle(self) -> Tensor:
        """The scalar resource tensor."""
        return self._handle

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """`op_name:0`."""
        return self._handle_name

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def op(self) -> Operation:
        """The VarHandleOp operation."""
        return self._handle.op

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        return self._handle.graph

    @property
    def device(self) -> str:
        """The device asked for."""
        return self._handle.device

    @property
    def create(self) -> Any:
        """The initializer."""
        return self._initializer_op

    def _as_graph_element(self) -> Any:
        return self._graph_element

    def set_shape(self, shape: Any) -> NoReturn:
        """Not possible: the handle's shape is fixed."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    # --- reading -----------------------------------------------------------------

    def _read_variable_op(self) -> Tensor:
        result: Tensor = resource_variable_ops.read_variable_op(
            self._handle, self._dtype
        )
        return result

    def value(self) -> Tensor:
        """A new read of the variable, or the cached one."""
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def read_value(self) -> Tensor:
        """A new read, behind the control dependencies of this point."""
        with name_scope("Read"), device(self._handle.device):
            value = self._read_variable_op()
        return identity_ops.identity(value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable: `variable[indices, ...]`."""
        with name_scope("Gather" if name is None else name) as scope:
            value = resource_variable_ops.resource_gather(
                self._handle, indices, dtype=self._dtype, name=scope
            )
        return identity_ops.identity(value)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Slices of the variable at index vectors."""
        with name_scope("GatherNd" if name is None else name) as scope:
            value = resource_variable_ops.resource_gather_nd(
                self._handle, indices, dtype=self._dtype, name=scope
            )
        return identity_ops.identity(value)

    def eval(self, session: Any = None) -> Any:
        """The value in a session, or in the default session."""
        return self._graph_element.eval(session=session)

    def numpy(self) -> NoReturn:
        """Not possible: the value is in a session."""
        raise NotImplementedError(
            "numpy() is only available when eager execution is enabled."
        )

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A scalar bool tensor: whether there is a value."""
        result: Tensor = resource_variable_ops.var_is_initialized_op(self._handle, name)
        return result

    def count_up_to(self, limit: int) -> Any:
        """The value, incrementing it up to `limit`."""
        return state_ops.count_up_to(self, limit)

    # --- writing -----------------------------------------------------------------

    @contextmanager
    def _assign_dependencies(self) -> Iterator[None]:
        """A cached read must come before an update."""
        if self._cached_value is None:
            yield
        else:
            with control_dependencies([self._cached_value]):
                yield

    def _lazy_read(self, op: Operation) -> BaseResourceVariable:
        return _UnreadVariable(self, op)

    def _update(
        self, build: Callable[..., Any], delta: Any, name: Any, read_value: bool
    ) -> Any:
        with _graph_of(self._handle), self._assign_dependencies():
            op = build(
                self._handle, convert_to_tensor(delta, dtype=self._dtype), name=name
            )
        return self._lazy_read(op) if read_value else op

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assigns; gives a view of the new value, or the operation.

        Raises:
          ValueError: the value's static shape is not the variable's.
        """
        with _graph_of(self._handle):
            tensor = convert_to_tensor(value, dtype=self._dtype)
            self._shape.assert_is_compatible_with(tensor.shape)
            op = resource_variable_ops.assign_variable_op(
                self._handle, tensor, name=name
            )
            return self._lazy_read(op) if read_value else op

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds; gives a view of the new value, or the operation."""
        return self._update(
            resource_variable_ops.assign_add_variable_op, delta, name, read_value
        )

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts; gives a view of the new value, or the operation."""
        return self._update(
            resource_variable_ops.assign_sub_variable_op, delta, name, read_value
        )

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Assigns slices batch-wise, see `tf.batch_scatter_update`."""
        check_indexed_slices(sparse_delta)
        return scatter_ops.batch_scatter_update(
            self,
            sparse_delta.indices,
            sparse_delta.values,
            use_locking=use_locking,
            name=name,
        )

    def _scatter(self, kind: str, indices: Any, updates: Any, name: Any) -> Any:
        return self._lazy_read(
            scatter_ops.resource_scatter(kind, self, indices, updates, name)
        )

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Subtracts slices at index vectors."""
        return self._scatter("NdSub", indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Adds slices at index vectors."""
        return self._scatter("NdAdd", indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Assigns slices at index vectors."""
        return self._scatter("NdUpdate", indices, updates, name)

    def _strided_slice_assign(self, value: Any, **arguments: Any) -> Any:
        with _graph_of(self._handle), self._assign_dependencies():
            return self._lazy_read(
                apply_op(
                    "ResourceStridedSliceAssign",
                    ref=self._handle,
                    value=convert_to_tensor(value, dtype=self._dtype),
                    **arguments,
                )
            )

    __iadd__ = no_in_place_operator(
        "+= value",
        "Use variable.assign_add(value) to modify the variable value and variable = "
        "variable + value to get a new Tensor object.",
    )
    __isub__ = no_in_place_operator(
        "-= value",
        "Use variable.assign_sub(value) to modify the variable value and variable = "
        "variable - value to get a new Tensor object.",
    )
    __imul__ = no_in_place_operator(
        "*= value",
        "Use `var.assign(var * value)` to modify the variable or `var = var * value` "
        "to get a new Tensor object.",
    )
    __itruediv__ = no_in_place_operator(
        "/= value",
        "Use `var.assign(var / value)` to modify the variable or `var = var / value` "
        "to get a new Tensor object.",
    )
    __ipow__ = no_in_place_operator(
        "**= value",
        "Use `var.assign(var ** value)` to modify the variable or `var = var ** value` "
        "to get a new Tensor object.",
    )

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __copy__(self) -> BaseResourceVariable:
        return self

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled."
        )

    # --- protos ------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A `VariableDef`, or None when the variable is outside the scope."""
        cached = self._cached_value
        snapshot = self._graph_element if cached is None else cached
        proto = variable_protos.to_proto(
            self, self._handle.name, snapshot, export_scope
        )
        if proto is not None:
            proto.is_resource = True
        return proto

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The resource variable that a `VariableDef` describes."""
        variable: Variable = make_variable(
            "resource", variable_def=variable_def, import_scope=import_scope
        )
        return variable


class _UnreadVariable(BaseResourceVariable):
    """A variable after an assignment: reads of it come after the assignment."""

    def __init__(self, variable: BaseResourceVariable, parent_op: Operation) -> None:
        self._handle = variable._handle
        self._dtype = variable._dtype
        self._shape = variable._shape
        self._trainable = variable._trainable
        self._synchronization = variable._synchronization
        self._aggregation = variable._aggregation
        self._initial_value = None
        self._initializer_op = None
        self._save_slice_info = None
        self._constraint = None
        self._parent_op = parent_op
        self._handle_name = self._handle.name
        graph = get_default_graph()
        in_function = graph.building_function and graph.frame is None
        self._graph_element = None if in_function else self._read_variable_op()

    @property
    def name(self) -> str:
        """The name of the assignment."""
        return self._parent_op.name

    @property
    def op(self) -> Operation:
        """The assignment."""
        return self._parent_op

    def _read_variable_op(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return super()._read_variable_op()

    def value(self) -> Tensor:
        """A read after the assignment."""
        return self._read_variable_op()

    def read_value(self) -> Tensor:
        """A read after the assignment."""
        return self._read_variable_op()


def _scatter_method(kind: str, doc: str) -> Callable[..., Any]:
    def scatter(
        self: BaseResourceVariable,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        check_indexed_slices(sparse_delta)
        return self._scatter(kind, sparse_delta.indices, sparse_delta.values, name)

    scatter.__name__ = f"scatter_{kind.lower()}"
    scatter.__doc__ = doc
    return scatter


for _kind, _doc in SCATTER_METHODS.items():
    setattr(
        BaseResourceVariable,
        f"scatter_{_kind.lower()}",
        _scatter_method(_kind, _doc),
    )


def _to_tensor(
    variable: BaseResourceVariable,
    dtype: Any = None,
    name: Any = None,
    as_ref: bool = False,
) -> Tensor:
    check_conversion(variable, dtype)
    return variable.read_value().op.inputs[0] if as_ref else variable.value()


register_tensor_conversion_function(BaseResourceVariable, _to_tensor)
register_dense_tensor_like_type(BaseResourceVariable)


def is_resource_variable(value: Any) -> bool:
    """True for resource variables, views of them, and variables made of some."""
    return isinstance(value, Variable) and value._is_resource
