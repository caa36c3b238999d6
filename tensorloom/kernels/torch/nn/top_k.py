"""Kernels for the largest elements of rows, over torch tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import check_in_top_k, check_top_k
from tensorloom.kernels.host.nn.packed_top_k import largest_with_places
from tensorloom.kernels.host.nn.unordered_top_k import correct_rows
from tensorloom.kernels.torch.math.dtypes import REALS, TORCH_DTYPES


@kernel("TopKV2", types={"T": REALS}, host_inputs=("k",))
def top_k(c: OpKernelConstruction) -> Compute:
    """The k largest elements of each row; of equal ones the first come first."""
    on_cpu = c.device_type == "CPU"
    index_type = TORCH_DTYPES[c["index_type"]]

    def compute(value: torch.Tensor, k: Any) -> tuple[torch.Tensor, torch.Tensor]:
        array = np.asarray(k)
        count = int(array) if not array.ndim else 0
        check_top_k(value.shape, array.shape, count)
        values, indices = _largest(value, count, on_cpu)
        return values, indices.to(index_type)

    return compute


@kernel("TopK", types={"T": REALS})
def top_k_v1(c: OpKernelConstruction) -> Compute:
    """TopKV2 with k as an attr."""
    count, on_cpu = c["k"], c.device_type == "CPU"

    def compute(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        check_top_k(value.shape, (), count)
        return _largest(value, count, on_cpu)

    return compute


def _largest(
    value: torch.Tensor, count: int, on_cpu: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    size = value.shape[-1]
    if on_cpu and value.is_floating_point() and value.element_size() < 4:
        values, order = _largest(value.float(), count, on_cpu)
        return values.to(value.dtype), order
    if on_cpu:
        found = largest_with_places(value.numpy(), count)
        if found is not None:
            return torch.from_numpy(found[0]), torch.from_numpy(found[1])
    if on_cpu and 4 * count < size:
        # Selection does not keep equal elements in order. One more than asked for
        # shows in which rows there are any.
        values, indices = torch.topk(value, count + 1)
        equal = (values[..., 1:] == values[..., :-1]).any(-1)
        if bool(equal.any()):
            _first_of_equal(value, values, indices, equal)
    else:
        values, indices = torch.sort(value, dim=-1, descending=True, stable=True)
    values, order = values[..., :count].contiguous(), indices[..., :count].int()
    # NaN sorts as the largest: where there is one, it comes first.
    if on_cpu and count and value.is_floating_point() and values[..., 0].isnan().any():
        return _with_nan(value, order, values)
    return values, order


def _first_of_equal(
    value: torch.Tensor, values: torch.Tensor, places: torch.Tensor, equal: torch.Tensor
) -> None:
    """Puts the places of rows with equal elements right, in place.

    Only what is not less than the last one found is sorted. Rows with NaN are left.
    """
    size, count = value.shape[-1], values.shape[-1]
    rows, found = value.reshape(-1, size).numpy(), places.view(-1, count).numpy()
    tops = values.view(-1, count).numpy()
    for i in np.flatnonzero(equal.numpy()):
        if tops[i, 0] == tops[i, 0]:
            candidates = np.flatnonzero(rows[i] >= tops[i, -1])
            # Backwards, read backwards: descending, and the first of equal ones first.
            ascending = rows[i, candidates[::-1]].argsort(kind="stable")
            found[i] = candidates[::-1][ascending[: -count - 1 : -1]]
            tops[i] = rows[i, found[i]]


def _with_nan(
    value: torch.Tensor, order: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    places, tops = order.contiguous().numpy(), values.numpy()
    correct_rows(value.numpy(), places, tops)
    return torch.from_numpy(tops), torch.from_numpy(places)


@kernel("InTopKV2", host_inputs=("k",))
def in_top_k(c: OpKernelConstruction) -> Compute:
    """Whether each target is among the k largest of its row."""

    def compute(
        predictions: torch.Tensor, targets: torch.Tensor, k: Any
    ) -> torch.Tensor:
        array = np.asarray(k)
        check_in_top_k(predictions.shape, targets.shape, array.shape)
        return _is_in_top(predictions, targets, int(array))

    return compute


@kernel("InTopK")
def in_top_k_v1(c: OpKernelConstruction) -> Compute:
    """InTopKV2 with k as an attr."""
    count = c["k"]

    def compute(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        check_in_top_k(predictions.shape, targets.shape, ())
        return _is_in_top(predictions, targets, count)

    return compute


def _is_in_top(
    predictions: torch.Tensor, targets: torch.Tensor, count: int
) -> torch.Tensor:
    """False also for targets that are no class, and rows that are not finite."""
    classes = predictions.shape[1]
    if not predictions.numel():
        return torch.zeros(targets.shape, dtype=torch.bool, device=targets.device)
    index = targets.long()
    valid = (index >= 0) & (index < classes)
    chosen = predictions.gather(1, index.clamp(0, classes - 1).unsqueeze(1))
    # Comparing into numbers is done in vectors, into bool it is not.
    better = torch.gt(predictions, chosen, out=torch.empty_like(predictions)).sum(1)
    # In a tenth of the time of a look at each: extremes of a row with a NaN are NaN.
    # Both at once, by `aminmax`, would take twenty times as long.
    low, high = predictions.amin(1), predictions.amax(1)
    return valid & low.isfinite() & high.isfinite() & (better < count)
