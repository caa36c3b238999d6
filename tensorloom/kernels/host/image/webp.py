"""The host kernel of WebP files, through Pillow, whose library is TensorFlow's too."""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import UnimplementedError, invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text

# All frames of a file, in bytes.
_MOST: Final = 1 << 29


def _frames(contents: bytes) -> Any:
    """uint8 [frames, height, width, 3]; with alpha, or of an animation, [..., 4]."""
    from PIL import ImageSequence, WebPImagePlugin

    if not contents:
        raise invalid_argument("Input is empty.")
    if not WebPImagePlugin.SUPPORTED:
        raise UnimplementedError(None, None, "This Pillow reads no WebP files")
    if contents[:4] != b"RIFF" or contents[8:12] != b"WEBP":
        raise invalid_argument("Unknown image file format. WebP required.")
    try:
        image = WebPImagePlugin.WebPImageFile(io.BytesIO(contents))
        is_plain = image.mode != "RGBA" and image.n_frames == 1
        if image.n_frames * image.width * image.height * 4 >= _MOST:
            raise ValueError("too large")
        frames = [
            np.asarray(frame.convert("RGB" if is_plain else "RGBA"))
            for frame in ImageSequence.Iterator(image)
        ]
        return np.stack(frames)
    except Exception:  # Pillow raises whatever its parsers run into
        raise invalid_argument(
            f"Failed to decode WebP image of {len(contents)} bytes."
        ) from None


@host_kernel("DecodeWebP", large=True)
def decode_webp(c: OpKernelConstruction) -> Compute:
    """The frames of a file, which has as many channels as were asked for."""
    channels = c["channels"]
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3 or 4, got {channels}")
    if channels == 1:
        raise invalid_argument("WebP only supports 3 or 4 channels")

    def compute(contents: Any) -> Any:
        if contents.ndim:
            raise invalid_argument(
                f"contents must be scalar, got shape {shape_text(contents.shape)}"
            )
        frames = _frames(contents.item())
        if channels not in (0, frames.shape[3]):
            raise invalid_argument(
                f"Number of channels requested ({channels}) does not match input "
                f"({frames.shape[3]})"
            )
        return frames

    return compute
