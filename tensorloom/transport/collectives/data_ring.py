"""The values' way among the processes of a group: torch.distributed's Gloo.

Every process calls the same functions in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tensorloom.devices.tensor_memory import array_from_tensor, tensor_from_array
from tensorloom.transport.collectives.store import distributed

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        tensors = [tensor_from_array(value).reshape(-1) for value in values]
        whole = torch.cat(tensors)  # a copy, also of one
        self._group.allreduce([whole]).wait()
        parts = torch.split(whole, [tensor.numel() for tensor in tensors])
        return [
            array_from_tensor(part).reshape(value.shape)
            for part, value in zip(parts, values, strict=True)
        ]

    def adaptive_sum(self, value: NDArray[Any]) -> NDArray[Any]:
        """The adaptive sum (https://arxiv.org/abs/2006.02924) over all processes.

        Values are combined two by two: the more they point in one direction, the more
        their sum becomes their mean.
        """
        exact = torch.float64 if value.dtype == np.float64 else torch.float32
        given = tensor_from_array(value)
        level = [v.to(exact) for v in self._of_all(given.reshape(-1))]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=True)
            level = [_adaptive_pair(a, b) for a, b in pairs]
        result = level[0].to(given.dtype).reshape(value.shape)
        return np.asarray(array_from_tensor(result))

    def gather(self, value: NDArray[Any], rows: Sequence[int]) -> NDArray[Any]:
        """The rows of all processes, one after the other.

        Args:
          value: this process's rows.
          rows: how many each process brings.
        """
        padded = np.zeros((max(rows), *value.shape[1:]), value.dtype)
        padded[: len(value)] = value
        found = self._of_all(tensor_from_array(padded))
        arrays = [array_from_tensor(t)[:n] for t, n in zip(found, rows, strict=True)]
        return np.concatenate(arrays)

    def broadcast(self, value: NDArray[Any], root: int) -> NDArray[Any]:
        """The value of process `root`."""
        tensor = tensor_from_array(value).clone()
        options = distributed.BroadcastOptions()
        options.rootRank = root
        self._group.broadcast([tensor], options).wait()
        return np.asarray(array_from_tensor(tensor))

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
