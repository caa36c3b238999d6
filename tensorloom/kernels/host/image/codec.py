"""Host kernels of image files, through Pillow where its pixels are TensorFlow's."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.image.bmp import decode_bmp
from tensorloom.kernels.host.image.jpeg import JpegOptions, decode_jpeg, open_jpeg
from tensorloom.kernels.host.image.png import (
    check_png_size,
    decode_png16,
    encode_png16,
    png_header,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import to_strings

_MODES: Final = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_JPEG, _PNG, _GIF = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8"
_MAX_BYTES: Final = 1 << 29


def _scalar(contents: Any) -> bytes:
    if contents.ndim:
        raise invalid_argument(
            f"contents must be scalar, got shape {shape_text(contents.shape)}"
        )
    return contents.item()  # type: ignore[no-any-return]


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3, or 4, got {channels}")


# --- PNG and GIF ------------------------------------------------------------------


def _open_png(contents: bytes) -> Any:
    from PIL import PngImagePlugin

    check_png_size(contents)
    try:
        image = PngImagePlugin.PngImageFile(io.BytesIO(contents))
        image.load()
    except Exception:  # Pillow raises whatever its parsers run into
        raise invalid_argument(f"Invalid PNG data, size {len(contents)}") from None
    return image


def _decode_png(contents: bytes, channels: int, wide: bool) -> Any:
    """uint8 or uint16 [height, width, channels]."""
    header = png_header(contents)
    if header is not None and header[2] == 16 and not header[4]:
        check_png_size(contents)
        pixels = decode_png16(contents)
        pixels = _with_channels(pixels, channels or pixels.shape[2])
        return pixels if wide else (pixels >> 8).astype(np.uint8)
    image = _open_png(contents)
    # libpng's "opaque" is the largest value of the file's bit depth, even where
    # samples have been widened to eight bits.
    opaque = (1 << min(header[2], 8)) - 1 if header is not None else 255
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode not in _MODES.values():
        image = image.convert("L" if image.mode in ("1", "I;16", "I") else "RGB")
    elif "transparency" in image.info:
        image = image.convert("LA" if image.mode == "L" else "RGBA")
    # A copy: Pillow's own memory cannot be written to, what a session gives can.
    pixels = np.array(image).reshape(image.height, image.width, -1)
    pixels = _with_channels(pixels, channels or pixels.shape[2], opaque)
    # 257 takes 255 to 65535.
    return pixels.astype(np.uint16) * np.uint16(257) if wide else pixels


def _with_channels(pixels: Any, wanted: int, opaque: int = 65535) -> Any:
    """Gray, RGB, with and without alpha, from and to each other."""
    found = pixels.shape[2]
    if found == wanted:
        return pixels
    if wanted == 1:
        return pixels[:, :, :1] if found == 2 else _gray(pixels)
    colors = pixels[:, :, :3] if found >= 3 else np.repeat(pixels[:, :, :1], 3, axis=2)
    if wanted == 3:
        return np.ascontiguousarray(colors)
    if found == 2:
        alpha = pixels[:, :, 1:]
    else:
        alpha = np.full((*pixels.shape[:2], 1), opaque, pixels.dtype)
    return np.concatenate([colors, alpha], axis=2)


# libpng's weights, in 1/32768.
_RED, _GREEN = 9797, 19234
_BLUE = 32768 - _RED - _GREEN


def _gray(pixels: Any) -> Any:
    values = pixels.astype(np.uint32)
    red, green, blue = values[:, :, 0], values[:, :, 1], values[:, :, 2]
    half = 16384 if pixels.dtype == np.uint16 else 0
    gray = (red * _RED + green * _GREEN + blue * _BLUE + half) >> 15
    # Where the channels are equal libpng takes them as they are.
    gray = np.where((red == green) & (red == blue), red, gray)
    return gray.astype(pixels.dtype)[:, :, None]


def _decode_gif(contents: bytes) -> Any:
    """uint8 [frames, height, width, 3]."""
    from PIL import GifImagePlugin, ImageSequence

    try:
        image = GifImagePlugin.GifImageFile(io.BytesIO(contents))
        frames: list[Any] = []
        for frame in ImageSequence.Iterator(image):
            if (len(frames) + 1) * frame.width * frame.height * 3 >= _MAX_BYTES:
                raise ValueError("too large")
            frames.append(np.array(frame.convert("RGB")))
        return np.stack(frames)
    except Exception:  # Pillow raises whatever its parsers run into
        raise invalid_argument(
            f"Invalid GIF data (size {len(contents)}), failed to read gif file"
        ) from None


def _only_frame(contents: bytes, channels: int) -> Any:
    frames = _decode_gif(contents)
    if channels not in (0, 3):
        raise invalid_argument(f"channels must be 0 or 3 for GIF, got {channels}")
    if len(frames) > 1:
        raise invalid_argument(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by "
            "tf.image.decode_gif or tf.image.decode_image"
        )
    return frames[0]


# --- decoders ---------------------------------------------------------------------


def _unknown(contents: bytes) -> Exception:
    if not contents:
        return invalid_argument("Expected image (JPEG, PNG, or GIF), got empty file")
    start = "".join(
        chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in contents[:16]
    )
    return invalid_argument(
        "Expected image (JPEG, PNG, or GIF), got unknown format starting with "
        f"'{start}'"
    )


def _jpeg_options(c: OpKernelConstruction) -> JpegOptions:
    ratio, method = c.get("ratio", 1), c.get("dct_method", b"")
    if ratio not in (1, 2, 4, 8):
        raise invalid_argument(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if method not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
        raise invalid_argument(
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}"
        )
    return JpegOptions(
        channels=c.get("channels", 0),
        ratio=ratio,
        fancy_upscaling=c.get("fancy_upscaling", True),
        fast=method != b"INTEGER_ACCURATE",
        recovers=c.get("try_recover_truncated", False),
    )


def _jpeg(contents: bytes, options: JpegOptions) -> Any:
    if options.channels == 4:
        raise invalid_argument("channels must be 0, 1, or 3 for JPEG, got 4")
    return decode_jpeg(contents, options)


@host_kernel(["DecodePng", "DecodeJpeg"], large=True)
def decode(c: OpKernelConstruction) -> Compute:
    """A PNG, a JPEG or a GIF of one frame; either op takes all three."""
    _check_channels(c["channels"])
    wide = c.get("dtype") == dtypes.uint16
    options = _jpeg_options(c)
    return lambda contents: _of_three(_scalar(contents), options, wide)


def _of_three(data: bytes, options: JpegOptions, wide: bool = False) -> Any:
    """Pixels of a PNG, a JPEG or a GIF; only JPEGs are cropped or reduced."""
    if data.startswith(_PNG):
        return _decode_png(data, options.channels, wide)
    if not data.startswith((_JPEG, _GIF)):
        raise _unknown(data)
    if wide:
        kind = "JPEG" if data.startswith(_JPEG) else "GIF"
        raise invalid_argument(f"{kind} does not support uint16 output")
    if data.startswith(_JPEG):
        return _jpeg(data, options)
    return _only_frame(data, options.channels)


@host_kernel("DecodeGif", large=True)
def decode_gif(c: OpKernelConstruction) -> Compute:
    """All frames of a GIF; a JPEG or PNG is one frame."""
    options = _jpeg_options(c)

    def compute(contents: Any) -> Any:
        data = _scalar(contents)
        if data.startswith(_GIF):
            return _decode_gif(data)
        if data.startswith(_PNG):
            return _with_channels(_decode_png(data, 0, False), 3)[None]
        if data.startswith(_JPEG):
            return _with_channels(decode_jpeg(data, options), 3)[None]
        raise _unknown(data)

    return compute


@host_kernel("DecodeBmp", large=True)
def decode_bmp_file(c: OpKernelConstruction) -> Compute:
    """A BMP image."""
    channels = c["channels"]
    return lambda contents: decode_bmp(_scalar(contents), channels)


@host_kernel("DecodeImage", large=True)
def decode_image(c: OpKernelConstruction) -> Compute:
    """Any of the four formats, with values that fill the range of the dtype."""
    channels, dtype = c["channels"], c["dtype"]
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3 or 4, got {channels}")
    options = _jpeg_options(c)
    expands = c["expand_animations"]

    def pixels_of(data: bytes) -> Any:
        if data.startswith(_PNG):
            return _decode_png(data, channels, dtype != dtypes.uint8)
        if data.startswith(_JPEG):
            return _jpeg(data, options)
        if data.startswith((_GIF, b"BM")) and channels == 1:
            raise invalid_argument("channels must be 0 or 3 for GIF and BMP, got 1")
        if data.startswith(_GIF):
            if channels == 4:
                raise invalid_argument("channels must be 0 or 3 for GIF, got 4")
            frames = _decode_gif(data)
            return frames if expands else frames[0]
        if data.startswith(b"BM"):
            # This op, unlike DecodeBmp, takes files of other channels.
            pixels = decode_bmp(data, 0)
            return _with_channels(pixels, channels or pixels.shape[2], 255)
        raise invalid_argument(
            "Unknown image file format. One of JPEG, PNG, GIF, BMP required."
        )

    def compute(contents: Any) -> Any:
        pixels = pixels_of(_scalar(contents))
        if dtype == dtypes.float32:
            most = np.float32(1) / np.float32(np.iinfo(pixels.dtype).max)
            return pixels.astype(np.float32) * most
        if dtype == dtypes.uint16 and pixels.dtype == np.uint8:
            return pixels.astype(np.uint16) * np.uint16(256)
        return pixels

    return compute


@host_kernel("DecodeAndCropJpeg", large=True)
def decode_and_crop_jpeg(c: OpKernelConstruction) -> Compute:
    """A part of a JPEG image."""
    options = _jpeg_options(c)
    _check_channels(options.channels)

    def compute(contents: Any, window: Any) -> Any:
        data = _scalar(contents)
        if np.shape(window) != (4,):
            raise invalid_argument(
                f"crop_window must have four elements{shape_text(np.shape(window))}"
            )
        y, x, height, width = (int(v) for v in window)
        part = replace(options, window=(y, x, height, width))
        return np.ascontiguousarray(_of_three(data, part))

    return compute


@host_kernel("ExtractJpegShape", large=True)
def extract_jpeg_shape(c: OpKernelConstruction) -> Compute:
    """From the header alone."""
    dtype = c["output_type"].as_numpy_dtype

    def compute(contents: Any) -> Any:
        data = _scalar(contents)
        try:
            image = open_jpeg(data)
            if not data.startswith(_JPEG) or 0 in image.size:
                raise ValueError("not a JPEG file")
        except Exception:  # Pillow raises whatever its parsers run into
            raise invalid_argument(f"Invalid JPEG data, size {len(data)}") from None
        return np.array([image.height, image.width, len(image.layer)], dtype)

    return compute


# --- encoders ---------------------------------------------------------------------


@host_kernel("EncodePng", large=True)
def encode_png(c: OpKernelConstruction) -> Compute:
    """A PNG file's contents."""
    compression = c["compression"]
    if not -1 <= compression <= 9:
        raise invalid_argument(f"compression should be in [-1,9], got {compression}")
    level = 6 if compression < 0 else compression

    def compute(image: Any) -> Any:
        _check_png(image)
        if image.dtype == np.uint16:
            return to_strings([encode_png16(image, level)], ())
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
        _check_jpeg(image, (wanted,) if wanted else (1, 3))
        return _save(image, "JPEG", **options)

    return compute


@host_kernel("EncodeJpegVariableQuality", large=True)
def encode_jpeg_variable_quality(c: OpKernelConstruction) -> Compute:
    """A JPEG file's contents, with the quality of the step."""

    def compute(image: Any, quality: Any) -> Any:
        if np.ndim(quality):
            raise invalid_argument(
                f"quality must be scalar: {shape_text(np.shape(quality))}"
            )
        level = min(max(int(quality), 1), 100)  # as libjpeg takes others
        _check_jpeg(image, (1, 3))
        return _save(image, "JPEG", quality=level, subsampling=2, dpi=(300, 300))

    return compute


def _check_image(image: Any, channels: tuple[int, ...], text: str) -> None:
    if image.ndim != 3:
        raise invalid_argument(f"image must be 3-dimensional{shape_text(image.shape)}")
    if not image.size or image.size >= _MAX_BYTES:
        raise invalid_argument(
            f"image must have a size between 1 and 2^29, got {shape_text(image.shape)}"
        )
    if image.shape[2] not in channels:
        raise invalid_argument(f"image must have {text} channels, got {image.shape[2]}")


def _check_png(image: Any) -> None:
    if image.ndim == 3 and 0 < image.shape[2] < 5 and not image.size:
        raise errors.InternalError(None, None, "PNG encoding failed")
    _check_image(image, (1, 2, 3, 4), "1, 2, 3, or 4")


def _check_jpeg(image: Any, channels: tuple[int, ...]) -> None:
    if image.ndim == 3 and image.shape[2] in channels and not image.size:
        raise errors.InternalError(None, None, "JPEG encoding failed")
    _check_image(image, channels, " or ".join(map(str, channels)))


def _save(image: Any, kind: str, **options: Any) -> Any:
    from PIL import Image

    array = image[:, :, 0] if image.shape[2] == 1 else image
    mode = _MODES[image.shape[2]]
    picture = Image.frombuffer(
        mode, array.shape[1::-1], np.ascontiguousarray(array), "raw", mode, 0, 1
    )
    file = io.BytesIO()
    try:
        picture.save(file, kind, **options)
    except (OSError, ValueError) as error:
        raise invalid_argument(f"{kind} encoding failed: {error}") from None
    return to_strings([file.getvalue()], ())
