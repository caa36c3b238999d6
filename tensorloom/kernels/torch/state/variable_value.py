"""What a variable holds: reading it as NumPy or torch, and replacing it safely.

A variable's value may be held by others at any time: a fetch, a `ReadVariableOp`, a
view. So an update never changes a NumPy value (those are small: see
`resource.holds_host_value`), and a torch tensor only while nobody else holds it. This
module loads without torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime import lendable_memory
from tensorloom.kernels.torch.state import restored_memory

if TYPE_CHECKING:
    import torch

    from tensorloom.framework.registry.op_kernel import OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable

_references = sys.getrefcount


def _references_of_local() -> int:
    value = object()
    return _references(value)


# With a value that nobody else holds, what `_references` inside `exclusive` counts: the
# local name and, before Python 3.14, the argument. The variable has let go of it.
_OWN_REFERENCES = _references_of_local()
# With its array from `held_array`, the tensor's attribute as well.
_OWN_ARRAY_REFERENCES = _OWN_REFERENCES + 1
# Storage users with one tensor on it: the tensor and the wrapper made for asking. An
# array is one more.
_OWN_STORAGE_USES = 2


_HOST_TYPES = (np.ndarray, np.generic)
_SMALL_SLICE = 4096


def uninitialized_reference(variable: Variable) -> errors.FailedPreconditionError:
    """The error of using a reference variable before its first assignment."""
    return errors.FailedPreconditionError(
        None, None, f"Attempting to use uninitialized value {variable.name}"
    )


def unreadable_resource(variable: Variable) -> errors.FailedPreconditionError:
    """The error of reading a resource variable before its first assignment."""
    return errors.FailedPreconditionError(
        None,
        None,
        f"Error while reading resource variable {variable.name} from Container: "
        f"{variable.container}. This could mean that the variable was uninitialized. "
        f"Not found: {_does_not_exist(variable)}",
    )


def uninitialized_resource(variable: Variable) -> errors.NotFoundError:
    """The error of updating a resource variable before its first assignment."""
    return errors.NotFoundError(None, None, _does_not_exist(variable))


def uninitialized(
    variable: Variable, is_resource: bool
) -> errors.NotFoundError | errors.FailedPreconditionError:
    """The error of updating a variable of either kind before its first assignment."""
    if is_resource:
        return uninitialized_resource(variable)
    return uninitialized_reference(variable)


def _does_not_exist(variable: Variable) -> str:
    return f"Resource {variable.container}/{variable.name}/Variable does not exist."


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a NumPy or torch value."""
    return tuple(value.shape)


def format_shape(shape: tuple[int, ...]) -> str:
    """A shape as TensorFlow's run-time errors print it: `[2,3]`."""
    return "[" + ",".join(str(d) for d in shape) + "]"


def is_host(value: Any) -> bool:
    """True for a NumPy value, False for a torch tensor."""
    return isinstance(value, _HOST_TYPES)


def to_host(value: Any) -> Any:
    """The value as NumPy; shares memory with a CPU tensor; rank 0 is a scalar."""
    if not isinstance(value, np.ndarray):
        if isinstance(value, np.generic):
            return value
        value = _tensor_to_numpy(value)
    return value if value.ndim or value.dtype == object else value[()]


def held_array(value: Any) -> Any:
    """What a variable holds, as NumPy: `to_host`, with one array for all readers.

    The array over a tensor's memory is made once and stays with the tensor: making it
    costs as much as gathering some dozen rows. `exclusive` sees who holds the array.
    """
    if isinstance(value, _HOST_TYPES):
        return to_host(value)
    array = getattr(value, "held_array", None)
    if array is None:
        array = to_host(value)
        # Not a scalar, and not a copy from a device.
        if np.ndim(array) and array.ctypes.data == value.data_ptr():
            value.held_array = array
    return array


def ready_to_slice(value: Any, parts: int) -> Any:
    """The value in the memory where taking it apart into so many slices costs less.

    For small ones that is host memory: NumPy makes a view in a tenth of torch's time,
    and what reads a small value mostly is a host kernel.
    """
    if (
        not isinstance(value, _HOST_TYPES)
        and value.device.type == "cpu"
        and value.numel() <= _SMALL_SLICE * parts
    ):
        return to_host(value)
    return value


def _tensor_to_numpy(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError):  # on a device, or of another kind
        import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes

        bits: np.ndarray[Any, Any] = tensor.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    array: np.ndarray[Any, Any] = tensor.numpy()
    return array


def tensors_for(c: OpKernelConstruction) -> Callable[[Any], torch.Tensor]:
    """What makes tensors on a node's device of values in either memory."""
    device = c.torch_device if c.device_type != "CPU" else None
    return lambda value: to_tensor(value, device)


def to_tensor(value: Any, device: Any = None, copy: bool = False) -> torch.Tensor:
    """The value as a torch tensor on `device` (None: the CPU, or where it is).

    With `copy` the tensor has memory of its own; without it may share the value's.
    """
    if not isinstance(value, _HOST_TYPES):
        tensor: torch.Tensor = value if device is None else value.to(device)
        return tensor.clone() if copy else tensor
    import torch

    array = np.asarray(value)
    if copy or not array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")
    # Native dtypes first: to ask for a dtype's name takes microseconds.
    if array.dtype.kind == "V" and array.dtype.name == "bfloat16":
        tensor = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    else:
        try:
            tensor = torch.from_numpy(array)
        except ValueError:  # the stride of an axis of one element may be negative
            tensor = torch.from_numpy(array.copy())
    return tensor if device is None else tensor.to(device)


def replace_value(variable: Variable, array: Any) -> None:
    """Gives a variable a new array that nobody else holds, as what it held before."""
    if is_host(variable.value):
        variable.value = array
    else:
        variable.value = to_tensor(array)


def owned_array(value: Any) -> Any:
    """A NumPy value in memory that nobody else holds: what was fed may change later."""
    return value.copy() if isinstance(value, np.ndarray) else value


def owned_tensor(value: Any, device: Any) -> torch.Tensor:
    """The value as a dense tensor whose memory torch allocated.

    Memory that NumPy owns (a feed, a constant) cannot be watched for other holders, so
    it is copied here; what was read from a checkpoint is taken over.
    """
    if is_host(value):
        claimed = restored_memory.claim_array(value)
        if claimed is not None:
            return claimed if device is None else claimed.to(device)
        return to_tensor(value, device, copy=True)
    tensor: torch.Tensor = value if device is None else value.to(device)
    if not tensor.is_contiguous():
        return tensor.contiguous()
    # Storage over foreign memory cannot be resized: torch.from_numpy, DLPack.
    if tensor.untyped_storage().resizable():
        return tensor
    claimed = restored_memory.claim_tensor(tensor)
    return tensor.clone() if claimed is None else claimed


def tensor_later(value: Any) -> Callable[[], torch.Tensor] | None:
    """What makes the tensor of an array that was read from a checkpoint without torch.

    None for any other value. The tensor is on the memory of the array if nobody else
    holds that when it is made.
    """
    if not isinstance(value, np.ndarray) or not restored_memory.take(value):
        return None
    held = [value]

    def make() -> torch.Tensor:
        array = held.pop()
        is_shared = _references(array) > _OWN_REFERENCES or (
            # The array itself holds its memory, too.
            _references(array.base) > _OWN_REFERENCES
        )
        return to_tensor(array, copy=is_shared)

    return make


# torch's count once it is needed: to find a module in a function costs as much as that.
_storage_uses: Callable[[int], int] | None = None


def _load() -> Callable[[int], int]:
    global _storage_uses
    import torch

    _storage_uses = torch._C._storage_Use_Count
    return _storage_uses


def exclusive(variable: Variable, owner: Variable | None = None) -> torch.Tensor:
    """Takes the tensor out of a variable, to be changed in place.

    The caller puts it back, `variable.value = tensor`, whatever happens; until then
    readers wait (`Variable.value_between_updates`). To be called under the lock of
    `owner` (the variable itself when None), with a value that is a tensor and not None.
    The caller must not have another reference to the value.
    """
    variable.guard = (owner or variable).lock
    if type(variable.value) is np.ndarray:  # of a step that ran while torch was loaded
        variable.value = to_tensor(variable.value, copy=True)
    tensor: torch.Tensor = variable.value
    variable.value = None
    if _references(tensor) <= _OWN_REFERENCES:
        array = getattr(tensor, "held_array", None)
        storage = tensor.untyped_storage()
        uses = (_storage_uses or _load())(storage._cdata)
        is_lent = lendable_memory.used and lendable_memory.is_lent(storage.data_ptr())
        if array is not None and _references(array) <= _OWN_ARRAY_REFERENCES:
            uses -= 1
        if uses <= _OWN_STORAGE_USES and not is_lent:
            return tensor
    try:
        return _copied(tensor)
    except BaseException:
        variable.value = tensor
        raise


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    """A copy; in memory that can be lent if the tensor is in such memory."""
    if lendable_memory.holds(tensor.untyped_storage().data_ptr()):
        copy = _lendable_copy(tensor)
        if copy is not None:
            return copy
    return tensor.clone()


def _lendable_copy(tensor: torch.Tensor) -> torch.Tensor | None:
    import torch

    memory = lendable_memory.allocate(tensor.nbytes)
    if memory is None:
        return None
    copy = torch.from_numpy(memory).view(tensor.dtype).view(tensor.shape)
    return copy.copy_(tensor)


def lendable(value: Any, variable: Variable) -> Any:
    """The value of a variable as it is sent to another task: where it can be lent.

    A large value in other memory is copied once, and the variable keeps the copy: as
    long as it is updated in place it is then sent without another.

    Args:
      value: what was read from the variable.
      variable: which may have another value by now.
    """
    if is_host(value) or value.nbytes < lendable_memory.LEAST or not value.is_cpu:
        return value
    if lendable_memory.holds(value.untyped_storage().data_ptr()):
        return value
    copy = _lendable_copy(value)
    if copy is None:
        return value
    # Who updates a slot has another lock. But such an update takes the value out
    # first, and puts a new one in at its end, whatever it finds.
    with variable.lock:
        if variable.value is value:
            variable.value = copy
    return copy
