"""Variables in host memory: creating, assigning, reading and counting.

These kernels take values as they are. A variable of more than a few elements holds a
torch tensor; then the work is passed on to `kernels/torch/state/in_place_updates.py`,
which loads torch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import (
    DEFAULT_CONTAINER,
    LegacyVariable,
    Variable,
    container_of,
    holds_host_value,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.torch.state import early_arrays
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    held_array,
    is_host,
    owned_array,
    owned_tensor,
    replace_value,
    shape_of,
    tensor_later,
    to_host,
    uninitialized,
    uninitialized_resource,
    unreadable_resource,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


@host_kernel(["VariableV2", "Variable", "VarHandleOp"], large=True)
def variable(c: OpKernelConstruction) -> Compute:
    """The variable itself, found or made once; a session keeps it from then on."""
    assert c.resources is not None
    name = (c["shared_name"] or b"").decode() or c.node_name
    dtype, shape, device = c["dtype"], c["shape"], c.device
    if c.node.op == "VarHandleOp":
        # As in TensorFlow, any name will do here.
        container = (c["container"] or b"").decode() or DEFAULT_CONTAINER
        kind: type[Variable] = Variable
    else:
        container, kind = container_of(c["container"]), LegacyVariable
        if None in (shape.dims_tuple or ()):
            raise errors.InvalidArgumentError(
                None, None, f"Shape {shape} is not fully defined"
            )
    held: Variable = c.resources.lookup_or_create(
        container, name, kind, lambda: kind(container, name, dtype, shape, device)
    )
    _check_dtype(held, dtype)
    return lambda: held


def _check_dtype(held: Variable, dtype: DType) -> None:
    if held.dtype == dtype:
        return
    message = (
        f"Variable {held.name} of container {held.container} has dtype "
        f"{held.dtype.name}, expected {dtype.name}"
    )
    if isinstance(held, LegacyVariable):
        raise errors.InternalError(None, None, message)
    if held.value is not None:
        raise errors.InvalidArgumentError(None, None, message)


@host_kernel("TemporaryVariable", large=True)
def temporary_variable(c: OpKernelConstruction) -> Compute:
    """A variable of its own for each step."""
    name = (c["var_name"] or b"").decode() or c.node_name
    dtype, shape, device = c["dtype"], c["shape"], c.device
    dims = shape.dims_tuple
    if dims is None or None in dims:
        raise errors.InvalidArgumentError(
            None, None, f"Shape {shape} is not fully defined"
        )

    def compute() -> Variable:
        made = Variable("tmp", name, dtype, shape, device)
        check_shape(dims, dtype, device)
        zeros = np.zeros(dims, dtype.as_numpy_dtype)
        store(made, zeros, shape, c.device_type, c.torch_device)
        return made

    return compute


def store(
    variable: Variable,
    value: Any,
    shape: TensorShape,
    device_type: str,
    device: Any,
) -> None:
    """Sets a variable's value in the kind of memory that its static facts ask for."""
    if holds_host_value(variable.dtype, variable.shape, device_type) or (
        device_type == "CPU" and early_arrays.may_hold(variable, value)
    ):
        variable.value = owned_array(to_host(value))
        return
    later = tensor_later(value) if device_type == "CPU" else None
    if later is not None:
        variable.set_later(later)
    else:
        variable.value = owned_tensor(value, device)


@host_kernel("Assign", any_inputs=("value",), retains=("value",), large=True)
def assign(c: OpKernelConstruction) -> Compute:
    """ref = value, with the shape check that `validate_shape` asks for."""
    validate, shape = c["validate_shape"], c.output_shapes[0]
    device_type, device = c.device_type, c.torch_device

    def compute(ref: Variable, value: Any) -> Variable:
        with ref.lock:
            if validate:
                _check_assigned_shape(ref, value)
            store(ref, value, shape, device_type, device)
        return ref

    return compute


def _check_assigned_shape(ref: Variable, value: Any) -> None:
    held = ref.shape.dims_tuple if ref.value is None else shape_of(ref.value)
    if held is None or None in held or held == shape_of(value):
        return
    raise errors.InvalidArgumentError(
        None,
        None,
        "Assign requires shapes of both tensors to match. lhs shape= "
        f"{format_shape(held)} rhs shape= {format_shape(shape_of(value))}",  # type: ignore[arg-type]
    )


@host_kernel("AssignVariableOp", any_inputs=("value",), retains=("value",), large=True)
def assign_variable(c: OpKernelConstruction) -> Compute:
    """Sets the value behind a handle."""
    dtype = c["dtype"].base_dtype
    device_type, device = c.device_type, c.torch_device

    def compute(handle: Variable, value: Any) -> None:
        if handle.dtype.base_dtype != dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Trying to assign variable with wrong dtype. "
                f"Expected {handle.dtype.name} got {dtype.name}",
            )
        with handle.lock:
            store(handle, value, handle.shape, device_type, device)

    return compute


def _update(
    c: OpKernelConstruction, sign: int, on_tensors: bool
) -> Callable[[Variable, Any], None]:
    """The function that adds `sign * value` to a variable under its lock.

    `on_tensors`: it runs where tensors are computed, and changes them in place.
    """
    resource = c.op.endswith("VariableOp")
    device = c.torch_device
    add = sign > 0

    def slow(variable: Variable, value: Any) -> None:
        held = variable.value
        if held is None:
            raise uninitialized(variable, resource)
        if shape_of(held) != shape_of(value):
            raise _mismatch(resource, shape_of(held), shape_of(value))
        if is_host(held) or not on_tensors:
            old, value = to_host(held), to_host(value)
            replace_value(variable, old + value if add else old - value)
        else:
            from tensorloom.kernels.torch.state.in_place_updates import add_in_place

            del held
            add_in_place(variable, value, sign, device)

    def update(variable: Variable, value: Any) -> None:
        with variable.lock:
            held = variable.value
            if isinstance(held, np.number) and isinstance(value, np.number):
                variable.value = held + value if add else held - value
            else:
                del held
                slow(variable, value)

    return update


def _mismatch(
    resource: bool, held: tuple[int, ...], value: tuple[int, ...]
) -> errors.InvalidArgumentError:
    if not resource:
        message = "Parameters and update must be the same size"
    else:
        message = (
            f"Cannot update variable with shape {format_shape(held)} using a Tensor "
            f"with shape {format_shape(value)}, shapes must be equal."
        )
    return errors.InvalidArgumentError(None, None, message)


def assign_update(c: OpKernelConstruction, on_tensors: bool) -> Compute:
    """ref += value or ref -= value."""
    update = _update(c, 1 if c.op == "AssignAdd" else -1, on_tensors)

    def compute(ref: Variable, value: Any) -> Variable:
        update(ref, value)
        return ref

    return compute


def assign_update_variable(c: OpKernelConstruction, on_tensors: bool) -> Compute:
    """Adds to or subtracts from the value behind a handle."""
    return _update(c, 1 if c.op == "AssignAddVariableOp" else -1, on_tensors)


host_kernel(["AssignAdd", "AssignSub"], any_inputs=("value",), large=True)(
    functools.partial(assign_update, on_tensors=False)
)
host_kernel(
    ["AssignAddVariableOp", "AssignSubVariableOp"], any_inputs=("value",), large=True
)(functools.partial(assign_update_variable, on_tensors=False))


@host_kernel("ReadVariableOp", aliases=True)
def read_variable(c: OpKernelConstruction) -> Compute:
    """The value now; updates replace it or copy, so it never changes."""
    dtype = c["dtype"].base_dtype

    def compute(handle: Variable) -> Any:
        value = handle.value
        if value is None and (value := handle.value_between_updates()) is None:
            raise unreadable_resource(handle)
        if handle.dtype is not dtype and handle.dtype.base_dtype != dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Trying to read variable with wrong dtype. "
                f"Expected {dtype.name} got {handle.dtype.name}",
            )
        return held_array(value)

    return compute


@host_kernel(["IsVariableInitialized", "VarIsInitializedOp"], large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether the variable has a value."""
    return lambda variable: np.bool_(variable.value_between_updates() is not None)


@host_kernel("VariableShape", large=True)
def variable_shape(c: OpKernelConstruction) -> Compute:
    """The shape of the value behind a handle."""
    numpy_type = c["out_type"].as_numpy_dtype

    def compute(handle: Variable) -> np.ndarray[Any, Any]:
        value = handle.value_between_updates()
        if value is None:
            raise uninitialized_resource(handle)
        return np.array(shape_of(value), numpy_type)

    return compute


@host_kernel("DestroyResourceOp", large=True)
def destroy_resource(c: OpKernelConstruction) -> Compute:
    """Deletes a resource. A variable stays as a name without a value."""
    ignore = c["ignore_lookup_error"]
    resources = c.resources
    assert resources is not None

    def compute(handle: Any) -> None:
        if not isinstance(handle, Variable):
            try:
                resources.delete(handle)
            except errors.NotFoundError:
                if not ignore:
                    raise
            return
        if handle.value_between_updates() is None and not ignore:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {handle.container}/{handle.name}/Variable does not exist.",
            )
        # Compiled pieces keep the variable, so it is emptied and not removed.
        with handle.lock:
            handle.value = None

    return compute


@host_kernel(["CountUpTo", "ResourceCountUpTo"], large=True)
def count_up_to(c: OpKernelConstruction) -> Compute:
    """The value before adding one; OutOfRange at the limit."""
    limit = c["limit"]
    one = c["T"].as_numpy_dtype(1)
    resource = c.op != "CountUpTo"

    def compute(variable: Variable) -> Any:
        with variable.lock:
            if variable.value is None:
                raise uninitialized(variable, resource)
            value = to_host(variable.value)
            if value >= limit:
                raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
            variable.value = value + one
        return value

    return compute


@host_kernel("DisableCopyOnRead", large=True)
def disable_copy_on_read(c: OpKernelConstruction) -> Compute:
    """A hint that changes nothing here: no read of a variable is a copy."""
    return lambda resource: None
