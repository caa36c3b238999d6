"""The values' way among the processes of a group: torch.distributed's Gloo.

Every process calls the same functions in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from tensorloom.transport.collectives.store import distributed

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A dtype that NumPy has and torch calls otherwise: same bytes, same sums.
_BFLOAT16: Final = "bfloat16"


class DataRing:
    """Sums, gathers and broadcasts dense values."""

    def __init__(
        self, store: Any, rank: int, size: int, host: str, timeout_s: float
    ) -> None:
        """Connects to the others.

        Args:
          store: a `torch.distributed` store that all processes use.
          rank, size: this process's place.
          host: this machine's name or address, as the others reach it.
          timeout_s: for how long a collective waits for the others.
        """
        gloo = distributed.ProcessGroupGloo
        options = gloo._Options()
        options._devices = [gloo.create_device(hostname=host)]
        options._timeout = timedelta(seconds=timeout_s)
        named = distributed.PrefixStore("data", store)
        self._group = gloo(named, rank, size, options)
        self._size = size

    def sum(self, values: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Each value's sum over all processes; they travel as one."""
        tensors = [as_tensor(value).reshape(-1) for value in values]
        whole = torch.cat(tensors)  # a copy, also of one
        self._group.allreduce([whole]).wait()
        parts = torch.split(whole, [tensor.numel() for tensor in tensors])
        return [
            as_array(part, value.dtype).reshape(value.shape)
            for part, value in zip(parts, values, strict=True)
        ]

    def adaptive_sum(self, value: NDArray[Any]) -> NDArray[Any]:
        """The adaptive sum (https://arxiv.org/abs/2006.02924) over all processes.

        Values are combined two by two: the more they point in one direction, the more
        their sum becomes their mean.
        """
        exact = torch.float64 if value.dtype == np.float64 else torch.float32
        given = as_tensor(value)
        level = [v.to(exact) for v in self._of_all(given.reshape(-1))]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=True)
            level = [_adaptive_pair(a, b) for a, b in pairs]
        result = level[0].to(given.dtype).reshape(value.shape)
        return as_array(result, value.dtype)

    def gather(self, value: NDArray[Any], rows: Sequence[int]) -> NDArray[Any]:
        """The rows of all processes, one after the other.

        Args:
          value: this process's rows.
          rows: how many each process brings.
        """
        padded = np.zeros((max(rows), *value.shape[1:]), value.dtype)
        padded[: len(value)] = value
        found = self._of_all(as_tensor(padded))
        arrays = [
            as_array(t, value.dtype)[:n] for t, n in zip(found, rows, strict=True)
        ]
        return np.concatenate(arrays)

    def broadcast(self, value: NDArray[Any], root: int) -> NDArray[Any]:
        """The value of process `root`."""
        tensor = as_tensor(value).clone()
        options = distributed.BroadcastOptions()
        options.rootRank = root
        self._group.broadcast([tensor], options).wait()
        return as_array(tensor, value.dtype)

    def _of_all(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        found = [torch.empty_like(tensor) for _ in range(self._size)]
        if tensor.numel():
            self._group.allgather([found], [tensor]).wait()
        return found


def _adaptive_pair(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    dot, aa, bb = a.dot(b), a.dot(a), b.dot(b)
    of_a = 1 - dot / (2 * aa) if aa else 1.0
    of_b = 1 - dot / (2 * bb) if bb else 1.0
    return a * of_a + b * of_b


# Transports know no devices, which have the like for the memory of kernels.
def as_tensor(value: NDArray[Any]) -> torch.Tensor:
    """A tensor over an array's memory, where it lies row by row."""
    dense = np.ascontiguousarray(value).reshape(value.shape)
    if value.dtype == np.bool_:
        return torch.from_numpy(dense.view(np.uint8))
    if value.dtype.name == _BFLOAT16:
        return torch.from_numpy(dense.view(np.int16)).view(torch.bfloat16)
    if not dense.flags.writeable:  # torch warns, though nothing is written
        dense = dense.copy()
    return torch.from_numpy(dense)


def as_array(tensor: torch.Tensor, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array over a tensor's memory, of a dtype that `as_tensor` took."""
    if dtype.name == _BFLOAT16:
        return tensor.view(torch.int16).numpy().view(dtype)
    return tensor.numpy().view(dtype)
