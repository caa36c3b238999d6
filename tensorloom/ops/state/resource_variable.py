"""Resource variables: the handle, and the ops that read and write through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.classic_op_types import ENTERS, SWITCHES
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    HandleData,
    no_outputs,
    scalar_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.state.reference_variable import (
    NUMBERS,
    check_scatter_nd_updates,
    check_scatter_updates,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_UNKNOWN = TensorShape.of(None)

# --- shape functions ---------------------------------------------------------


def _var_handle_shape(c: InferenceContext) -> TensorShape:
    c.set_output_handle_data(0, HandleData(c.attrs["dtype"], c.attrs["shape"]))
    return TensorShape.of(())


def _handle_shape(c: InferenceContext, dtype: dtypes.DType, action: str) -> TensorShape:
    """The shape behind input 0's handle; fails when the dtypes differ."""
    data = c.handle_data(0)
    if data is None:
        return _UNKNOWN
    if data.dtype.base_dtype != dtype.base_dtype:
        c.fail(
            f"Trying to {action} variable with wrong dtype. "
            f"Expected {data.dtype.name} got {dtype.name}"
        )
    return data.shape


def _read_shape(c: InferenceContext) -> TensorShape:
    return _handle_shape(c, c.attrs["dtype"], "read")


def _assign_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    variable = _handle_shape(c, c.attrs["dtype"], "assign")
    c.merge(variable, c.input_shape(1))
    return ()


def _variable_shape_shape(c: InferenceContext) -> TensorShape:
    data = c.handle_data(0)
    return TensorShape.of((None if data is None else data.shape.rank,))


def _gather_shape(c: InferenceContext) -> TensorShape:
    params = c.with_rank_at_least(_handle_shape(c, c.attrs["dtype"], "read"), 1)
    batch_dims: int = c.attrs["batch_dims"]
    if batch_dims < 0:
        c.fail(f"batch_dims is negative ({batch_dims})")
    params = c.with_rank_at_least(params, batch_dims + 1)
    indices = c.with_rank_at_least(1, batch_dims)
    if params.rank is None or indices.rank is None:
        return _UNKNOWN
    return (
        params[:batch_dims]
        .concatenate(indices[batch_dims:])
        .concatenate(params[batch_dims + 1 :])
    )


def _gather_nd_shape(c: InferenceContext) -> TensorShape:
    params = _handle_shape(c, c.attrs["dtype"], "read")
    indices = c.with_rank_at_least(c.input_shape(1), 1).dims_tuple
    if indices is None or indices[-1] is None or params.rank is None:
        return _UNKNOWN
    if indices[-1] > params.rank:
        c.fail(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{c.input_shape(1)} and params shape: {params}"
        )
    return TensorShape.of(indices[:-1]).concatenate(params[indices[-1] :])


def _scatter_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    params = _handle_shape(c, c.attrs["dtype"], "scatter into")
    check_scatter_updates(c, params, c.input_shape(1), c.input_shape(2))
    return ()


def _scatter_nd_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    params = _handle_shape(c, c.attrs["T"], "scatter into")
    indices, updates = c.with_rank_at_least(1, 1), c.with_rank_at_least(2, 1)
    check_scatter_nd_updates(c, params, indices, updates)
    return ()


def _count_up_to_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(_handle_shape(c, c.attrs["T"], "count with"), 0)


# --- gradients ---------------------------------------------------------------


def _read_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


def variable_shape(handle: Tensor, out_type: dtypes.DType = dtypes.int32) -> Any:
    """The shape behind a handle: a constant where it is known statically.

    TensorFlow does not know it of a handle that came into a branch or a loop.
    """
    data = handle._handle_data
    came_in = handle.op.type in SWITCHES | ENTERS
    if data is None or came_in or not data.shape.is_fully_defined():
        return apply_op("VariableShape", input=handle, out_type=out_type)
    from tensorloom.ops.array import constant as constant_op

    return constant_op.constant(data.shape.as_list(), dtype=out_type)


def _gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    from tensorloom.ops.array import array_ops

    handle, indices = op.inputs
    params_shape = variable_shape(handle)
    size = array_ops.expand_dims(array_ops.size(indices), 0)
    values_shape = array_ops.concat([size, params_shape[1:]], 0)
    values = array_ops.reshape(grad, values_shape)
    indices = array_ops.reshape(indices, size)
    return [IndexedSlices(values, indices, params_shape), None]


def _gather_nd_grad(op: Operation, grad: Tensor) -> list[Any]:
    from tensorloom.ops.array import array_ops

    handle, indices = op.inputs
    params_shape = variable_shape(handle, indices.dtype)
    if indices.shape.ndims == 2 and indices.shape[-1].value == 1:
        squeezed = array_ops.squeeze(indices, axis=-1)
        return [IndexedSlices(grad, squeezed, params_shape), None]
    return [array_ops.scatter_nd(indices, grad, params_shape), None]


# --- registrations -----------------------------------------------------------

register_op(
    "VarHandleOp",
    outputs=["resource: resource"],
    attrs=[
        "container: string = ''",
        "shared_name: string = ''",
        "dtype: type",
        "shape: shape",
    ],
    shape_fn=_var_handle_shape,
    stateful=True,
    doc="The handle of a resource variable.",
)
register_op(
    "ReadVariableOp",
    inputs=["resource: resource"],
    outputs=["value: dtype"],
    attrs=["dtype: type"],
    shape_fn=_read_shape,
    gradient=_read_grad,
    stateful=True,
    doc="The variable's value at this moment; later assignments do not change it.",
)
for _name, _what in (
    ("AssignVariableOp", "Sets the variable to value."),
    ("AssignAddVariableOp", "Adds value to the variable."),
    ("AssignSubVariableOp", "Subtracts value from the variable."),
):
    register_op(
        _name,
        inputs=["resource: resource", "value: dtype"],
        attrs=["dtype: type"],
        shape_fn=_assign_shape,
        stateful=True,
        doc=_what,
    )
register_op(
    "VarIsInitializedOp",
    inputs=["resource: resource"],
    outputs=["is_initialized: bool"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="True when the variable has a value.",
)
register_op(
    "DisableCopyOnRead",
    inputs=["resource: resource"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Of TensorFlow 2.x: a hint about how a variable is read. Does nothing.",
)
register_op(
    "VariableShape",
    inputs=["input: resource"],
    outputs=["output: out_type"],
    attrs=["out_type: {int32, int64} = DT_INT32"],
    shape_fn=_variable_shape_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The shape of the variable's value.",
)
register_op(
    "DestroyResourceOp",
    inputs=["resource: resource"],
    attrs=["ignore_lookup_error: bool = true"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Deletes the resource that the handle points to.",
)
register_op(
    "ResourceGather",
    inputs=["resource: resource", "indices: Tindices"],
    outputs=["output: dtype"],
    attrs=[
        "batch_dims: int = 0",
        "validate_indices: bool = true",
        "dtype: type",
        "Tindices: {int32, int64}",
    ],
    shape_fn=_gather_shape,
    gradient=_gather_grad,
    stateful=True,
    doc="Rows of the variable: resource[indices, ...].",
)
register_op(
    "ResourceGatherNd",
    inputs=["resource: resource", "indices: Tindices"],
    outputs=["output: dtype"],
    attrs=["dtype: type", "Tindices: {int32, int64}"],
    shape_fn=_gather_nd_shape,
    gradient=_gather_nd_grad,
    stateful=True,
    doc="Slices of the variable at index vectors.",
)
for _kind in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
    register_op(
        f"ResourceScatter{_kind}",
        inputs=["resource: resource", "indices: Tindices", "updates: dtype"],
        attrs=[
            "dtype: type" if _kind == "Update" else f"dtype: {NUMBERS}",
            "Tindices: {int32, int64}",
        ],
        shape_fn=_scatter_shape,
        stateful=True,
        doc=f"Rows of the variable and updates: {_kind}.",
    )
for _kind in ("Update", "Add", "Sub", "Min", "Max"):
    register_op(
        f"ResourceScatterNd{_kind}",
        inputs=["ref: resource", "indices: Tindices", "updates: T"],
        attrs=["T: type", "Tindices: {int32, int64}", "use_locking: bool = true"],
        shape_fn=_scatter_nd_shape,
        stateful=True,
        doc=f"Slices of the variable at index vectors and updates: {_kind}.",
    )
register_op(
    "ResourceCountUpTo",
    inputs=["resource: resource"],
    outputs=["output: T"],
    attrs=["limit: int", "T: {int32, int64}"],
    shape_fn=_count_up_to_shape,
    stateful=True,
    doc="Gives the variable's value and adds one; an error when it is at the limit.",
)

# --- builders ----------------------------------------------------------------


def var_handle_op(
    dtype: Any,
    shape: Any,
    shared_name: str = "",
    name: str | None = None,
    container: str = "",
) -> Any:
    """The handle of a variable of this dtype and shape."""
    return apply_op(
        "VarHandleOp",
        shape=shape,
        dtype=dtype,
        shared_name=shared_name,
        name=name,
        container=container,
    )


def read_variable_op(resource: Any, dtype: Any, name: str | None = None) -> Any:
    """The value behind a handle."""
    return apply_op("ReadVariableOp", resource=resource, dtype=dtype, name=name)


def assign_variable_op(resource: Any, value: Any, name: str | None = None) -> Any:
    """The operation that sets the value behind a handle."""
    return apply_op("AssignVariableOp", resource=resource, value=value, name=name)


def assign_add_variable_op(resource: Any, value: Any, name: str | None = None) -> Any:
    """The operation that adds to the value behind a handle."""
    return apply_op("AssignAddVariableOp", resource=resource, value=value, name=name)


def assign_sub_variable_op(resource: Any, value: Any, name: str | None = None) -> Any:
    """The operation that subtracts from the value behind a handle."""
    return apply_op("AssignSubVariableOp", resource=resource, value=value, name=name)


def var_is_initialized_op(resource: Any, name: str | None = None) -> Any:
    """Whether there is a value behind a handle."""
    return apply_op("VarIsInitializedOp", resource=resource, name=name)


def resource_gather(
    resource: Any, indices: Any, dtype: Any, name: str | None = None
) -> Any:
    """Rows of the value behind a handle."""
    return apply_op(
        "ResourceGather", resource=resource, indices=indices, dtype=dtype, name=name
    )


def resource_gather_nd(
    resource: Any, indices: Any, dtype: Any, name: str | None = None
) -> Any:
    """Slices, at index vectors, of the value behind a handle."""
    return apply_op(
        "ResourceGatherNd", resource=resource, indices=indices, dtype=dtype, name=name
    )
