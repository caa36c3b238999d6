"""Gradients of sparse segment sums as the rows that they touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel(
    [f"SparseSegment{kind}GradV2" for kind in ("Sum", "Mean", "SqrtN")],
    host_inputs=("dense_output_dim0",),
)
def sparse_segment_grad_v2(c: OpKernelConstruction) -> Compute:
    """Each touched row's sum of the gradients of the segments that it is in."""
    kind = c.op.removeprefix("SparseSegment").removesuffix("GradV2")

    def compute(
        grad: torch.Tensor,
        indices: torch.Tensor,
        segment_ids: torch.Tensor,
        dense_output_dim0: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if segment_ids.dim() != 1 or segment_ids.shape != indices.shape:
            raise errors.InvalidArgumentError(
                None, None, "segment_ids and indices should have same size."
            )
        _check("Index", indices, int(dense_output_dim0))
        _check("Segment id", segment_ids, grad.shape[0])
        rows, place = torch.unique(indices, sorted=True, return_inverse=True)
        ids = segment_ids.long()
        gradients = grad
        if kind != "Sum":
            counts = torch.bincount(ids, minlength=grad.shape[0]).clamp(min=1)
            scale = counts.to(grad.dtype)
            scale = scale if kind == "Mean" else scale.sqrt()
            gradients = grad / scale.view(-1, *[1] * (grad.ndim - 1))
        output = grad.new_zeros((len(rows), *grad.shape[1:]))
        output.index_add_(0, place, gradients[ids])
        return output, rows.to(indices.dtype)

    return compute


def _check(what: str, values: torch.Tensor, limit: int) -> None:
    if values.numel() and not (int(values.min()) >= 0 and int(values.max()) < limit):
        raise errors.InvalidArgumentError(
            None, None, f"{what} out of range [0, {limit})."
        )
