"""Memory of tensors that a checkpoint is read into, which variables take over.

A variable copies what it is given in NumPy's memory, since it cannot see who else holds
that. What is read from a checkpoint was made for it: such an array lies in memory that
torch owns, and the variable takes it as it is. The array holds the tensor of that
memory, so it is seen like any other holder (`variable_value.exclusive`). This module
loads without torch.

Where torch is not loaded a checkpoint is restored without it: a variable takes such an
array (`take`), and makes a tensor of it when somebody asks for its value.

Large blocks are kept when a variable lets go of them, for the next checkpoint that is
read: fresh memory costs as much as the reading. The operating system takes kept ones
back when memory is short (MADV_FREE).
"""

from __future__ import annotations

import math
import mmap
import sys
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.runtime import huge_pages
from tensorloom.framework.types.dtypes import memory_dtype

if TYPE_CHECKING:
    import torch

    from tensorloom.framework.types.dtypes import DType

# Bytes. Smaller arrays are copied: that costs no more than the handing over.
_LEAST: Final = 1 << 18
# malloc keeps the smaller ones itself, see `devices/host_allocator.py`.
_LEAST_BLOCK: Final = 1 << 25
_MOST_KEPT: Final = 1 << 29
_HUGE_PAGE: Final = 1 << 21

# By address: an array that nobody has claimed, and the tensor whose memory it is on.
_unclaimed: dict[int, tuple[weakref.ref[Any], torch.Tensor]] = {}
# The same of memory that was made without torch, which the array has as its base.
_untaken: dict[int, weakref.ref[Any]] = {}
_kept: deque[mmap.mmap] = deque()


def empty(shape: tuple[int, ...], dtype: DType) -> Any:
    """An array with any contents, which a variable may claim if it is large.

    It must not be handed to the user of a session, who may change it.
    """
    numpy_dtype = memory_dtype(dtype)
    size = math.prod(shape) * numpy_dtype.itemsize
    if size < _LEAST or numpy_dtype.hasobject:
        return np.empty(shape, numpy_dtype)
    if "torch" not in sys.modules:
        return _empty_without_torch(size).view(numpy_dtype).reshape(shape)
    memory = _memory(size)
    flat = memory.numpy()
    address = memory.data_ptr()
    # All views of it, the result too, hold it.
    gone = weakref.ref(flat, lambda _: _unclaimed.pop(address, None))
    _unclaimed[address] = gone, memory
    return flat.view(numpy_dtype).reshape(shape)


def _empty_without_torch(size: int) -> Any:
    owner = _block(size) if _is_block(size) else np.empty(size, np.uint8)
    address = owner.ctypes.data
    _untaken[address] = weakref.ref(owner, lambda _: _untaken.pop(address, None))
    return owner


def take(array: Any) -> bool:
    """Whether an array of `empty` was made without torch, and nobody has taken it.

    It is the caller's then. Views of it may be held by others: all are views of its
    base, too.
    """
    if not _untaken or not array.flags.c_contiguous:
        return False
    address = array.ctypes.data
    found = _untaken.get(address)
    owner = None if found is None else found()
    if owner is None or array.base is not owner or array.nbytes != owner.nbytes:
        return False
    return _untaken.pop(address, None) is not None


def claim_array(array: Any) -> torch.Tensor | None:
    """A tensor on the memory of an array of `empty`: the first time, else None."""
    if not _unclaimed or array.nbytes < _LEAST:
        return None
    memory = _claim(array.ctypes.data, array.nbytes)
    if memory is None or not array.flags.c_contiguous:
        return None
    import torch

    if array.dtype.name == "bfloat16":
        dtype = torch.bfloat16
    else:
        dtype = torch.from_numpy(np.empty(0, array.dtype)).dtype
    return memory.view(dtype).view(array.shape)


def claim_tensor(tensor: torch.Tensor) -> torch.Tensor | None:
    """As `claim_array`, where the array has become a contiguous tensor."""
    if not _unclaimed or tensor.nbytes < _LEAST:
        return None
    memory = _claim(tensor.data_ptr(), tensor.nbytes)
    return None if memory is None else memory.view(tensor.dtype).view(tensor.shape)


def _claim(address: int, size: int) -> torch.Tensor | None:
    found = _unclaimed.get(address)
    if found is None or found[1].nbytes != size:
        return None
    # Of two variables that are given the same value one gets it, the other a copy.
    found = _unclaimed.pop(address, None)
    return None if found is None else found[1]


def _memory(size: int) -> torch.Tensor:
    """Bytes that torch owns."""
    import torch

    if not _is_block(size):
        return torch.empty(size, dtype=torch.uint8)
    return torch.from_numpy(_block(size))


def _is_block(size: int) -> bool:
    """Whether bytes are worth a block of their own."""
    return size >= _LEAST_BLOCK and sys.platform.startswith("linux")


def _block(size: int) -> Any:
    """Bytes at the first huge page of a block; it is kept when they are dropped."""
    length = -(-size // _HUGE_PAGE) * _HUGE_PAGE
    block = _take(length) or _new_block(length)
    address = np.frombuffer(block, np.uint8, 0).ctypes.data
    start = -address % _HUGE_PAGE
    owner = np.frombuffer(block, np.uint8, size, start)
    weakref.finalize(owner, _keep, block).atexit = False
    return owner


def _new_block(length: int) -> mmap.mmap:
    """Memory with a whole number of huge pages in it."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    block = mmap.mmap(-1, length + _HUGE_PAGE, flags=flags)
    huge_pages.ask_for(block, length)
    return block


def _take(length: int) -> mmap.mmap | None:
    """A kept block of that length. Threads may call this at the same time."""
    for _ in range(len(_kept)):
        try:
            block = _kept.popleft()
        except IndexError:
            break
        if len(block) == length + _HUGE_PAGE:
            return block
        _kept.append(block)
    return None


def _keep(block: mmap.mmap) -> None:
    """Keeps a block that nobody uses; unmapped, when there are enough."""
    # Called wherever a value is dropped, in a garbage collection too: no locks here.
    if sum(len(other) - _HUGE_PAGE for other in [*_kept, block]) <= _MOST_KEPT:
        block.madvise(mmap.MADV_FREE)
        _kept.append(block)


def give_back() -> None:
    """Unmaps all kept blocks: for a process that will read no checkpoint soon."""
    _kept.clear()
