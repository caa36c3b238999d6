"""A value of eager execution: a tensor, a resource or a variant on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.eager.remote_device import RemoteDevice
from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.dtypes import memory_view
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.worker.run import runtime

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.types.dtypes import DType

_HOST_TYPES = (np.ndarray, np.generic)


class TensorHandle:
    """One value, which never changes.

    It is where its op left it: in host memory or a tensor of its device. The other form
    is made when a kernel first asks for it, and kept.
    """

    __slots__ = ("__weakref__", "_other", "device", "dtype", "is_host", "value")

    def __init__(
        self, value: Any, dtype: DType, device: Device, is_host: bool = True
    ) -> None:
        """Makes a handle.

        Args:
          value: NumPy's (a scalar for numbers of rank 0), the object of a resource or
            variant, or a torch tensor of `device`. Nobody may change it.
          dtype: of the value, not a reference.
          device: whose op made it.
          is_host: whether the value is none of torch's.
        """
        self.value = value
        self.dtype = dtype
        self.device = device
        self.is_host = is_host
        self._other: Any = None

    @staticmethod
    def of_array(array: Any, dtype: DType, device: Device) -> TensorHandle:
        """A handle of a NumPy array that nobody will change."""
        array = memory_view(np.asarray(array))
        if array.ndim == 0 and array.dtype != object:
            array = array[()]
        return TensorHandle(array, dtype, device)

    def host(self) -> Any:
        """The value in host memory, as host kernels take it."""
        if self.is_host:
            return self.value
        if self._other is None:
            self._other = runtime.received_host(self.value)
        return self._other

    def tensor(self) -> Any:
        """The value as a torch tensor of the handle's device."""
        if not self.is_host:
            return self.value
        if self._other is None:
            self._other = self.device.from_host(self.value)
        return self._other

    @property
    def dims(self) -> tuple[int, ...]:
        """The sizes. A handle of a resource, and a variant, are scalars."""
        if not is_torch_type(self.dtype) and not isinstance(self.value, _HOST_TYPES):
            return ()
        return tuple(self.value.shape)

    @property
    def shape(self) -> TensorShape:
        """The static shape, which is always known."""
        return TensorShape.of(self.dims)

    @property
    def num_elements(self) -> int:
        """How many elements it has."""
        count = 1
        for size in self.dims:
            count *= size
        return count

    @property
    def device_name(self) -> str:
        """The full name of the device whose op made it."""
        return self.device.name

    @property
    def backing_device_name(self) -> str:
        """The full name of the device in whose memory it is: a CPU's for strings."""
        if is_torch_type(self.dtype) or self.device.device_type == "CPU":
            return self.device.name
        task = self.device.name.rpartition("/device:")[0]
        return f"{task}/device:CPU:0"

    def array(self) -> Any:
        """The value as NumPy's, which others may hold: for reading only.

        A scalar string is a rank-0 array of one `bytes`; a quantized dtype's values are
        the integers that they are in memory.

        Raises:
          errors.InvalidArgumentError: it is a resource or a variant.
        """
        if self.dtype.name in ("resource", "variant"):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot convert a Tensor of dtype {self.dtype.name} to a NumPy array.",
            )
        value = self.host()
        if isinstance(value, bytes):
            return np.array(value, dtype=object)
        return np.asarray(value)

    def numpy(self) -> Any:
        """A copy as a NumPy array; a scalar as NumPy's, a scalar string as `bytes`.

        Raises:
          errors.InvalidArgumentError: it is a resource or a variant.
        """
        array = self.array()
        return array.copy() if array.ndim else array[()]

    def copy_to_device(self, device: Device) -> TensorHandle:
        """The value as a handle of another device; itself on its own.

        What lives in host memory on any device, as strings do, is not copied.
        """
        if device.name == self.device.name:
            return self
        if isinstance(device, RemoteDevice):
            return device.keep(self)
        if self.is_host:
            return TensorHandle(self.value, self.dtype, device)
        value = self.value
        if device.torch_device is None:
            value = self.device.leave(value)
        value = runtime.received_tensor(value, device)
        return TensorHandle(value, self.dtype, device, is_host=False)

    def shared(self) -> TensorHandle:
        """Another handle of the same value."""
        return TensorHandle(self.value, self.dtype, self.device, self.is_host)

    def __repr__(self) -> str:
        shape = ",".join(map(str, self.dims))
        return f"<TensorHandle {self.dtype.name}[{shape}] on {self.device.name}>"
