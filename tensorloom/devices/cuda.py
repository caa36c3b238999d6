"""The GPU device: CUDA memory through torch.

Kernels of a device run in its default stream, in the order of the calls, whichever
thread calls. Copies of more than a little run beside them in streams of their own and
use page-locked host memory: what is fed can come while the kernels of the step before
still run, and what another device waits for can go while later kernels run.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.devices import cuda_driver
from tensorloom.devices.device import Device, LeavingTensor, register_device_kind
from tensorloom.framework import errors

if TYPE_CHECKING:
    import torch

# Smaller values go with the call: page-locked memory and events would cost more.
LEAST_STAGED: Final = 64 * 1024  # bytes

# Devices whose share of memory was set: by the first session, for the whole process.
_shares: dict[int, float] = {}
_shares_lock = threading.Lock()


class CudaDevice(Device):
    """One CUDA device. Memory is taken as it is needed."""

    device_type = "GPU"
    kernel_type = "GPU"
    #: What torch calls the kind of device.
    torch_type = "cuda"

    def __init__(
        self,
        task: str,
        index: int,
        cuda_index: int,
        memory: int,
        share: float = 0.0,
        description: str = "",
    ) -> None:
        """A device of `memory` bytes, of which the process may have a share.

        Args:
          share: up to 1; 0 is no limit.
        """
        super().__init__(task, index, int(memory * share) if share else memory)
        self.cuda_index = cuda_index
        self.physical_description = f"device: {cuda_index}{description}"
        self._share = share
        self._streams: _Streams | None = None
        self._lock = threading.Lock()

    @property
    def torch_device(self) -> torch.device | None:
        """`cuda:N`. Who asks is about to use the device."""
        return (self._streams or self._prepare()).place

    def from_host(self, value: Any) -> torch.Tensor:
        """Copies without waiting for the device; the value may be changed afterwards.

        A large one is first written into page-locked memory, from where the device
        fetches it in a stream of its own.
        """
        from tensorloom.devices import tensor_memory

        tensor = tensor_memory.tensor_from_array(value)
        streams = self._streams or self._prepare()
        if tensor.nbytes < LEAST_STAGED:
            # CUDA takes the bytes of pageable memory along with the call.
            return tensor.to(streams.place, non_blocking=True)
        staged = self._page_locked(tensor).copy_(tensor)
        with streams.module.stream(streams.incoming):
            arrived = staged.to(streams.place, non_blocking=True)
            event = streams.incoming.record_event()
        current = streams.module.current_stream(streams.place)
        current.wait_event(event)
        # Its memory is of the other stream: not to be reused before kernels are done.
        arrived.record_stream(current)
        return arrived

    def to_host(self, tensor: torch.Tensor) -> Any:
        """Copies; waits for the kernels that produce the tensor."""
        return self.leave(tensor).array()

    def leave(self, tensor: torch.Tensor) -> LeavingTensor:
        """Starts a copy to host memory, behind the kernels that produce the tensor."""
        streams = self._streams or self._prepare()
        if tensor.nbytes < LEAST_STAGED:
            return _InHost(tensor.detach().cpu())
        # Dense there, so dense here: gaps are not worth their copies.
        source = tensor.detach().resolve_conj().resolve_neg().contiguous()
        target = self._page_locked(source)
        current = streams.module.current_stream(streams.place)
        streams.outgoing.wait_event(current.record_event())
        with streams.module.stream(streams.outgoing):
            target.copy_(source, non_blocking=True)
            event = streams.outgoing.record_event()
        source.record_stream(streams.outgoing)
        return _InHost(target, event)

    def receive(self, tensor: torch.Tensor) -> torch.Tensor:
        """From another GPU: its memory is read directly, where the two can do that."""
        return tensor.to(self.torch_device, non_blocking=True)

    def synchronize(self) -> None:
        """Waits for all of the device's streams."""
        streams = self._streams or self._prepare()
        streams.module.synchronize(streams.place)

    def _page_locked(self, like: torch.Tensor) -> torch.Tensor:
        """Host memory of the same shape that the device can reach by itself."""
        import torch

        return torch.empty_like(like, device="cpu", pin_memory=True)

    def _prepare(self) -> _Streams:
        """The streams; with the first use of the device its share of memory is set."""
        import torch

        with self._lock:
            if self._streams is None:
                place = torch.device(self.torch_type, self.cuda_index)
                module = torch.get_device_module(place)
                self._set_share(module, place)
                self._streams = _Streams(module, place)
            return self._streams

    def _set_share(self, module: Any, place: torch.device) -> None:
        with _shares_lock:
            if self.cuda_index in _shares:
                return
            _shares[self.cuda_index] = self._share
            if self._share:
                module.set_per_process_memory_fraction(self._share, place)


class _Streams:
    """What torch calls a device, and its streams for copies in either direction."""

    def __init__(self, module: Any, place: torch.device) -> None:
        self.module = module  # torch.cuda
        self.place = place
        self.incoming = module.Stream(place)
        self.outgoing = module.Stream(place)


class _InHost(LeavingTensor):
    """A copy in host memory, complete once its event has happened."""

    def __init__(self, tensor: torch.Tensor, event: Any = None) -> None:
        self._tensor = tensor
        self._event = event

    def array(self) -> Any:
        from tensorloom.devices import tensor_memory

        if self._event is not None:
            self._event.synchronize()
            self._event = None
        return tensor_memory.array_from_tensor(self._tensor)


def make_gpus(task: str, count: int | None, options: Mapping[str, Any]) -> list[Device]:
    """The visible CUDA devices, at most `count` of them.

    Options, as in `GPUOptions`: `visible_device_list` ("1,0": these, in this order) and
    `memory_fraction`. `allow_growth` changes nothing: memory grows in any case.

    Raises:
      errors.InvalidArgumentError: an option is no list of numbers, or no share.
    """
    found = [] if count == 0 else cuda_driver.devices()
    visible = options.get("visible_device_list") or ""
    if not all(i.isascii() and i.isdigit() for i in visible.split(",") if i) and found:
        raise errors.InvalidArgumentError(
            None, None, f"visible_device_list '{visible}' is not a list of numbers"
        )
    share = options.get("memory_fraction") or 0.0
    if found and not 0 <= share <= 1:
        raise errors.InvalidArgumentError(
            None, None, f"per_process_gpu_memory_fraction {share:g} is not in [0, 1]"
        )
    order = [int(i) for i in visible.split(",") if i.isdigit()] or list(
        range(len(found))
    )
    order = [i for i in order if i < len(found)][:count]
    return [
        CudaDevice(task, index, i, found[i].memory, share, f", {found[i].description}")
        for index, i in enumerate(order)
    ]


register_device_kind("GPU", make_gpus)
