"""A device that torch takes for another than the CPU, made of plain memory.

It holds what CUDA holds programs to, and tells where one breaks a rule:

- An op gets tensors of one device. Only one of rank 0 may come from the CPU.
- A tensor has no NumPy view: its values come by a copy to the CPU.
- A copy that need not be waited for (`non_blocking`) is not done when it returns, but
  when its stream gets there: with the next op of that stream, or when somebody waits.
  Until then the target holds other values.
- There are no products and convolutions of integers.

Ops compute as on the CPU, so results are the CPU's.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils import backend_registration

NAME = "pretended"

# Who had to wait for the device, and how often: (op of torch's, place in our code).
waits: Counter[tuple[str, str]] = Counter()

_WAITING = frozenset(
    {
        *("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero"),
        *("_unique2", "unique_dim", "unique_consecutive"),
    }
)
_COPIES = frozenset({"copy_", "_to_copy", "_copy_from"})
_PRODUCTS = frozenset(
    {
        *("mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "addbmm"),
        *("convolution", "convolution_backward"),
    }
)
_OF_THE_CPU = ("mkldnn", "_mkl", "quantized")


class Tensor(torch.Tensor):
    """A tensor of the pretended device: its values are in `inner`, of the CPU."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor, index: int) -> Tensor:
        """Pretends that the memory of `inner` is of device number `index`."""
        inner = inner.resolve_conj().resolve_neg()
        with torch.inference_mode(inner.is_inference()):
            made = torch.Tensor._make_wrapper_subclass(
                cls,
                inner.size(),
                strides=inner.stride(),
                storage_offset=inner.storage_offset(),
                dtype=inner.dtype,
                device=torch.device(NAME, index),
            )
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    def numpy(self, *, force: bool = False) -> Any:
        """There is none, as on CUDA."""
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu()"
        )

    def tolist(self) -> Any:
        """Numbers, when the device has them."""
        return self.cpu().tolist()

    def untyped_storage(self) -> torch.UntypedStorage:
        """That of the values: views share it."""
        return self.inner.untyped_storage()

    def data_ptr(self) -> int:
        """That of the values."""
        return self.inner.data_ptr()

    def record_stream(self, stream: Any) -> None:
        """Says that another stream uses the memory, which stays for good here."""


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = func._schema.name.partition("::")[2]
    if _is_composite(func):
        # In inference mode they arrive whole.
        return func.decompose(*args, **kwargs)
    leaves, tree = pytree.tree_flatten((args, kwargs))
    places = {x.device.index for x in leaves if isinstance(x, Tensor)}
    places |= {
        x.index or 0 for x in leaves if isinstance(x, torch.device) and x.type == NAME
    }
    if name in _COPIES:
        return _copy(func, name, args, kwargs)
    index = _one_place(func, name, leaves, places)
    if name in ("empty", "empty_strided"):
        _take(index, args[0], kwargs)
    current_stream(index).catch_up()
    if name in _WAITING or (name == "index" and _has_mask(args)):
        _note_wait(name)
    inner = [_inner(x) for x in leaves]
    arguments, options = pytree.tree_unflatten(inner, tree)
    result = func(*arguments, **options)
    if kwargs.get("device") == torch.device("cpu"):
        return result
    given = {id(x.inner): x for x in leaves if isinstance(x, Tensor)}

    def outer(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        known = given.get(id(value))
        if known is None:
            return Tensor(value, index)
        if known.size() != value.size() or known.stride() != value.stride():
            raise NotImplementedError(f"{func} changes a shape in place")
        return known

    return pytree.tree_map(outer, result)


def _take(index: int, sizes: Any, options: dict[str, Any]) -> None:
    """Raises torch.OutOfMemoryError for a tensor larger than the device's share."""
    item = (options.get("dtype") or torch.float32).itemsize
    share = int(Module.total * Module.shares.get(index, 1.0))
    if math.prod(sizes) * item > share:
        raise torch.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {math.prod(sizes) * item} bytes. "
            f"GPU {index} has a total capacity of {Module.total} bytes."
        )


def _note_wait(name: str) -> None:
    if _forbidden:
        raise RuntimeError(f"called a synchronizing CUDA operation: {name}")
    frame = sys._getframe(1)
    while frame.f_back is not None:
        path = frame.f_code.co_filename
        if path.startswith("<piece") or "/tensorloom/" in path:
            where = path.rpartition("/tensorloom/")[2]
            waits[name, f"{where}:{frame.f_code.co_name}"] += 1
            return
        frame = frame.f_back
    waits[name, ""] += 1


_forbidden: list[bool] = []


def forbid_waits(are_forbidden: bool) -> None:
    """Whether waiting is an error, as after `torch.cuda.set_sync_debug_mode`."""
    _forbidden[:] = [True] if are_forbidden else []


@functools.cache
def _is_composite(func: Any) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return bool(has(func.name(), "CompositeImplicitAutograd"))


def _inner(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.inner
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value


def _has_mask(args: Any) -> bool:
    return any(x is not None and x.dtype is torch.bool for x in args[1])


def _one_place(func: Any, name: str, leaves: list[Any], places: set[int]) -> int:
    """The number of the device that an op's arguments are on.

    Raises:
      RuntimeError: they are on several, or CUDA does not have the op for them.
    """
    plain = [x for x in leaves if type(x) is torch.Tensor and x.dim() > 0]
    # As CUDA's: places in the CPU's memory are copied first.
    if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
        plain = [x for x in plain if x.dtype not in (torch.int64, torch.bool)]
    if plain or len(places) != 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but "
            f"{func} got them on {NAME}:{sorted(places)}"
            + (" and the CPU" if plain else "")
        )
    if any(word in func._schema.name for word in _OF_THE_CPU):
        raise NotImplementedError(f"{func} is of the CPU alone")
    first = next((x for x in leaves if isinstance(x, Tensor)), None)
    if name in _PRODUCTS and first is not None:
        dtype = first.dtype
        if not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(f'"{name}_cuda" not implemented for {dtype}')
    return places.pop()


def _copy(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Copies between devices, and on one."""
    if name == "_to_copy":
        source = args[0]
        options = dict(kwargs)
        later = options.pop("non_blocking", False)
        place = options.pop("device", None)
        place = source.device if place is None else torch.device(place)
        options.pop("pin_memory", None)
        like = source.inner if isinstance(source, Tensor) else source
        target = torch.empty_like(
            like,
            dtype=options.get("dtype"),
            memory_format=options.get("memory_format") or torch.preserve_format,
        )
        result = target if place.type == "cpu" else Tensor(target, place.index or 0)
        _fill(result, source, later)
        return result
    if name == "_copy_from":
        source, result = args[:2]
        later = bool(args[2]) if len(args) > 2 else kwargs.get("non_blocking", False)
    else:
        result, source = args[:2]
        later = bool(args[2]) if len(args) > 2 else kwargs.get("non_blocking", False)
    _fill(result, source, later)
    return result


def _fill(target: Any, source: Any, later: bool) -> None:
    """Copies values, now or when the stream gets there."""
    ends = [x for x in (source, target) if isinstance(x, Tensor)]
    stream = current_stream(ends[0].device.index)
    leaves_device = isinstance(source, Tensor) and not isinstance(target, Tensor)
    to, of = _inner(target), _inner(source)
    if len(ends) == 2:
        for one in ends:
            current_stream(one.device.index).catch_up()
        to.copy_(of)
    elif later:
        if not (leaves_device or _is_pinned(of)):
            of = of.clone()  # the driver takes pageable memory along at once
        to.fill_(77)
        stream.later(lambda: to.copy_(of))
    else:
        stream.catch_up()
        if leaves_device:
            _note_wait("copy to the CPU")
        to.copy_(of)


_pinned: set[int] = set()


def pinned_like(tensor: torch.Tensor) -> torch.Tensor:
    """Memory of the CPU from which, and to which, copies need not be waited for."""
    made = torch.empty_like(tensor, device="cpu")
    _pinned.add(made.untyped_storage().data_ptr())
    return made


def _is_pinned(tensor: torch.Tensor) -> bool:
    return tensor.untyped_storage().data_ptr() in _pinned


# --- streams ----------------------------------------------------------------------


class Stream:
    """Copies in order; those that nobody waited for are still to be done."""

    def __init__(self, device: Any = None) -> None:
        self.device = torch.device(NAME, _index(device))
        self._lock = threading.RLock()
        self._to_do: list[Callable[[], Any]] = []

    def later(self, work: Callable[[], Any]) -> None:
        """Work for when somebody waits."""
        with self._lock:
            self._to_do.append(work)

    def catch_up(self) -> None:
        """Does all that is to be done."""
        with self._lock:
            work, self._to_do = self._to_do, []
            for one in work:
                one()

    synchronize = catch_up

    def wait_event(self, event: Event) -> None:
        """What comes now comes after what the event stands for."""
        self.later(event.synchronize)

    def wait_stream(self, stream: Stream) -> None:
        """What comes now comes after what is in the other stream."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """An event for all that is in the stream now."""
        event = event or Event()
        event.record(self)
        return event


class Event:
    """A place in a stream."""

    def __init__(self, enable_timing: bool = False) -> None:
        self._stream: Stream | None = None

    def record(self, stream: Stream | None = None) -> None:
        """The place where the stream is now."""
        self._stream = stream or current_stream()

    def synchronize(self) -> None:
        """Waits until the stream is there (and, here, further)."""
        if self._stream is not None:
            self._stream.catch_up()

    def query(self) -> bool:
        """Whether the stream is there."""
        return self._stream is None or not self._stream._to_do


_default_streams: dict[int, Stream] = {}
_local = threading.local()


def _index(device: Any) -> int:
    if device is None:
        return 0
    return device if isinstance(device, int) else torch.device(device).index or 0


def current_stream(device: Any = None) -> Stream:
    """The stream of this thread on a device, the default one if it chose none."""
    index = _index(device)
    chosen: dict[int, Stream] = getattr(_local, "streams", {})
    if index not in chosen:
        return _default_streams.setdefault(index, Stream(index))
    return chosen[index]


@contextlib.contextmanager
def stream(one: Stream) -> Iterator[None]:
    """What the thread does in the block goes into that stream."""
    before = dict(getattr(_local, "streams", {}))
    _local.streams = {**before, one.device.index: one}
    try:
        yield
    finally:
        _local.streams = before


# --- the module `torch.pretended` -------------------------------------------------


class Module:
    """What `torch.cuda` is to CUDA."""

    Stream, Event = Stream, Event
    current_stream = staticmethod(current_stream)
    stream = staticmethod(stream)
    shares: dict[int, float] = {}  # noqa: RUF012
    total = 1 << 30

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Waits for the default stream."""
        current_stream(device).catch_up()

    def set_per_process_memory_fraction(self, share: float, device: Any = None) -> None:
        """What the process may have of the device."""
        self.shares[_index(device)] = share

    def get_per_process_memory_fraction(self, device: Any = None) -> float:
        """What the process may have of the device."""
        return self.shares.get(_index(device), 1.0)

    def get_device_properties(self, device: Any = None) -> Any:
        """Name and size."""
        return type("Properties", (), {"total_memory": self.total, "name": NAME})

    def memory_allocated(self, device: Any = None) -> int:
        """Bytes in tensors: not counted here."""
        return 0

    max_memory_allocated = memory_allocated

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        pass

    def device_count(self) -> int:
        return 2


class _Guard(torch._C._acc.DeviceGuard):  # type: ignore[misc]
    def type_(self) -> Any:
        return torch._C._autograd.DeviceType.PrivateUse1


class _Hook(torch._C._acc.PrivateUse1Hooks):  # type: ignore[misc]
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


_kept: list[Any] = []


def register() -> None:
    """Makes `torch.device("pretended")` one of this process's devices, for good."""
    if _kept:
        return
    module, hook, guard = Module(), _Hook(), _Guard()
    library = torch.library.Library("aten", "IMPL")
    _kept.extend([module, hook, guard, library])
    backend_registration._setup_privateuseone_for_python_backend(
        NAME, module, hook, guard
    )
    for name in _FACTORIES:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        library.impl(
            name,
            lambda *args, _op=op, **kwargs: _run(_op, args, kwargs),
            "PrivateUse1",
        )


# Ops that CUDA has kernels for and that get no tensor of it, so that torch does not
# come to `Tensor` by itself; and the one inside `torch.tensor`.
_FACTORIES = (
    *("empty.memory_format", "empty_strided", "_copy_from"),
    *("arange", "arange.start", "arange.start_step", "linspace", "eye", "eye.m"),
    *("randperm", "randperm.generator", "tril_indices", "triu_indices"),
)
