"""Host kernels of patches: windows of images and volumes, zeros around."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


def _check_attrs(c: OpKernelConstruction, rank: int) -> None:
    for what in ("ksizes", "strides", "rates"):
        values = c.get(what, [1] * rank)
        if len(values) != rank:
            raise invalid_argument(
                f"Sliding window {what} field must specify {rank} dimensions"
            )
        if values[0] != 1 or values[-1] != 1:
            raise errors.UnimplementedError(
                None, None, f"Only support {what} across space."
            )
        if min(values) < 1:
            raise invalid_argument(f"Sliding window {what} must be positive")


def _outputs_and_padding(
    size: int, effective: int, stride: int, same: bool
) -> tuple[int, int, int]:
    """(outputs, zeros before, zeros behind) along one axis."""
    if same:
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + effective - size, 0)
        return outputs, total // 2, total - total // 2
    outputs = (size - effective + stride) // stride
    if outputs < 0:
        raise invalid_argument(
            f"Computed output size would be negative: {outputs} [input_size: {size}, "
            f"effective_filter_size: {effective}, stride: {stride}]"
        )
    return outputs, 0, 0


@host_kernel(["ExtractImagePatches", "ExtractVolumePatches"], large=True)
def extract_patches(c: OpKernelConstruction) -> Compute:
    """A strided view of all windows, copied once."""
    rank = 4 if c.op == "ExtractImagePatches" else 5
    _check_attrs(c, rank)
    inner = range(1, rank - 1)
    windows = [c["ksizes"][i] for i in inner]
    strides = [c["strides"][i] for i in inner]
    rates = [c.get("rates", [1] * rank)[i] for i in inner]
    same = c["padding"] == b"SAME"

    def compute(images: Any) -> Any:
        if images.ndim != rank:
            raise invalid_argument(f"input must be {rank}-dimensional")
        plan = [
            _outputs_and_padding(size, (window - 1) * rate + 1, stride, same)
            for size, window, stride, rate in zip(
                images.shape[1:-1], windows, strides, rates, strict=True
            )
        ]
        outputs = [outputs for outputs, _, _ in plan]
        batch, depth = images.shape[0], images.shape[-1]
        shape = (batch, *outputs, int(np.prod(windows)) * depth)
        if 0 in shape:
            return np.zeros(shape, images.dtype)
        # First of all, so that what does not fit into memory fails at once.
        result = np.empty(shape, images.dtype)
        pads = [(0, 0), *((before, after) for _, before, after in plan), (0, 0)]
        padded = np.pad(images, pads) if same else np.ascontiguousarray(images)
        steps = padded.strides[1:-1]
        view = np.lib.stride_tricks.as_strided(
            padded,
            (batch, *outputs, *windows, depth),
            (
                padded.strides[0],
                *(step * stride for step, stride in zip(steps, strides, strict=True)),
                *(step * rate for step, rate in zip(steps, rates, strict=True)),
                padded.strides[-1],
            ),
            writeable=False,
        )
        np.copyto(result.reshape(view.shape), view)
        return result

    return compute
