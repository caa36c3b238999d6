"""What generated source calls beside kernels: reads, fetches, truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.devices.device import LeavingTensor
from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types.dtypes import memory_view
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.torch.state.variable_value import held_array, lendable
from tensorloom.worker.compile.reference_reads import HeldRead

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable


def host_constant(array: Any) -> Any:
    """A constant as kernels get it: read-only, a NumPy scalar for numbers of rank 0."""
    array = memory_view(array)
    if array.ndim == 0 and array.dtype != object:
        return array[()]
    array.flags.writeable = False
    return array


def scalar_or_array(value: Any) -> Any:
    """A host value as a session returns it: rank 0 as a scalar, or bytes."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    return value


def copied(value: Any) -> Any:
    """A host value that nobody else holds."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value[()]
    return value


def fetch_tensor(tensor: Any, to_host: Callable[[Any], Any]) -> Any:
    """A tensor of the step alone as a dense NumPy value, without a copy if possible."""
    return to_host(tensor.contiguous())


def fetch_shared(tensor: Any, to_host: Callable[[Any], Any]) -> Any:
    """A tensor whose memory others hold, copied once."""
    value = to_host(tensor)
    return value.copy() if isinstance(value, np.ndarray) else value


def uninitialized(variable: Variable) -> errors.FailedPreconditionError:
    """The error of reading a reference variable before it was assigned."""
    return errors.FailedPreconditionError(
        None, None, f"Attempting to use uninitialized value {variable.name}"
    )


def initialized(variable: Variable) -> Variable:
    """The variable behind a reference edge, which must have a value."""
    if variable.value is None and variable.value_between_updates() is None:
        raise uninitialized(variable)
    return variable


def held_read(variable: Variable) -> HeldRead:
    """The buffer behind a reference edge, in a piece that may replace it."""
    value = variable.value_between_updates()
    if value is None:
        raise uninitialized(variable)
    return HeldRead(variable, value)


def read_host(variable: Variable) -> Any:
    """The value behind a reference edge, as NumPy; of a queue or table its names."""
    try:
        value = variable.value
    except AttributeError:
        return variable.names()
    if value is None and (value := variable.value_between_updates()) is None:
        raise uninitialized(variable)
    return value if isinstance(value, _HOST_TYPES) else held_array(value)


def read_tensor(variable: Variable, from_host: Callable[[Any], Any]) -> Any:
    """The value behind a reference edge, as a tensor."""
    value = variable.value
    if value is None and (value := variable.value_between_updates()) is None:
        raise uninitialized(variable)
    if isinstance(value, np.ndarray | np.generic):
        return from_host(value)
    return value


_HOST_TYPES: Final = (np.ndarray, np.generic, Resource)
# From `devices/tensor_memory.py` once a tensor is there: that module imports torch.
_array_from_tensor: Callable[[Any], Any] | None = None


def _load() -> Callable[[Any], Any]:
    global _array_from_tensor
    from tensorloom.devices import tensor_memory

    _array_from_tensor = tensor_memory.array_from_tensor
    return _array_from_tensor


def received_host(value: Any) -> Any:
    """What another piece sent, as NumPy; a resource as it is."""
    if isinstance(value, _HOST_TYPES):
        return value
    if isinstance(value, LeavingTensor):
        return value.array()
    if not hasattr(value, "cpu"):
        return value
    return (_array_from_tensor or _load())(value)


def received_tensor(value: Any, device: Any) -> Any:
    """What another piece sent, as a tensor of this device."""
    if isinstance(value, LeavingTensor):
        value = value.array()
    if isinstance(value, np.ndarray | np.generic):
        return device.from_host(value)
    return device.receive(value)


def predicate(value: Any) -> bool:
    """What a Switch makes of a condition that may be no bool scalar.

    Raises:
      InvalidArgumentError: it is not a scalar.
    """
    if value.ndim:
        raise errors.InvalidArgumentError(
            None,
            None,
            "The second input must be a scalar, but it has shape "
            f"{shape_text(value.shape)}",
        )
    return truth(value)


def truth(value: Any) -> bool:
    """What `If` and `While` make of a condition that is not a bool scalar.

    A number is true unless zero, a string unless empty, a tensor of higher rank unless
    it has no elements.
    """
    if value.ndim:
        return int(np.prod(value.shape)) > 0
    return bool(value.item() if hasattr(value, "item") else value)


def branch_index(value: Any) -> Any:
    """The index of a `Case` whose shape was not known when it was compiled.

    Raises:
      InvalidArgumentError: it is not a scalar.
    """
    if value.shape != ():
        raise errors.InvalidArgumentError(None, None, "branch_index must be scalar")
    return value


NAMES: dict[str, Any] = {
    "branch_index": branch_index,
    "scalar_or_array": scalar_or_array,
    "copied": copied,
    "fetch_tensor": fetch_tensor,
    "fetch_shared": fetch_shared,
    "initialized": initialized,
    "held_read": held_read,
    "read_host": read_host,
    "read_tensor": read_tensor,
    "lendable": lendable,
    "received_host": received_host,
    "received_tensor": received_tensor,
    "predicate": predicate,
    "truth": truth,
    "clock": time.perf_counter_ns,
}
