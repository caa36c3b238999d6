"""Host kernels of image files, through Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text
from tensorloom.kernels.host.string_arrays import to_strings

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS = {"1": 1, "L": 1, "I;16": 1, "I": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def _open(contents: Any, formats: list[str], what: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    if contents.ndim:
        raise invalid_argument(
            f"contents must be scalar, got shape {shape_text(contents.shape)}"
        )
    try:
        image = Image.open(io.BytesIO(contents.item()), formats=formats)
        image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise invalid_argument(
            f"Invalid {what} data, size {len(contents.item())}"
        ) from None
    return image


def _pixels(image: Any, channels: int) -> Any:
    """[height, width, channels] of uint8."""
    if not channels:
        if image.mode == "P":
            image = image.convert("RGBA" if "transparency" in image.info else "RGB")
        channels = _CHANNELS.get(image.mode, 3)
    mode = _MODES.get(channels)
    if mode is None:
        raise invalid_argument(f"channels must be 0, 1, 3 or 4, got {channels}")
    array = np.asarray(image if image.mode == mode else image.convert(mode))
    return array.reshape(image.height, image.width, channels)


@host_kernel(["DecodePng", "DecodeJpeg"], large=True)
def decode(c: OpKernelConstruction) -> Compute:
    """A PNG or JPEG image; either op takes both, as TensorFlow's do."""
    channels = c["channels"]
    wide = c.get("dtype") == dtypes.uint16
    ratio = c.get("ratio", 1)
    if ratio not in (1, 2, 4, 8):
        raise invalid_argument(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    what = "PNG" if c.op == "DecodePng" else "JPEG"

    def compute(contents: Any) -> Any:
        image = _open(contents, ["PNG", "JPEG", "GIF"], what)
        if ratio > 1:
            image = image.reduce(ratio)
        if image.mode.startswith("I") and channels in (0, 1):
            deep = np.asarray(image).astype(np.uint16)[:, :, None]
            return deep if wide else (deep >> 8).astype(np.uint8)
        pixels = _pixels(image, channels)
        # 257 takes 255 to 65535.
        return pixels.astype(np.uint16) * np.uint16(257) if wide else pixels

    return compute


@host_kernel("DecodeBmp", large=True)
def decode_bmp(c: OpKernelConstruction) -> Compute:
    """A BMP image."""
    channels = c["channels"]
    return lambda contents: _pixels(_open(contents, ["BMP"], "BMP"), channels)


@host_kernel("DecodeGif", large=True)
def decode_gif(c: OpKernelConstruction) -> Compute:
    """The frames of a GIF."""

    def compute(contents: Any) -> Any:
        from PIL import ImageSequence

        image = _open(contents, ["GIF"], "GIF")
        frames = [_pixels(frame, 3) for frame in ImageSequence.Iterator(image)]
        return np.stack(frames)

    return compute


@host_kernel("EncodePng", large=True)
def encode_png(c: OpKernelConstruction) -> Compute:
    """A PNG file's contents."""
    compression = c["compression"]
    if not -1 <= compression <= 9:
        raise invalid_argument(f"compression should be in [-1,9], got {compression}")
    level = 6 if compression < 0 else compression

    def compute(image: Any) -> Any:
        _check_image(image, (1, 2, 3, 4))
        if image.dtype == np.uint16 and image.shape[2] != 1:
            raise invalid_argument("16-bit PNG images must have 1 channel")
        return _save(image, "PNG", compress_level=level)

    return compute


@host_kernel("EncodeJpeg", large=True)
def encode_jpeg(c: OpKernelConstruction) -> Compute:
    """A JPEG file's contents."""
    quality, wanted = c["quality"], {b"": 0, b"grayscale": 1, b"rgb": 3}[c["format"]]
    if not 0 <= quality <= 100:
        raise invalid_argument(f"quality must be in [0,100], got {quality}")
    unit = 1 if c["density_unit"] == b"in" else 2.54
    options = {
        "quality": quality,
        "progressive": c["progressive"],
        "optimize": c["optimize_size"],
        "subsampling": 2 if c["chroma_downsampling"] else 0,
        "dpi": (round(c["x_density"] * unit), round(c["y_density"] * unit)),
    }

    def compute(image: Any) -> Any:
        _check_image(image, (wanted,) if wanted else (1, 3))
        return _save(image, "JPEG", **options)

    return compute


def _check_image(image: Any, channels: tuple[int, ...]) -> None:
    if image.ndim != 3:
        raise invalid_argument(f"image must be 3-dimensional{shape_text(image.shape)}")
    if image.shape[2] not in channels:
        expected = ", ".join(map(str, channels))
        raise invalid_argument(
            f"image must have {expected} channels, got {image.shape[2]}"
        )


def _save(image: Any, kind: str, **options: Any) -> Any:
    from PIL import Image

    array = image[:, :, 0] if image.shape[2] == 1 else image
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(array)).save(file, kind, **options)
    return to_strings([file.getvalue()], ())
