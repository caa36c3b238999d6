"""Kernels of the matrix products."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.linalg.matmul import check_batches, check_matrices
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.torch.linalg.matrix_product import matrix_product
from tensorloom.kernels.torch.math.dtypes import FLOATS, INTEGERS, TORCH_DTYPES

_Product = Callable[..., torch.Tensor]


def _mat_mul(c: OpKernelConstruction) -> Compute:
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    known = all(s.is_fully_defined() for s in c.input_shapes)
    multiply = _product(c, torch.mm)
    if c.device_type == "CPU" and c["T"] == dtypes.float32:
        multiply = matrix_product

    def compute(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not known:
            check_matrices(a.shape, b.shape, transpose_a, transpose_b)
        return multiply(a.t() if transpose_a else a, b.t() if transpose_b else b)

    return multiply if known and not (transpose_a or transpose_b) else compute


def _batch_mat_mul(c: OpKernelConstruction) -> Compute:
    adj_x, adj_y, equal = c["adj_x"], c["adj_y"], c.op == "BatchMatMul"
    multiply = _product(c, torch.matmul)

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        check_batches(x.shape, y.shape, adj_x, adj_y, equal)
        return multiply(x.mH if adj_x else x, y.mH if adj_y else y)

    return compute


def _product(c: OpKernelConstruction, general: _Product) -> _Product:
    """The general product, or one by way of a dtype that the CPU multiplies faster."""
    if c.device_type != "CPU":
        return general
    if c["T"] == dtypes.float16:
        return _short_product
    if c["T"] == dtypes.bfloat16 and not _multiplies_bfloat16():
        return _short_product
    return _wide_product if c["T"] == dtypes.int64 else general


@cache
def _multiplies_bfloat16() -> bool:
    """Whether oneDNN has products of bfloat16 for this processor."""
    return torch._C._has_mkldnn and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _short_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of short floats, by way of float32: forty times as fast on most processors."""
    return torch.matmul(x.float(), y.float()).to(x.dtype)


def _wide_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of int64, by way of float64 where that is exact: twenty times as fast."""
    if x.numel() >= _FEWEST_ELEMENTS and y.numel() >= _FEWEST_ELEMENTS:
        largest = x.shape[-1] * _largest(x) * _largest(y)
        if largest <= _LARGEST_EXACT:
            return torch.matmul(x.double(), y.double()).to(torch.int64)
    return torch.matmul(x, y)


# With fewer in a matrix, the calls are what counts.
_FEWEST_ELEMENTS: Final = 256
# Doubles hold all integers up to this one.
_LARGEST_EXACT: Final = 1 << 53


def _largest(x: torch.Tensor) -> int:
    low, high = torch.aminmax(x)
    return max(-int(low), int(high))


for _types, _devices in ((FLOATS, ("CPU", "GPU")), (INTEGERS, ("CPU",))):
    # There is no integer product on a GPU, in TensorFlow or in torch.
    kernel("MatMul", types={"T": _types}, devices=_devices)(_mat_mul)
    kernel(("BatchMatMul", "BatchMatMulV2"), types={"T": _types}, devices=_devices)(
        _batch_mat_mul
    )


@kernel("BatchMatMulV3", types={"Tout": FLOATS}, devices=("GPU",))
@kernel("BatchMatMulV3", devices=("CPU",))
def _batch_mat_mul_v3(c: OpKernelConstruction) -> Compute:
    adj_x, adj_y, dtype = c["adj_x"], c["adj_y"], TORCH_DTYPES[c["Tout"]]

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        check_batches(x.shape, y.shape, adj_x, adj_y, False)
        x, y = x.to(dtype), y.to(dtype)
        return torch.matmul(x.mH if adj_x else x, y.mH if adj_y else y)

    return compute


@kernel("SparseMatMul")
def _sparse_mat_mul(c: OpKernelConstruction) -> Compute:
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    short = dtypes.bfloat16 in (c["Ta"], c["Tb"])

    def compute(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if short:
            a, b = a.float(), b.float()
        x, y = a.t() if transpose_a else a, b.t() if transpose_b else b
        if x.shape[1] != y.shape[0]:
            raise invalid_argument(
                "Matrix size incompatible: "
                f"a: {shape_text(a.shape)}, b: {shape_text(b.shape)}"
            )
        return torch.mm(x, y)

    return compute
