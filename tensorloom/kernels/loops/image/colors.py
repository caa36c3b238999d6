"""Pixels of three channels, one at a time, with TensorFlow's formulas.

Constants are float32, which leaves pixels of float64 in their dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def _sector(red: Any, green: Any, blue: Any) -> int:
    """The sixth of the circle of hues."""
    if red < green:
        return 1 if blue < red else (3 if blue > green else 2)
    return 0 if blue < green else (4 if blue > red else 5)


@loop
def _colors(sector: int, high: Any, middle: Any, low: Any) -> Any:
    """(red, green, blue) by the order that they have in a sector, 0 to 5."""
    red = middle if sector == 1 or sector == 4 else low
    green = middle if sector == 0 or sector == 3 else low
    blue = middle if sector == 2 or sector == 5 else low
    return (
        high if sector == 0 or sector == 5 else red,
        high if sector == 1 or sector == 2 else green,
        high if sector == 3 or sector == 4 else blue,
    )


@loop
def turn_hue(pixels: Any, turn: Any, wraps: bool, out: Any) -> None:
    """The hue turned.

    Args:
      pixels, out: float32 [n, 3].
      turn: in sixths of a circle, float32.
      wraps: whether it is a circle or more.
    """
    one, six = np.float32(1), np.float32(6)
    for i in range(len(pixels)):
        red, green, blue = pixels[i, 0], pixels[i, 1], pixels[i, 2]
        if red != red or green != green or blue != blue:
            out[i, 0] = out[i, 1] = out[i, 2] = np.float32(np.nan)
            continue
        low, high = min(red, green, blue), max(red, green, blue)
        hue = np.float32(0)
        if low != high:
            middle = max(min(red, green), min(max(red, green), blue))
            share = (middle - low) / (high - low)
            sector = _sector(red, green, blue)
            hue = np.float32(sector) + (share if sector % 2 == 0 else one - share)
        hue += turn
        # fmod is exact, as are the steps of 6 that TensorFlow takes near the range.
        # For less than a turn those steps are all of it.
        if wraps:
            hue = np.fmod(hue, six)
        hue = hue + six if hue < 0 else hue
        hue = hue - six if hue >= six else hue
        sector = int(hue) if 0 <= hue < 6 else 5  # NaN
        share = hue - np.float32(sector)
        share = share if sector % 2 == 0 else one - share
        middle = low + share * (high - low)
        out[i, 0], out[i, 1], out[i, 2] = _colors(sector, high, middle, low)


@loop
def scale_saturation(pixels: Any, scale: Any, out: Any) -> None:
    """The saturation scaled and kept in 0 to 1; [n, 3] and the scale float32."""
    zero, one, two = np.float32(0), np.float32(1), np.float32(2)
    for i in range(len(pixels)):
        red, green, blue = pixels[i, 0], pixels[i, 1], pixels[i, 2]
        if red != red or green != green or blue != blue:
            out[i, 0] = out[i, 1] = out[i, 2] = np.float32(np.nan)
            continue
        value = max(red, green, blue)
        spread = value - min(red, green, blue)
        hue = _hue(red, green, blue, value, spread)
        saturation = (spread / value if value > 0 else zero) * scale
        saturation = zero if saturation < 0 else saturation
        saturation = one if saturation > 1 else saturation
        chroma = saturation * value
        turn = hue * np.float32(6)
        within = turn - np.floor(turn * np.float32(0.5)) * two
        middle = chroma * (one - abs(within - one))
        base = value - chroma
        # Only a hue of exactly one turn falls out of the six sectors: no colour at all.
        sector = int(turn) if 0 <= turn < 6 else 6
        red, green, blue = _colors(sector, chroma, middle, zero)
        out[i, 0], out[i, 1], out[i, 2] = red + base, green + base, blue + base


@loop
def _hue(red: Any, green: Any, blue: Any, value: Any, spread: Any) -> Any:
    """In 0 to 1; the sums are doubles, as in TensorFlow's kernel."""
    if spread <= 0:
        return np.float32(0)
    norm = np.float32(1) / (np.float32(6) * spread)
    if red == value:
        hue = norm * (green - blue)
    elif green == value:
        hue = np.float32(np.float64(norm * (blue - red)) + 2.0 / 6.0)
    else:
        hue = np.float32(np.float64(norm * (red - green)) + 4.0 / 6.0)
    return hue + np.float32(1) if hue < 0 else hue


@loop
def hsv_to_rgb(pixels: Any, out: Any) -> None:
    """Hue, saturation and value to red, green and blue; [n, 3] of any float."""
    one, two = np.float32(1), np.float32(2)
    for i in range(len(pixels)):
        turn = pixels[i, 0] * np.float32(6)
        saturation, value = pixels[i, 1], pixels[i, 2]
        rest = -saturation + one
        red = _between(abs(turn - np.float32(3)) - one)
        green = _between(-abs(turn - two) + two)
        blue = _between(-abs(turn - np.float32(4)) + two)
        out[i, 0] = (rest + saturation * red) * value
        out[i, 1] = (rest + saturation * green) * value
        out[i, 2] = (rest + saturation * blue) * value


@loop
def _between(share: Any) -> Any:
    """Kept in 0 to 1; NaN stays."""
    share = np.float32(0) if share < 0 else share
    return np.float32(1) if share > 1 else share


@loop
def draw_boxes(images: Any, boxes: Any, palette: Any) -> None:
    """Outlines of boxes drawn into images, without the sides outside of them.

    Args:
      images: [batch, height, width, channels].
      boxes: float32 [batch, n, 4]: top, left, bottom, right in shares of an image.
      palette: [at least 1, channels] of the images' dtype; the boxes' colours by turns.
    """
    _, height, width, _ = images.shape
    for b in range(len(images)):
        for n in range(boxes.shape[1]):
            top = _edge(boxes[b, n, 0], height)
            left = _edge(boxes[b, n, 1], width)
            bottom = _edge(boxes[b, n, 2], height)
            right = _edge(boxes[b, n, 3], width)
            if _NOWHERE in (top, left, bottom, right) or top > bottom or left > right:
                continue
            if top >= height or bottom < 0 or left >= width or right < 0:
                continue
            sides = top, left, bottom, right
            _outline(images[b], sides, palette[n % len(palette)])


_NOWHERE = -(1 << 40)


@loop
def _edge(share: Any, size: int) -> int:
    """A place on an axis, which may be outside; `_NOWHERE` if there is none."""
    place = share * np.float32(size - 1)
    if not np.isfinite(place):
        return _NOWHERE
    # Whatever is further away is as much outside.
    return int(min(max(place, np.float32(-1e9)), np.float32(1e9)))


@loop
def _outline(image: Any, sides: Any, color: Any) -> None:
    top, left, bottom, right = sides
    height, width, channels = image.shape
    for c in range(channels):
        for x in range(max(left, 0), min(right, width - 1) + 1):
            if top >= 0:
                image[top, x, c] = color[c]
            if bottom < height:
                image[bottom, x, c] = color[c]
        for y in range(max(top, 0), min(bottom, height - 1) + 1):
            if left >= 0:
                image[y, left, c] = color[c]
            if right < width:
                image[y, right, c] = color[c]
