"""JPEG files give TensorFlow's pixels, whichever package decodes them."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tensorloom.framework import errors
from tensorloom.kernels.host.image import jpeg as image_jpeg
from tensorloom.kernels.host.image.jpeg import JpegOptions, decode_jpeg

_PLAIN = JpegOptions(0, 1, True, True, False)
_RECORDED = Path(__file__).parents[1] / "recorded" / "jpeg_pixels.txt"


def _recorded() -> Iterator[Any]:
    contents = b""
    for number, line in enumerate(_RECORDED.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        first, *rest = line.split(" ")
        if first == "file":
            contents = base64.b64decode(rest[0])
            continue
        ratio, fancy, method, shape, crc = rest
        options = JpegOptions(
            int(first), int(ratio), fancy == "1", method != "INTEGER_ACCURATE", False
        )
        dims = tuple(int(size) for size in shape.split(","))
        yield pytest.param(contents, options, dims, int(crc), id=f"line {number}")


@pytest.mark.parametrize(("contents", "options", "shape", "crc"), list(_recorded()))
def test_recorded_pixels(
    contents: bytes, options: JpegOptions, shape: tuple[int, ...], crc: int
) -> None:
    pixels = decode_jpeg(contents, options)
    assert pixels.shape == shape
    assert zlib.crc32(np.ascontiguousarray(pixels).tobytes()) == crc


def _encoded(height: int, width: int, seed: int, **options: Any) -> bytes:
    noise = np.random.RandomState(seed).randint(0, 256, (height, width, 3))
    file = io.BytesIO()
    Image.fromarray(noise.astype(np.uint8)).save(file, "JPEG", **options)
    return file.getvalue()


_FILES = st.builds(
    _encoded,
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(0, 99),
    subsampling=st.sampled_from([0, 1, 2]),
    quality=st.sampled_from([30, 90]),
    progressive=st.booleans(),
)


@settings(max_examples=100, deadline=None)
@given(
    _FILES,
    st.sampled_from([0, 1, 3]),
    st.sampled_from([1, 2, 4, 8]),
    st.booleans(),
    st.booleans(),
)
def test_both_ways(
    contents: bytes, channels: int, ratio: int, fancy: bool, fast: bool
) -> None:
    """What simplejpeg decodes is what is made of Pillow's planes."""
    if not fancy and not fast:
        return  # Pillow has no accurate transform without smoothing
    options = JpegOptions(channels, ratio, fancy, fast, False)
    pixels = image_jpeg._decode_plain(contents, options)
    if pixels is not None:
        np.testing.assert_array_equal(pixels, image_jpeg._decode(contents, options))


def test_a_part_is_cut_out() -> None:
    contents = _encoded(20, 30, 0, subsampling=0)
    part = decode_jpeg(contents, replace(_PLAIN, window=(3, 5, 10, 12)))
    np.testing.assert_array_equal(part, decode_jpeg(contents, _PLAIN)[3:13, 5:17])


@pytest.mark.parametrize("end", [2, 20, 0.5, -1, -2])
def test_truncated(end: float) -> None:
    """A cut file is refused, and filled up if that is wished and there is a header."""
    contents = _encoded(40, 40, 0)
    cut = contents[: int(end * len(contents)) if isinstance(end, float) else end]
    with pytest.raises(errors.InvalidArgumentError, match="Invalid JPEG data"):
        decode_jpeg(cut, _PLAIN)
    if end in (0.5, -2):
        recovered = decode_jpeg(cut, replace(_PLAIN, recovers=True))
        assert recovered.shape == (40, 40, 3)


def test_what_libjpeg_only_warns_of() -> None:
    """Bytes that belong to nothing do not make a file bad."""
    contents = _encoded(40, 40, 0)
    at = contents.index(b"\xff\xda")  # before the scan
    flawed = contents[:at] + b"\x01\x02" + contents[at:]
    assert image_jpeg._decode_plain(flawed, _PLAIN) is None
    np.testing.assert_array_equal(
        decode_jpeg(flawed, _PLAIN), decode_jpeg(contents, _PLAIN)
    )
