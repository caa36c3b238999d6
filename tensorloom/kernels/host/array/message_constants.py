"""Constants of dtype resource and variant: what a handle names, what a message says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import DEFAULT_CONTAINER, Resource, Variable
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.message_tensor import MESSAGE_CONST
from tensorloom.framework.types.tensor_proto import decode_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.torch.state.variable_value import uninitialized_resource
from tensorloom.storage.checkpoints.variants import OpaqueVariant, decode

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import ResourceManager


@host_kernel(MESSAGE_CONST, large=True)
def message_constant(c: OpKernelConstruction) -> Compute:
    """A new value in each step: what uses a variant may change it in place."""
    tensor, is_handle = c["value"], c["dtype"] == dtypes.resource
    resources, device = c.resources, c.device
    check_shape(tensor.shape, dtypes.string, device)  # objects, as strings are
    array = decode_tensor(tensor.definition)

    def one(message: Any) -> Any:
        if is_handle:
            assert resources is not None
            return _named(message, resources, device)
        return _variant(message)

    if not tensor.shape:
        message = array[()]
        if not is_handle:
            _variant(message)  # what cannot be read is told when the kernel is made
        return lambda: one(message)

    def compute() -> Any:
        values = array.copy()
        for index, message in enumerate(array.flat):
            values.flat[index] = one(message)
        return values

    return compute


def _variant(message: Any) -> Any:
    try:
        value = decode(message.SerializeToString())
    except ValueError as error:
        raise _unparsed(message, str(error)) from None
    if isinstance(value, OpaqueVariant):
        raise _unparsed(message, "its type is not known")
    return value


def _unparsed(message: Any, why: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None,
        None,
        f"Cannot parse tensor from proto: variant of type '{message.type_name}': {why}",
    )


def _named(handle: Any, resources: ResourceManager, device: str) -> Resource:
    """The resource of a handle; where there is none, a variable without a value."""
    container = handle.container or DEFAULT_CONTAINER
    is_variable = "Var" in handle.maybe_type_name
    if not handle.device or handle.device == device:
        for resource in resources.named(container, handle.name):
            # A variable behind a reference is another resource.
            if type(resource) is Variable or not (
                is_variable or isinstance(resource, Variable)
            ):
                return resource
    if is_variable:
        return _Missing(container, handle.name, dtypes.float32, UNKNOWN, handle.device)
    raise errors.NotFoundError(
        None,
        None,
        f"Resource {container}/{handle.name}/{handle.maybe_type_name} does not exist "
        f"on {device}.",
    )


class _Missing(Variable):
    """What a handle stands for that names no variable: nothing can be assigned to it.

    (TensorFlow would make one by what is assigned.)
    """

    @property
    def value(self) -> None:
        """None."""
        return None

    @value.setter
    def value(self, value: Any) -> None:
        if value is not None:
            raise uninitialized_resource(self)
