"""Values that are in the memory of another task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.eager.remote_device import RemoteDevice
from tensorloom.eager.tensor_handle import TensorHandle
from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.eager.cluster import Cluster
    from tensorloom.framework.graph.graph_ir import Edge
    from tensorloom.framework.types.dtypes import DType


class RemoteTensor:
    """A tensor that another task keeps; it drops it when this object goes."""

    def __init__(
        self, cluster: Cluster, device: Device, key: bytes, dims: tuple[int, ...]
    ) -> None:
        self.cluster = cluster
        self.device = device
        self.key = key  # of the session's store on the device's task
        self.dims = dims

    def __del__(self) -> None:
        self.cluster.dead_tensors.append((self.key, self.device))


@dataclass(frozen=True)
class RemoteResource:
    """A resource of another task: the output of the node that looks it up by name."""

    edge: Edge
    dims: tuple[int, ...] = ()


class RemoteHandle(TensorHandle):
    """A handle of a value on a device of another task."""

    __slots__ = ()

    def __init__(
        self, value: RemoteTensor | RemoteResource, dtype: DType, device: Device
    ) -> None:
        super().__init__(value, dtype, device, is_host=False)

    def host(self) -> Any:
        """A copy in host memory here, made once.

        Raises:
          errors.OpError: the task cannot be reached.
        """
        if self._other is None:
            if isinstance(self.value, RemoteResource):
                raise invalid_argument(f"A resource cannot leave {self.device.name}")
            self._other = self.value.cluster.fetched(self.value, self.dtype)
        return self._other

    def tensor(self) -> Any:
        """A copy as a torch tensor of a CPU here."""
        return self.copy_to_device(self.value.cluster.cpu).tensor()

    @property
    def dims(self) -> tuple[int, ...]:
        """The sizes."""
        dims: tuple[int, ...] = self.value.dims
        return dims

    def copy_to_device(self, device: Device) -> TensorHandle:
        """The value as a handle of another device; between other tasks directly."""
        if device.name == self.device.name:
            return self
        if isinstance(device, RemoteDevice):
            return device.keep(self)
        return TensorHandle(self.host(), self.dtype, device)

    def shared(self) -> TensorHandle:
        """Another handle of the same value."""
        return RemoteHandle(self.value, self.dtype, self.device)
