"""Kernels of the elementwise ops of a sparse and a dense tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.sparse.indices import check_dense_side
from tensorloom.kernels.torch.math.dtypes import NUMBERS


def _sparse_dense(op: str) -> None:
    functions: dict[str, Callable[..., torch.Tensor]] = {
        "SparseDenseCwiseMul": torch.mul,
        "SparseDenseCwiseDiv": torch.div,
        "SparseDenseCwiseAdd": torch.add,
    }
    function = functions[op]

    @kernel(op, types={"T": NUMBERS}, host_inputs=("sp_shape",))
    def _factory(c: OpKernelConstruction) -> Compute:
        whole = c["T"].is_integer

        def compute(
            indices: torch.Tensor,
            values: torch.Tensor,
            sp_shape: Any,
            dense: torch.Tensor,
        ) -> torch.Tensor:
            if sp_shape.ndim != 1 or values.dim() != 1:
                raise invalid_argument(
                    "Inputs sp_values and sp_shape should be vectors but received "
                    f"shapes: {shape_text(values.shape)} and "
                    f"{shape_text(sp_shape.shape)}"
                )
            shape = [int(size) for size in sp_shape]
            check_dense_side(shape, dense.shape)
            dense = dense.broadcast_to(shape)
            sizes = torch.tensor(shape, dtype=indices.dtype, device=indices.device)
            if indices.dim() != 2 or indices.shape[1] != len(shape):
                raise invalid_argument(
                    f"Input sp_indices should be a matrix of {len(shape)} columns but "
                    f"received shape: {shape_text(indices.shape)}"
                )
            if bool(((indices < 0) | (indices >= sizes)).any()):
                raise invalid_argument(
                    "Provided indices are out-of-bounds w.r.t. dense side with "
                    "broadcasted shape"
                )
            met = dense[tuple(indices.t())] if shape else dense.expand(values.shape)
            if whole and function is torch.div:
                return torch.div(values, met, rounding_mode="trunc")
            return function(values, met)

        return compute


for _op in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseDenseCwiseAdd"):
    _sparse_dense(_op)
