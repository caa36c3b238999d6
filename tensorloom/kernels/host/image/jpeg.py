"""JPEG files' pixels, bit for bit as TensorFlow decodes them.

TensorFlow asks libjpeg for its fast integer transform together with "fancy" (smooth)
chroma upsampling. The package simplejpeg passes on both wishes, and decodes most files.
It refuses those with a flaw that libjpeg only warns of, and knows neither parts of an
image nor CMYK; these go through Pillow.

Pillow offers the fast transform only together with plain upsampling, which repeats
chroma samples. So for files with subsampled chroma the planes are decoded plainly,
every second sample is taken as what the file holds, and the smoothing and the
conversion to RGB are done here, with libjpeg's arithmetic.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import InvalidArgumentError, invalid_argument

# TensorFlow refuses images of more bytes than that.
_MAX_BYTES: Final = 1 << 29
_PLAIN_COLORS: Final = frozenset(["Gray", "YCbCr", "RGB"])
# simplejpeg reduces as far as the wanted sides allow: a smaller image could be reduced
# further than by the ratio.
_UNAMBIGUOUS: Final = 8
# From (Cb, Y, Cr) to RGB: libjpeg's coefficients. The green ones are 16-bit fixed
# point numbers there; here they and their sums are exact in float32.
_FROM_CB: Final = -22554 / 65536
_FROM_CR: Final = -46802 / 65536
_TO_RGB: Final = (
    *(0, 1, 1.402, -1.402 * 128),
    *(_FROM_CB, 1, _FROM_CR, -(_FROM_CB + _FROM_CR) * 128),
    *(1.772, 1, 0, -1.772 * 128),
)


@dataclass(frozen=True, slots=True)
class JpegOptions:
    """The attrs of the decoding ops."""

    channels: int  # 1, 3, or 0 for what the file has
    ratio: int  # 1, 2, 4 or 8: sides are divided by it
    fancy_upscaling: bool  # smooth chroma
    fast: bool  # the fast integer transform, not the accurate one
    recovers: bool  # whether a truncated file is filled up with gray
    window: tuple[int, int, int, int] | None = None  # y, x, height, width of a part


def _invalid(contents: bytes) -> InvalidArgumentError:
    return invalid_argument(
        f"Invalid JPEG data or crop window, data size {len(contents)}"
    )


def open_jpeg(contents: bytes) -> Any:
    """The image with its header read.

    Raises:
      Exception: whatever Pillow raises for a file that it does not understand.
    """
    from PIL import JpegImagePlugin

    return JpegImagePlugin.JpegImageFile(io.BytesIO(contents))


def decode_jpeg(contents: bytes, options: JpegOptions) -> Any:
    """Pixels [height, width, channels] of uint8.

    Raises:
      InvalidArgumentError: the file is bad, truncated or too large.
    """
    pixels = _decode_plain(contents, options)
    if pixels is not None:
        return pixels
    try:
        return _decode(contents, options)
    except InvalidArgumentError:
        raise
    except Exception:  # Pillow raises whatever its parsers run into
        if options.recovers:
            return _recovered(contents, options)
        raise _invalid(contents) from None


def _decode_plain(contents: bytes, options: JpegOptions) -> Any:
    """Pixels of a whole file without flaws; None if this is none."""
    import simplejpeg

    if options.window is not None:
        return None
    try:
        height, width, colors, _ = simplejpeg.decode_jpeg_header(contents)
        channels = options.channels or (1 if colors == "Gray" else 3)
        if colors not in _PLAIN_COLORS or height * width * channels >= _MAX_BYTES:
            return None
        ratio = options.ratio
        if ratio > 1 and max(height, width) < _UNAMBIGUOUS:
            return None
        return simplejpeg.decode_jpeg(
            contents,
            "GRAY" if channels == 1 else "RGB",
            fastdct=options.fast,
            fastupsample=not options.fancy_upscaling,
            min_height=-(-height // ratio),
            min_width=-(-width // ratio),
            min_factor=ratio,
        )
    except (ValueError, KeyError):  # the latter for a sampling without a name
        return None


def _recovered(contents: bytes, options: JpegOptions) -> Any:
    try:
        # With an end marker libjpeg takes what is missing for gray.
        return _decode(contents + b"\xff\xd9", options)
    except Exception:  # Pillow raises whatever its parsers run into
        raise _invalid(contents) from None


def _decode(contents: bytes, options: JpegOptions) -> Any:
    image = open_jpeg(contents)
    width, height = image.size
    channels = options.channels or (1 if image.mode == "L" else 3)
    if not 0 < width * height * channels < _MAX_BYTES:
        raise _invalid(contents)
    if image.mode == "CMYK":
        _set_up(image, "CMYK", options.ratio, options.fast)
        pixels = _from_cmyk(np.array(image), "adobe" in image.info, channels)
        return _cropped(pixels, options.window)
    if channels == 1 or image.mode == "L":
        # The luma plane alone: no chroma, so nothing to smooth.
        _set_up(image, "L", options.ratio, options.fast)
        luma = _cropped(np.array(image)[:, :, None], options.window)
        return luma if channels == 1 else np.repeat(luma, 3, axis=2)
    if _needs_smoothing(image, options):
        _set_up(image, "YCbCr", 1, True)
        return _smoothed(image, _sampling(image), options.window)
    _set_up(image, image.mode, options.ratio, _is_quick(image, options))
    return _cropped(np.array(image), options.window)


_Window = tuple[int, int, int, int] | None


def _cropped(pixels: Any, window: _Window) -> Any:
    """A part of an image.

    Raises:
      ValueError: it does not lie in the image.
    """
    if window is None:
        return pixels
    y, x, height, width = window
    fits = min(y, x) >= 0 and min(height, width) > 0
    if not fits or y + height > pixels.shape[0] or x + width > pixels.shape[1]:
        raise ValueError("the window is not in the image")
    return pixels[y : y + height, x : x + width]


def _needs_smoothing(image: Any, options: JpegOptions) -> bool:
    """Whether Pillow has no way to the wanted pixels: see the module's docstring.

    libjpeg smooths chroma that is more than two samples wide.
    """
    if not options.fancy_upscaling or not options.fast or options.ratio > 1:
        return False
    across = _sampling(image)[0]
    is_wide = -(-image.size[0] // across) > 2
    return _sampling(image) in ((2, 1), (2, 2)) and is_wide and _is_ycc(image)


def _is_quick(image: Any, options: JpegOptions) -> bool:
    """Whether Pillow's draft mode gives the wanted pixels."""
    sampling = _sampling(image)
    if sampling == (1, 1):
        return options.fast
    if sampling == (2, 2) and options.ratio > 1:
        # Chroma of half the size of luma is reduced one step less: nothing is left to
        # upsample, and chroma that is not reduced at all has a fast transform.
        return options.fast
    if not options.fancy_upscaling:
        return True
    is_wide = -(-image.size[0] // sampling[0]) > 2
    return options.fast and options.ratio == 1 and not is_wide


def _sampling(image: Any) -> tuple[int, int]:
    """How many luma samples a chroma sample stands for, across and down."""
    layers = image.layer
    if len(layers) < 3:
        return 1, 1
    return layers[0][1] // layers[1][1], layers[0][2] // layers[1][2]


def _is_ycc(image: Any) -> bool:
    """Whether the file holds YCbCr: marked as JFIF, or not as RGB."""
    if "jfif" in image.info:
        return True
    if "adobe" in image.info:
        return bool(image.info.get("adobe_transform", 1) == 1)
    return [layer[0] for layer in image.layer] != [ord(c) for c in "RGB"]


def _set_up(image: Any, mode: str, ratio: int, quick: bool) -> None:
    """Chooses what the decoder makes: colours, size and transform.

    `quick` is Pillow's draft mode: the fast transform and plain upsampling.
    """
    width, height = image.size
    size = (-(-width // ratio), -(-height // ratio))
    raw = mode + ";I" if mode == "CMYK" else mode
    tile = image.tile[0]._replace(extents=(0, 0, *size), args=(raw, ""))
    image._mode = mode
    image._size = size
    image.tile = [tile]
    image.decoderconfig = (ratio, 1 if quick else 0)


def _from_cmyk(pixels: Any, is_adobe: bool, channels: int) -> Any:
    """TensorFlow's own conversion; Pillow has turned Adobe's inverted values over."""
    if channels == 1:
        raise ValueError("CMYK files have no gray form")
    inks = pixels.astype(np.uint16)
    inks = 255 - inks if is_adobe else inks
    return (inks[..., :3] * inks[..., 3:] // 255).astype(np.uint8)


# --- smooth chroma ----------------------------------------------------------------

# Cb and Cr travel together, in the lower and the upper half of 32 bits.
_BOTH: Final = np.uint32(0x10001)
_BYTES: Final = np.uint32(0x00FF00FF)


def _smoothed(image: Any, sampling: tuple[int, int], window: _Window) -> Any:
    """RGB pixels of an image of YCbCr with repeated chroma samples.

    Of a part of an image libjpeg decodes whole blocks from the left, and smooths as if
    nothing were beyond its sides.
    """
    from PIL import Image

    width, height = image.size
    packed = _packed(image)
    if window is not None:
        y, x, rows, columns = window
        _cropped(packed, window)
        begin = x // (8 * sampling[0]) * (8 * sampling[0])
        packed = packed[:, begin : x + columns]
        width, window = packed.shape[1], (y, x - begin, rows, columns)
    chroma = packed[:: sampling[1], :: sampling[0]]
    chroma = (chroma >> np.uint32(8)) & np.uint32(0xFF) | chroma & np.uint32(0xFF0000)
    # Bytes Cb, Y, Cr: then luma and the two halves of chroma need no more shifts.
    pixels = (packed & np.uint32(0xFF)) << np.uint32(8)
    if sampling == (2, 2):
        _add_quarters(pixels, chroma)
    else:
        _add_halves(pixels, chroma)
    source = Image.frombytes("RGB", (width, height), pixels.tobytes(), "raw", "RGBX")
    return _cropped(np.array(source.convert("RGB", _TO_RGB)), window)


def _packed(image: Any) -> Any:
    """uint32 [height, width] with Y, Cb and Cr in the three lower bytes."""
    image.load()
    width, height = image.size
    packed = np.frombuffer(image.tobytes("raw", "YCbCrX"), "<u4")
    return packed.reshape(height, width)


def _add_halves(pixels: Any, chroma: Any) -> None:
    """Chroma of half the width: 3/4 of the nearer sample, 1/4 of the farther one."""
    before, after = _neighbours(chroma)
    thrice = chroma * np.uint32(3)
    left = (thrice + before + _BOTH) >> np.uint32(2)
    right = (thrice + after + _BOTH * np.uint32(2)) >> np.uint32(2)
    # At the edges, the only sample: (3 x + x + 1) / 4 is x.
    _put(pixels, left & _BYTES, right & _BYTES)


def _add_quarters(pixels: Any, chroma: Any) -> None:
    """Chroma of half the width and height: 9, 3, 3 and 1 sixteenths."""
    rows, columns = chroma.shape
    thrice = chroma * np.uint32(3)
    blended = np.empty((rows, 2, columns), np.uint32)
    np.add(thrice[1:], chroma[:-1], out=blended[1:, 0])
    np.add(thrice[:1], chroma[:1], out=blended[:1, 0])
    np.add(thrice[:-1], chroma[1:], out=blended[:-1, 1])
    np.add(thrice[-1:], chroma[-1:], out=blended[-1:, 1])
    blended = blended.reshape(2 * rows, columns)[: len(pixels)]
    before, after = _neighbours(blended)
    blended = blended * np.uint32(3)
    before += blended
    before += _BOTH * np.uint32(8)
    before >>= np.uint32(4)
    after += blended
    after += _BOTH * np.uint32(7)
    after >>= np.uint32(4)
    before &= _BYTES
    after &= _BYTES
    _put(pixels, before, after)


def _neighbours(samples: Any) -> tuple[Any, Any]:
    """The samples to the left and to the right; the edges stand for themselves."""
    before, after = np.empty_like(samples), np.empty_like(samples)
    before[:, 1:], before[:, 0] = samples[:, :-1], samples[:, 0]
    after[:, :-1], after[:, -1] = samples[:, 1:], samples[:, -1]
    return before, after


def _put(pixels: Any, left: Any, right: Any) -> None:
    pixels[:, ::2] |= left
    odd = pixels[:, 1::2]
    odd |= right[:, : odd.shape[1]]
