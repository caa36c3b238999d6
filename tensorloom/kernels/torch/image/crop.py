"""CropAndResize and its gradient over torch tensors, with the host kernel's places.

Each pixel of a crop is the weighted sum of four pixels, which torch knows as a bag of
embeddings: one pass instead of a dozen. It rounds otherwise than TensorFlow's two
mixtures, in the last bit.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.image import crop as host

_TYPES: Final = frozenset(
    [
        *(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
        *(dtypes.float16, dtypes.float32, dtypes.float64),
    ]
)
_FLOATS: Final = frozenset([dtypes.float16, dtypes.float32, dtypes.float64])
_PLACES: Final = ("boxes", "box_ind")
# Bags of more numbers than these are summed in groups.
_MOST_TAPS: Final = 1 << 22


@kernel(
    "CropAndResize",
    types={"T": _TYPES},
    devices=("CPU",),
    host_inputs=(*_PLACES, "crop_size"),
)
def crop_and_resize(c: OpKernelConstruction) -> Compute:
    """Crops of float32."""
    nearest = c["method"] == b"nearest"
    outside, device = c["extrapolation_value"], c.device

    def compute(
        image: torch.Tensor, boxes: Any, indices: Any, crop_size: Any
    ) -> torch.Tensor:
        shape = host.crops_shape(image, boxes, indices, crop_size)
        check_shape(shape, dtypes.float32, device)
        if not math.prod(shape):
            return torch.empty(shape, dtype=torch.float32)
        pixels = image.reshape(math.prod(image.shape[:3]), image.shape[3])
        axes = host.crop_axes(boxes, tuple(image.shape), shape)
        if nearest:
            places = torch.from_numpy(host.nearest_places(indices, *axes, image.shape))
            flat = pixels.index_select(0, places.view(-1))
            crops = flat.to(torch.float32).view(shape)
        else:
            crops = _sum_taps(pixels.float(), image.shape, indices, axes, shape)
        beyond = _beyond(*axes)
        if len(beyond):
            crops.view(-1, shape[3]).index_fill_(0, beyond, outside)
        return crops

    return compute


def _beyond(rows: host.Axis, columns: host.Axis) -> torch.Tensor:
    """Which of all pixels of the crops do not lie in the image, int64."""
    if rows.inside.all() and columns.inside.all():
        return torch.empty(0, dtype=torch.int64)
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    return torch.from_numpy(np.flatnonzero(~inside))


def _sum_taps(
    pixels: torch.Tensor,
    image: tuple[int, ...],
    indices: Any,
    axes: tuple[host.Axis, host.Axis],
    shape: tuple[int, int, int, int],
) -> torch.Tensor:
    """The crops of a shape, made of a group of boxes at a time."""
    rows, columns = axes
    together = max(1, _MOST_TAPS // (4 * shape[1] * shape[2]))
    parts = []
    for begin in range(0, len(indices), together):
        group = slice(begin, begin + together)
        places, weights = _taps(image, indices[group], rows[group], columns[group])
        ends = torch.arange(0, len(places) + 1, 4, dtype=places.dtype)
        bags = torch.embedding_bag(
            pixels, places, ends, False, 0, False, weights, include_last_offset=True
        )[0]
        parts.append(bags)
    return (parts[0] if len(parts) == 1 else torch.cat(parts)).view(shape)


def _taps(
    shape: tuple[int, ...], indices: Any, rows: host.Axis, columns: host.Axis
) -> tuple[torch.Tensor, torch.Tensor]:
    """(which pixels of all, their weights), four for each pixel of the crops."""
    kind = np.int32 if math.prod(shape[:3]) < 1 << 31 else np.int64
    begins = indices.astype(kind)[:, None] * shape[1]
    y = [(begins + row.astype(kind)) * shape[2] for row in (rows.low, rows.high)]
    x = [column.astype(kind) for column in (columns.low, columns.high)]
    down = 1 - rows.share, rows.share
    across = 1 - columns.share, columns.share
    return _pairs(torch.add, y, x), _pairs(torch.mul, down, across)


def _pairs(combine: Any, rows: Any, columns: Any) -> torch.Tensor:
    """[boxes * h * w * 4] of two [boxes, h] and two [boxes, w]."""
    first, second = torch.from_numpy(rows[0]), torch.from_numpy(columns[0])
    out = torch.empty((*first.shape, second.shape[1], 4), dtype=first.dtype)
    for i in range(4):
        row, column = torch.from_numpy(rows[i // 2]), torch.from_numpy(columns[i % 2])
        combine(row[:, :, None], column[:, None, :], out=out[..., i])
    return out.view(-1)


@kernel(
    "CropAndResizeGradImage",
    types={"T": _FLOATS},
    devices=("CPU",),
    host_inputs=(*_PLACES, "image_size"),
)
def crop_and_resize_grad_image(c: OpKernelConstruction) -> Compute:
    """Each crop pixel's gradient goes to the pixels it came from."""
    nearest, device, to = c["method"] == b"nearest", c.device, c["T"]

    def compute(
        grads: torch.Tensor, boxes: Any, indices: Any, image_size: Any
    ) -> torch.Tensor:
        shape = host.image_shape(grads, boxes, indices, image_size)
        check_shape(shape, to, device)
        axes = host.crop_axes(boxes, shape, tuple(grads.shape))
        flat, beyond = grads.to(torch.float32).reshape(-1, shape[3]), _beyond(*axes)
        if len(beyond):
            flat = flat.index_fill(0, beyond, 0.0)
        total = torch.zeros(math.prod(shape[:3]), shape[3])
        if nearest:
            places = torch.from_numpy(host.nearest_places(indices, *axes, shape))
            total.index_add_(0, places.view(-1), flat)
        elif len(flat):
            taps, weights = _taps(shape, indices, *axes)
            taps = taps.view(-1, 4).long()  # for which `index_add_` is faster
            for i in range(4):
                total.index_add_(0, taps[:, i], flat * weights[i::4, None])
        return total.to(_TORCH[to]).view(shape)

    return compute


_TORCH: Final = {
    dtypes.float16: torch.float16,
    dtypes.float32: torch.float32,
    dtypes.float64: torch.float64,
}
