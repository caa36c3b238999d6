"""Kernels of AddN and AccumulateNV2, the sums over a list of tensors."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.reductions.aggregate import check_same_shapes
from tensorloom.kernels.torch.math.dtypes import NUMBERS


@kernel(("AddN", "AccumulateNV2"), types={"T": NUMBERS}, aliases=True)
def _add_n(c: OpKernelConstruction) -> Compute:
    name, op = c.node_name, c.op
    shapes = {s.dims_tuple for s in c.input_shapes}
    known = len(shapes) == 1 and None not in (shapes.pop() or (None,))

    def compute(*inputs: Any) -> torch.Tensor:
        if not known:
            check_same_shapes(name, op, inputs)
        if len(inputs) == 1:
            return inputs[0]  # type: ignore[no-any-return]
        total = torch.add(inputs[0], inputs[1])
        for value in inputs[2:]:
            total.add_(value)
        return total

    return torch.add if known and len(c.input_shapes) == 2 else compute
