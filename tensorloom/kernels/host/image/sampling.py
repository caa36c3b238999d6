"""Host kernels of random crops and boxes; seeded, they are TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.random.philox import Stream, uint32_to_float
from tensorloom.kernels.host.random.random_state import node_generator

_F = np.float32
_BATCH = 64


class _Draws:
    """Single numbers from a stream, one word after the other."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._words: Any = np.empty(0, np.uint32)
        self._next = 0

    def _word(self) -> int:
        if self._next == len(self._words):
            self._words = self._stream.words(_BATCH)
            self._stream = self._stream.skip(_BATCH // 4)
            self._next = 0
        word = int(self._words[self._next])
        self._next += 1
        return word

    def wide(self) -> int:
        """64 bits, the lower word first."""
        low = self._word()
        return low | self._word() << 32

    def unit(self) -> Any:
        """A float32 in [0, 1)."""
        return uint32_to_float(np.array([self._word()], np.uint32))[0]

    def below(self, limit: int) -> int:
        """An integer in [0, limit), without bias: some words are thrown away."""
        if not limit & (limit - 1):
            return self._word() & (limit - 1) if limit else 0 * self._word()
        rejected = 0xFFFFFFFF % limit + 1
        while True:
            word = self._word()
            if word >= rejected:
                return word % limit


@host_kernel("RandomCrop", large=True)
def random_crop(c: OpKernelConstruction) -> Compute:
    """A part of the wanted size."""
    generator = node_generator(c)

    def compute(image: Any, size: Any) -> Any:
        if image.ndim != 3:
            raise invalid_argument(
                f"input must be 3-dimensional{shape_text(image.shape)}"
            )
        if np.shape(size) != (2,):
            raise invalid_argument(
                f"size must have 2 elements{shape_text(np.shape(size))}"
            )
        height, width = (int(x) for x in size)
        rows, columns = image.shape[:2]
        for wanted, there, what in (
            (height, rows, "height"),
            (width, columns, "width"),
        ):
            if not 0 <= wanted <= there:
                raise invalid_argument(
                    f"{what} must not exceed the image's: {wanted} vs. {there}"
                )
        draws = _Draws(generator.reserve(1))
        top = draws.wide() % (rows - height + 1) if height < rows else 0
        left = draws.wide() % (columns - width + 1) if width < columns else 0
        return image[top : top + height, left : left + width].copy()

    return compute


# --- boxes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """Whole pixels; the right and the lower edge are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return max(self.right - self.left, 0) * max(self.bottom - self.top, 0)

    def common_area(self, other: _Rectangle) -> int:
        """The area that two rectangles share."""
        return _Rectangle(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        ).area


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a crop may look like."""

    aspect: tuple[float, float]  # width over height
    area: tuple[float, float]  # shares of the image's area
    attempts: int


def _round(value: Any) -> int:
    """Halves to even, as C's lrintf."""
    return int(np.rint(_F(value)))


def _random_crop(
    width: int, height: int, limits: _Limits, aspect: Any, draws: _Draws
) -> _Rectangle | None:
    """A crop of a given shape, None if none fits."""
    if limits.area[1] <= 0 or aspect <= 0 or width <= 0 or height <= 0:
        return None
    if limits.area[0] > limits.area[1]:
        return None
    least = _F(limits.area[0]) * _F(width) * _F(height)
    most = _F(limits.area[1]) * _F(width) * _F(height)
    rows = _round(np.sqrt(least / aspect))
    most_rows = _round(np.sqrt(most / aspect))
    if _round(_F(most_rows) * aspect) > width:
        most_rows = int((width + 0.5 - 1e-7) / float(aspect))
        if _round(_F(most_rows) * aspect) > width:
            most_rows -= 1
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += draws.below(most_rows - rows + 1)
    columns = _round(_F(rows) * aspect)
    # Rounding may have left the wanted range: one row more or less may mend it.
    if _F(columns * rows) < least:
        rows += 1
        columns = _round(_F(rows) * aspect)
    if _F(columns * rows) > most:
        rows -= 1
        columns = _round(_F(rows) * aspect)
    if not least <= _F(columns * rows) <= most:
        return None
    if not (0 < columns <= width and 0 < rows <= height):
        return None
    top = draws.below(height - rows) if rows < height else 0
    left = draws.below(width - columns) if columns < width else 0
    return _Rectangle(left, top, left + columns, top + rows)


def _covers(crop: _Rectangle, boxes: list[_Rectangle], share: Any) -> bool:
    if crop.area < 1:
        return False
    return any(
        box.area >= 1 and _F(crop.common_area(box)) / _F(box.area) >= share
        for box in boxes
    )


def _sample(
    width: int,
    height: int,
    boxes: list[_Rectangle],
    limits: _Limits,
    share: Any,
    draws: _Draws,
) -> _Rectangle:
    """A crop that covers enough of some box; the whole image if none was found."""
    low, high = (_F(x) for x in limits.aspect)
    for _ in range(limits.attempts):
        aspect = draws.unit() * (high - low) + low
        crop = _random_crop(width, height, limits, aspect, draws)
        if crop is not None and _covers(crop, boxes, share):
            return crop
    return _Rectangle(0, 0, width, height)


def _pixel_boxes(boxes: Any, width: int, height: int) -> list[_Rectangle]:
    values = boxes.reshape(-1, 4)
    if not np.isfinite(values).all() or ((values < 0) | (values > 1)).any():
        bad = values[~((values >= 0) & (values <= 1))][0]
        raise invalid_argument(
            f"All bounding box coordinates must be in [0.0, 1.0]: {bad:g}"
        )
    scale = np.array([height, width, height, width], np.float32)
    whole = (values * scale).astype(np.int64).tolist()
    return [_Rectangle(x1, y1, x2, y2) for y1, x1, y2, x2 in whole]


def _check_limits(limits: _Limits, share: float) -> None:
    # In which order they are is not checked: see `_random_crop`.
    low, high = limits.area
    if not (0 < low <= 1 and 0 < high <= 1):
        raise invalid_argument(f"Area range must be in (0, 1], got {low:g}, {high:g}")
    low, high = limits.aspect
    if not (low > 0 and high > 0):
        raise invalid_argument(
            f"Aspect ratio range must be positive, got {low:g}, {high:g}"
        )
    if limits.attempts <= 0:
        raise invalid_argument(f"Max attempts must be positive: {limits.attempts}")
    if share < 0:
        raise invalid_argument(f"Min object covered must be non-negative: {share:g}")


def _limits(c: OpKernelConstruction) -> _Limits:
    for what in ("aspect_ratio_range", "area_range"):
        if len(c[what]) != 2:
            raise invalid_argument(f"{what} field must specify 2 dimensions")
    aspect, area = tuple(c["aspect_ratio_range"]), tuple(c["area_range"])
    return _Limits(aspect, area, c["max_attempts"])


@host_kernel(
    [
        "SampleDistortedBoundingBox",
        "SampleDistortedBoundingBoxV2",
        "StatelessSampleDistortedBoundingBox",
    ],
    large=True,
)
def sample_distorted_bounding_box(c: OpKernelConstruction) -> Compute:
    """Begin and size for tf.slice, and the box [1, 1, 4]."""
    limits = _limits(c)
    fixed = c.get("min_object_covered", 0.0)
    _check_limits(limits, fixed)
    whole_if_none = c["use_image_if_no_bounding_boxes"]
    dtype = c["T"].as_numpy_dtype
    stream = _streams(c, limits)

    def compute(image_size: Any, boxes: Any, *more: Any) -> Any:
        height, width, _ = _image_size(image_size)
        share = _covered_share(more[0]) if more else fixed
        _check_limits(limits, share)
        if boxes.ndim != 3:
            raise invalid_argument(
                "input boxes must be 3-dimensional [batch, num_boxes, coords]: "
                f"{shape_text(boxes.shape)}"
            )
        if boxes.shape[-1] != 4:
            raise invalid_argument(
                "bounding boxes must have shape [4] or [*, 4], got "
                f"{shape_text(boxes.shape)}"
            )
        targets = _pixel_boxes(boxes, width, height)
        if not targets:
            if not whole_if_none:
                raise invalid_argument(
                    "No bounding boxes provided as input. One must enable "
                    "use_image_if_no_bounding_boxes if you wish to not provide any "
                    "bounding boxes."
                )
            targets = [_Rectangle(0, 0, width, height)]
        draws = _Draws(stream(more))
        crop = _sample(width, height, targets, limits, _F(share), draws)
        begin = np.array([crop.top, crop.left, 0], dtype)
        rows, columns = crop.bottom - crop.top, crop.right - crop.left
        size = np.array([rows, columns, -1]).astype(dtype)
        edges = np.array([crop.top, crop.left, crop.bottom, crop.right], np.float32)
        sides = np.array([height, width, height, width], np.float32)
        return begin, size, (edges / sides).reshape(1, 1, 4)

    return compute


def _streams(c: OpKernelConstruction, limits: _Limits) -> Callable[[Any], Stream]:
    """Where each step's numbers come from: the node's generator, or its seed input."""
    if not c.op.startswith("Stateless"):
        generator = node_generator(c)
        return lambda more: generator.reserve(limits.attempts)

    from tensorloom.kernels.host.random.stateless_random import seeded_stream

    return lambda more: seeded_stream(more[1])


def _image_size(image_size: Any) -> tuple[int, int, int]:
    if image_size.ndim != 1:
        raise invalid_argument(
            f"image_size must be 1-dimensional: {shape_text(image_size.shape)}"
        )
    if len(image_size) != 3:
        raise invalid_argument(
            f"image_size must contain 3 elements: {shape_text(image_size.shape)}"
        )
    height, width, channels = (int(x) for x in image_size)
    if height <= 0 or width <= 0:
        what, value = ("height", height) if height <= 0 else ("width", width)
        raise invalid_argument(f"Image {what} must be positive: {value}")
    for what, value in (("height", height), ("width", width)):
        if value >= 2**31 - 1:
            raise invalid_argument(f"image {what} cannot be >= int32 max")
    return height, width, channels


def _covered_share(value: Any) -> float:
    if np.ndim(value):
        raise invalid_argument(
            f"min_object_covered must be 0-D, got shape {shape_text(np.shape(value))}"
        )
    return float(value)
