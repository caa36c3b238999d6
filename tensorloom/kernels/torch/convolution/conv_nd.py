"""Conv over torch tensors: the kernels of Conv2D and Conv3D for any batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.conv import convolution
from tensorloom.kernels.torch.convolution.conv3d import conv3d

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

_FORMATS = {
    (b"CHANNELS_LAST", 4): b"NHWC",
    (b"CHANNELS_FIRST", 4): b"NCHW",
    (b"CHANNELS_LAST", 5): b"NDHWC",
    (b"CHANNELS_FIRST", 5): b"NCDHW",
}


def _of_rank(c: OpKernelConstruction, rank: int) -> Compute:
    """The kernel for images (rank 4) or volumes (5)."""
    attrs = {
        "data_format": _FORMATS[c["data_format"], rank],
        "dilations": c["dilations"] or [1] * rank,
    }
    if rank == 4:
        return convolution(c.as_op("Conv2D", **attrs))
    return conv3d(c.as_op("Conv3D", **attrs))


@kernel("Conv")
def conv(c: OpKernelConstruction) -> Compute:
    """Images or volumes with filters. As many axes as `batch_dims` are the batch."""
    batch_dims, groups, rank = c["batch_dims"], c["groups"], len(c["strides"])
    channels = 0 if c["data_format"] == b"CHANNELS_FIRST" else -1
    if batch_dims < 0 or rank not in (4, 5):
        raise invalid_argument(
            f"batch_dims must be non-negative and strides 4 or 5 numbers, got "
            f"{batch_dims} and {rank}"
        )
    run = _of_rank(c, rank)

    def check(image: Sequence[int], filters: Sequence[int]) -> None:
        if len(image) - batch_dims + 1 != rank or len(filters) != rank:
            raise invalid_argument(
                f"input must have {batch_dims} + {rank - 1} dimensions and filter "
                f"{rank}: {text(image)} and {text(filters)}"
            )
        depth = image[batch_dims:][channels]
        if depth != filters[-2] * groups:
            raise invalid_argument(
                f"Input depth {depth} is not filter depth {filters[-2]} times the "
                f"number of groups {groups}"
            )

    def compute(image: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        check(image.shape, filters.shape)
        if batch_dims == 1:
            return run(image, filters)  # type: ignore[no-any-return]
        batch = image.shape[:batch_dims]
        flat = image.reshape((batch.numel(), *image.shape[batch_dims:]))
        result = run(flat, filters)
        return result.reshape(batch + result.shape[1:])  # type: ignore[no-any-return]

    return compute
