"""SingleImageRandomDotStereograms in host memory."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text

# One generator for the process, as TensorFlow's: `rand` of C.
_GENERATOR: list[Any] = []
_LOCK = threading.Lock()


@host_kernel("SingleImageRandomDotStereograms", large=True)
def single_image_random_dot_stereograms(c: OpKernelConstruction) -> Compute:
    """A picture whose rows are drawn one by one, with dots that help to focus below."""
    from tensorloom.kernels.loops.image import stereograms

    width, height, channels = _sizes(c, "output_image_shape", 3)
    if c["number_colors"] > 256:
        channels = 3
    data_width, data_height = _sizes(c, "output_data_window", 2)
    mu = np.float32(c["mu"])
    eyes = int(np.float32(c["eye_separation"]) * np.float32(c["dots_per_inch"]))
    slope = float(mu * np.float32(eyes))
    dots = c["convergence_dots_size"]
    if dots > 0:
        top = max(0, height - data_height - dots) // 3
        dots_end = height - 1 - top
    else:
        top, dots_end = int((height - data_height) / 2), height - 1
    left = int((width - data_width) / 2)
    window = np.array([left, top, data_width, data_height], np.int64)
    border = float(np.float32(c["border_level"]))
    normalized = _normalization(c)

    def compute(depths: Any) -> Any:
        if depths.ndim != 2:
            raise invalid_argument(
                f"depth_values must be 2-D, got shape {shape_text(depths.shape)}"
            )
        picture = np.empty((height, width, channels), np.uint8)
        depths = np.ascontiguousarray(normalized(depths.astype(np.float64)))
        with _LOCK:
            if not _GENERATOR:
                _GENERATOR.append(stereograms.new_generator())
            stereograms.draw_picture(
                picture,
                depths,
                window,
                border,
                float(mu),
                eyes,
                slope,
                bool(c["hidden_surface_removal"]),
                c["number_colors"],
                _GENERATOR[0],
            )
        if dots > 0:
            far = stereograms._separation(0.0, float(mu), eyes)
            rows = slice(max(dots_end - dots + 1, 0), max(dots_end + 1, 0))
            for middle in (width // 2 - far // 2, width // 2 + far // 2):
                start = middle - dots // 2
                picture[rows, max(start, 0) : max(start + dots, 0)] = 0
        return picture

    return compute


def _sizes(c: OpKernelConstruction, name: str, count: int) -> list[int]:
    sizes = c[name].dims_tuple
    if sizes is None or len(sizes) < count or any(not s or s < 0 for s in sizes):
        raise invalid_argument(
            f"{name} must have {count} dimensions above zero, got {c[name]}"
        )
    return list(sizes[:count])


def _normalization(c: OpKernelConstruction) -> Any:
    """How depths come to lie between 0 and 1."""
    largest, least = (float(np.float32(c[f"normalize_{k}"])) for k in ("max", "min"))

    def normalized(depths: Any) -> Any:
        if c["normalize"] and depths.size:
            scales = largest < least
            low = depths.min() if scales else least
            high = depths.max() if scales else largest
            with np.errstate(invalid="ignore", divide="ignore"):
                depths = (depths - low) / (high - low)
        return np.clip(depths, 0.0, 1.0)

    return normalized
