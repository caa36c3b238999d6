"""`scipy.misc`'s functions for images, on Pillow, as SciPy 1.2 had them.

With SciPy they need no more than before: Pillow. Without SciPy they are all that a
module `scipy.misc` has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_RESAMPLING = {
    "nearest": 0,
    "lanczos": 1,
    "bilinear": 2,
    "bicubic": 3,
    "cubic": 3,
}
# How many channels an image of a mode has.
_CHANNELS = {"RGB": 3, "YCbCr": 3, "RGBA": 4, "CMYK": 4}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "scipy.misc's functions for images need Pillow: pip install pillow"
        ) from error
    return Image


def bytescale(
    data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0
) -> Any:
    """Values from `cmin` to `cmax` (of the data if None) as bytes from `low` to `high`.

    Bytes stay as they are.

    Raises:
      ValueError: the limits are not in order, or not those of bytes.
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    for wrong, why in (
        (high > 255, "`high` should be less than or equal to 255."),
        (low < 0, "`low` should be greater than or equal to 0."),
        (high < low, "`high` should be greater than or equal to `low`."),
    ):
        if wrong:
            raise ValueError(why)
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    span = cmax - cmin
    if span < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (data - cmin) * ((high - low) / (float(span) or 1.0)) + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of an image of Pillow.

    Args:
      im: the image.
      flatten: as gray values of float32.
      mode: Pillow's mode to convert it to first.

    Raises:
      TypeError: it is no image.
    """
    if not isinstance(im, _pillow().Image):
        raise TypeError("Input is not a PIL image.")
    if mode is not None:
        im = im if mode == im.mode else im.convert(mode)
    elif im.mode == "P":
        # A palette may say how transparent its colours are.
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")  # Pillow's array of bits is not one of bytes
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Reads an image file: uint8 `[height, width]` or `[height, width, channels]`.

    Args:
      name: a path or a file.
      flatten: as gray values of float32.
      mode: Pillow's mode to convert it to ("RGB", "L", ...).
    """
    with _pillow().open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as an image file; values are scaled to bytes by their range.

    Args:
      name: a path or a file.
      arr: `[height, width]` or `[height, width, 3 or 4]`.
      format: of the file; by the name's ending if None.
    """
    image = toimage(arr, channel_axis=2)
    if format is None:
        image.save(name)
    else:
        image.save(name, format)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Any:
    """An image of Pillow of an array; see `bytescale` for the values.

    Args:
      arr: `[height, width]`, or of rank 3 with an axis of 3 or 4 channels.
      high, low, cmin, cmax: as for `bytescale`.
      pal: the palette of an image of mode "P", `[256, 3]`.
      mode: Pillow's mode; by the shape if None.
      channel_axis: which axis the channels are; the first of 3 or 4 if None.

    Raises:
      ValueError: the array has no such shape, complex values, or no such mode.
    """
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _gray_image(data, (high, low, cmin, cmax), pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError(
            "'arr' does not have a suitable array shape for any mode: it is "
            f"{data.shape}, not [height, width] or with an axis of 3 or 4 channels."
        )
    return _color_image(data, (high, low, cmin, cmax), mode, channel_axis)


def _gray_image(data: Any, limits: tuple[Any, ...], pal: Any, mode: str | None) -> Any:
    image = _pillow()
    high, low, cmin, cmax = limits
    if mode == "F":
        return image.fromarray(data.astype(np.float32))
    if mode in (None, "L", "P"):
        made = image.fromarray(bytescale(data, cmin, cmax, high, low))
        if pal is not None or mode == "P":
            colors = pal if pal is not None else np.repeat(np.arange(256), 3)
            made.putpalette(np.asarray(colors, np.uint8).tobytes())
        return made
    if mode == "1":
        return image.fromarray((data > high).astype(np.uint8) * 255).convert("1")
    if mode == "I":
        cmin = data.min() if cmin is None else cmin
        cmax = data.max() if cmax is None else cmax
        span = float(cmax - cmin) or 1.0
        scaled = (data * 1.0 - cmin) * (high - low) / span + low
        return image.fromarray(scaled.astype(np.int32))
    raise ValueError(f"mode {mode!r} is none of an array [height, width]")


def _color_image(
    data: Any, limits: tuple[Any, ...], mode: str | None, channel_axis: int | None
) -> Any:
    high, low, cmin, cmax = limits
    if channel_axis is None:
        counts = (3, 4) if mode is None else (_CHANNELS.get(mode, 0),)
        found = [axis for axis in range(3) if data.shape[axis] in counts]
        if not found:
            raise ValueError(f"Could not find channel dimension in {data.shape}.")
        channel_axis = found[0]
    count = data.shape[channel_axis]
    if count not in (3, 4):
        raise ValueError(f"Channel axis has {count} channels, not 3 or 4.")
    channels_last = np.moveaxis(data, channel_axis, 2)
    pixels = np.ascontiguousarray(bytescale(channels_last, cmin, cmax, high, low))
    mode = mode or ("RGB" if count == 3 else "RGBA")
    if _CHANNELS.get(mode) != count:
        raise ValueError(f"Invalid mode {mode!r} for {count} channels.")
    size = (pixels.shape[1], pixels.shape[0])
    return _pillow().frombytes(mode, size, pixels.tobytes())


def imresize(
    arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None
) -> Any:
    """An image array in another size, as bytes (see `bytescale`).

    Args:
      arr: `[height, width]` or with channels.
      size: a percentage (int), a factor (float), or `(height, width)`.
      interp: "nearest", "lanczos", "bilinear", "bicubic" or "cubic".
      mode: Pillow's mode, as for `toimage`.
    """
    image = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        wanted = tuple((np.array(image.size) * (size / 100.0)).astype(int))
    elif isinstance(size, float | np.floating):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    resized = image.resize(tuple(map(int, wanted)), resample=_RESAMPLING[interp])
    return fromimage(resized)


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """An image array turned counter-clockwise by degrees, in its own size, as bytes."""
    return fromimage(toimage(arr).rotate(angle, resample=_RESAMPLING[interp]))


def imshow(arr: Any) -> None:
    """Shows an image array in the viewer of the system."""
    toimage(arr).show()
