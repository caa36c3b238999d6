"""Bilinear resizing over torch tensors of a GPU, with the host kernel's rounding."""

from __future__ import annotations

import functools

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.image import resize as host
from tensorloom.kernels.torch.image.linear_interpolation import Taps, along

_FLOATS = frozenset([dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])


@kernel("ResizeBilinear", types={"T": _FLOATS}, host_inputs=("size",), devices=("GPU",))
def resize_bilinear(c: OpKernelConstruction) -> Compute:
    """upper left + (upper right - upper left) * x and so on, float32.

    One operation a step: `lerp` and `addcmul` round otherwise than TensorFlow.
    """
    align, centers = c["align_corners"], c["half_pixel_centers"]
    host.check_flags(align, centers)

    @functools.lru_cache(maxsize=16)
    def taps(old: int, new: int) -> Taps:
        found = host.between(old, new, align, centers)
        below, above, share = (torch.from_numpy(x).to(c.torch_device) for x in found)
        return below, above, share

    def compute(images: torch.Tensor, size: object) -> torch.Tensor:
        height, width = host.check_sizes(images, size)
        batch, old_height, old_width, channels = images.shape
        check_shape((batch, height, width, channels), dtypes.float32, c.device)
        if (height, width) == (old_height, old_width):
            return images.to(torch.float32, copy=True)
        wide = along(images.to(torch.float32), 2, taps(old_width, width))
        return along(wide, 1, taps(old_height, height))

    return compute
