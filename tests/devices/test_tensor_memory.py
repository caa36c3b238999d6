"""Tensors as NumPy values: views where NumPy knows the kind, else copies."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from tensorloom.devices.tensor_memory import array_from_tensor, tensor_from_array
from tensorloom.kernels.torch.state.variable_value import to_host
from tensorloom.worker.run.runtime import received_host

READERS = [array_from_tensor, to_host, received_host]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.half])
def test_memory_is_shared(read: Any, dtype: torch.dtype) -> None:
    tensor = torch.zeros((2, 3), dtype=dtype)
    array = read(tensor)
    array[1, 2] = 1
    assert tensor[1, 2].item() == 1
    assert read(tensor.t()).shape == (3, 2)


@pytest.mark.parametrize("read", READERS)
def test_a_scalar_is_one_of_numpy(read: Any) -> None:
    assert type(read(torch.tensor(2.5))) is np.float32
    assert type(read(torch.tensor(2.5, dtype=torch.bfloat16))) is ml_dtypes.bfloat16


@pytest.mark.parametrize("read", READERS)
def test_kinds_that_numpy_has_no_view_of(read: Any) -> None:
    short = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    array = read(short)
    assert array.dtype == ml_dtypes.bfloat16
    assert array.tolist() == [1.5, -2.0]
    with_gradient = torch.tensor([1.0, 2.0], requires_grad=True)
    assert read(with_gradient).tolist() == [1.0, 2.0]


def test_lazy_conjugates() -> None:
    values = torch.tensor([1 + 2j, 3 - 4j])
    assert array_from_tensor(values.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert array_from_tensor(values.conj().imag).tolist() == [-2.0, 4.0]


def test_what_cannot_be_shared_is_copied() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor_from_array(array)[0, 0] = 7
    assert array[0, 0] == 7
    array.flags.writeable = False
    tensor_from_array(array)[0, 0] = 8
    assert array[0, 0] == 7
    assert tensor_from_array(array.T).tolist() == array.T.tolist()
    assert tensor_from_array(array.astype(">f4")).tolist() == array.tolist()


@pytest.mark.parametrize("shape", [(1,), (1, 3), (0, 3), (2, 1, 3), (1, 1)])
def test_strides_of_single_elements_are_nothing(shape: tuple[int, ...]) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    for axis in range(array.ndim):
        turned = np.flip(array, axis)
        assert tensor_from_array(turned).tolist() == turned.tolist()
