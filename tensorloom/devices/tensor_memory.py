"""NumPy values and torch tensors in plain memory: two views of the same bytes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from tensorloom.framework.types.dtypes import memory_view

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Codes of native NumPy dtypes that torch knows under the same name.
_COMMON = "fdilqBbhH?FDe"


def tensor_from_array(value: Any) -> torch.Tensor:
    """A NumPy value as a torch tensor.

    A writeable C-contiguous array shares its memory; anything else is copied. The
    quantized dtypes (structured in NumPy) become their base integers.
    """
    if type(value) is np.ndarray and value.flags.carray and _is_common(value.dtype):
        return _over(value)
    array = memory_view(np.asarray(value))
    if not array.flags.c_contiguous or not array.flags.writeable:
        array = array.copy()
    if array.dtype == _BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return _over(array)


def _over(array: Any) -> torch.Tensor:
    """A tensor over the memory of an array without gaps.

    To NumPy the stride of an axis of one element is nothing, and may be negative; torch
    refuses it, and gets a copy.
    """
    try:
        return torch.from_numpy(array)
    except ValueError:
        return torch.from_numpy(array.copy())


def _is_common(dtype: np.dtype[Any]) -> bool:
    return dtype.isnative and dtype.char in _COMMON


def array_from_tensor(tensor: torch.Tensor) -> Any:
    """A torch tensor as a NumPy value, which shares its memory if that is plain.

    Rank 0 gives a NumPy scalar.
    """
    try:
        array = tensor.numpy()
    except (TypeError, RuntimeError):  # each question before would cost as much again
        array = _array_of_another_kind(tensor)
    return array if array.ndim else array[()]


def _array_of_another_kind(tensor: torch.Tensor) -> Any:
    """Of what NumPy has no view: on a device, a lazy conjugate, bfloat16."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(_BFLOAT16)
    return tensor.numpy()
