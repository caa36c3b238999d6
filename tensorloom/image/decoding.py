"""`tf.image.decode_image`: the format is found when the step runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.image.conversion import convert_image_dtype
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.image import codec as image_codec_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.strings import transform as string_transform_ops


@export("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether contents look like a JPEG file's; scalar bool."""
    with name_scope(name, "is_jpeg"):
        first = string_transform_ops.substr(contents, 0, 3)
        return math_ops.equal(first, b"\xff\xd8\xff", name=name)


def _is_png(contents: Any) -> Tensor:
    with name_scope(None, "is_png"):
        first = string_transform_ops.substr(contents, 0, 3)
        return math_ops.equal(first, b"\x89PN", name=None)


def _only_channels(allowed: str, format: str) -> list[str]:
    return [f"Channels must be in {allowed} when decoding {format} images"]


class _Decoder:
    """The branches of one `decode_image`."""

    def __init__(
        self, contents: Any, channels: int | None, dtype: Any, expands: bool
    ) -> None:
        self._contents = contents
        self._given = channels
        self._channels = 0 if channels is None else channels
        self._dtype = dtype
        self._expands = expands
        self._first = string_transform_ops.substr(contents, 0, 3)

    def _under(self, checks: list[Any], decode: Callable[[], Tensor]) -> Tensor:
        with control_dependencies(checks):
            return convert_image_dtype(decode(), self._dtype)

    def jpeg_or_else(self) -> Tensor:
        """All formats."""
        found: Tensor = cond(
            is_jpeg(self._contents), self._jpeg, self._png_or_else, name="cond_jpeg"
        )
        return found

    def _jpeg(self) -> Tensor:
        is_good = math_ops.not_equal(self._channels, 4, name="check_jpeg_channels")
        message = _only_channels("(None, 0, 1, 3)", "JPEG")
        check = control_flow_ops.Assert(is_good, message)
        return self._under(
            [check],
            lambda: image_codec_ops.decode_jpeg(self._contents, self._channels),
        )

    def _png_or_else(self) -> Tensor:
        found: Tensor = cond(
            _is_png(self._contents), self._png, self._gif_or_else, name="cond_png"
        )
        return found

    def _png(self) -> Tensor:
        is_small = self._dtype == dtypes.uint8
        depth = dtypes.uint8 if is_small else dtypes.uint16
        image = image_codec_ops.decode_png(self._contents, self._channels, dtype=depth)
        return convert_image_dtype(image, self._dtype)

    def _gif_or_else(self) -> Tensor:
        is_gif = math_ops.equal(self._first, b"GIF", name="is_gif")
        found: Tensor = cond(is_gif, self._gif, self._bmp, name="cond_gif")
        return found

    def _gif(self) -> Tensor:
        is_good = math_ops.logical_and(
            math_ops.not_equal(self._channels, 1, name="check_gif_channels"),
            math_ops.not_equal(self._channels, 4, name="check_gif_channels"),
        )
        check = control_flow_ops.Assert(is_good, _only_channels("(None, 0, 3)", "GIF"))
        with control_dependencies([check]):
            frames = convert_image_dtype(
                image_codec_ops.decode_gif(self._contents), self._dtype
            )
            return frames if self._expands else array_ops.gather(frames, 0)

    def _bmp(self) -> Tensor:
        signature = string_transform_ops.substr(self._contents, 0, 2)
        is_bmp = math_ops.equal(signature, "BM", name="is_bmp")
        message = "Unable to decode bytes as JPEG, PNG, GIF, or BMP"
        is_image = control_flow_ops.Assert(is_bmp, [message])
        is_good = math_ops.not_equal(self._channels, 1, name="check_channels")
        check = control_flow_ops.Assert(is_good, _only_channels("(None, 0, 3)", "BMP"))
        return self._under(
            [is_image, check], lambda: image_codec_ops.decode_bmp(self._contents)
        )


@export("image.decode_image", "io.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """An image from the contents of a JPEG, PNG, GIF or BMP file.

    Args:
      channels: of the result; None or 0 takes what the file has.
      dtype: of the result, whose range the values fill.
      expand_animations: all frames [frames, height, width, 3] of a GIF, otherwise its
        first one.

    Raises:
      ValueError: the number of channels is not one of 0, 1, 3 and 4.
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        decoder = _Decoder(contents, channels, dtype, expand_animations)
        return decoder.jpeg_or_else()
