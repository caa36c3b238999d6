"""Rows of stereograms: pixels that both eyes see as one point have one colour.

The algorithm is of Thimbleby, Inglis and Witten, "Displaying 3D Images: Algorithms for
Single Image Random Dot Stereograms". Random numbers are those of C's `rand`, which
TensorFlow calls: a sum of two earlier words, with a seed of 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_WORDS = 31  # of the generator's memory


def new_generator() -> Any:
    """The memory of `rand` after a seed of 1: 31 words, and the place of the next."""
    words = [1]
    for _ in range(30):
        words.append(16807 * words[-1] % 2147483647)
    # The C library takes the first three once more before it begins to add.
    generator = np.array([*words, 3], np.int64)
    for _ in range(310):
        draw(generator)
    return generator


@loop
def draw(generator: Any) -> int:
    """The next number of `rand`: the words 31 and 3 draws ago, without the last bit."""
    place = generator[31]
    word = (generator[place] + generator[(place + 28) % 31]) & 0xFFFFFFFF
    generator[place] = word
    generator[31] = (place + 1) % 31
    return int(word >> 1)


@loop
def _separation(depth: float, mu: float, eyes: int) -> int:
    """How far apart the pixels of the two eyes are, rounded as C does."""
    below = 2.0 - mu * depth
    if below == 0.0:
        return 0
    exact = (1.0 - mu * depth) * eyes / below
    rounded = math.floor(abs(exact))
    if abs(exact) - rounded >= 0.5:
        rounded += 1
    return int(rounded) if exact >= 0.0 else -int(rounded)


@loop
def _depth_at(depths: Any, x: int, y: int, window: Any, border: float) -> float:
    """The depth that pixel (x, y) shows; `window` is left, top, width, height."""
    rows, columns = depths.shape
    across = float(columns) * float(x - window[0]) / float(window[2])
    down = float(rows) * float(y - window[1]) / float(window[3])
    if across < 0.0 or down < 0.0 or down >= rows or across >= columns:
        return border
    return float(depths[int(down), int(across)])


@loop
def _is_visible(
    depths: Any,
    x: int,
    y: int,
    depth: float,
    window: Any,
    border: float,
    mu: float,
    slope: float,
) -> bool:
    """Whether nothing nearer stands between the point and an eye."""
    if slope == 0.0:
        return True
    t = 1
    while True:
        nearest = depth + 2.0 * (2.0 - mu * depth) * t / slope
        if _depth_at(depths, x - t, y, window, border) >= nearest:
            return False
        if _depth_at(depths, x + t, y, window, border) >= nearest:
            return False
        if nearest >= 1.0:
            return True
        t += 1


@loop
def _link(same: Any, left: int, right: int) -> None:
    """Makes two pixels equal; each pixel names one to its right that it equals."""
    linked = same[left]
    while linked != left and linked != right:
        if linked < right:
            left = linked
            linked = same[left]
        else:
            same[left] = right
            left = right
            linked = same[left]
            right = linked
    same[left] = right


@loop
def draw_picture(
    picture: Any,
    depths: Any,
    window: Any,
    border: float,
    mu: float,
    eyes: int,
    slope: float,
    removes_hidden: bool,
    colors: int,
    generator: Any,
) -> None:
    """Draws all pixels.

    Args:
      picture: uint8 [height, width, channels], written to.
      depths: float64 [rows, columns], from 0 (far) to 1 (near).
      window: int64, left, top, width and height of where the depths are shown.
      border: the depth around.
      mu: the depth of field as a part of the distance of the viewer.
      eyes: how far apart the eyes are, in pixels.
      slope: mu times eyes, as TensorFlow rounds it.
      removes_hidden: leave alone what only one eye sees.
      colors: 2 for black and white.
      generator: of `new_generator`.
    """
    height, width, channels = picture.shape
    same = np.empty(width, np.int64)
    for y in range(height):
        for x in range(width):
            same[x] = x
        for x in range(width):
            depth = _depth_at(depths, x, y, window, border)
            apart = _separation(depth, mu, eyes)
            # C divides towards zero.
            left = x - (apart // 2 if apart >= 0 else -(-apart // 2))
            right = left + apart
            if left < 0 or right >= width or left >= width or right < 0:
                continue
            if removes_hidden and not _is_visible(
                depths, x, y, depth, window, border, mu, slope
            ):
                continue
            _link(same, left, right)
        for x in range(width - 1, -1, -1):
            for channel in range(channels):
                if same[x] == x:
                    number = draw(generator)
                    if colors == 2:
                        picture[y, x, channel] = 255 if number % 2 else 0
                    else:
                        picture[y, x, channel] = number % 256
                else:
                    picture[y, x, channel] = picture[y, same[x], channel]
