"""Image files are decoded bit for bit as TensorFlow 1.15.0 decodes them.

`recorded/image_files.npz` has contents of files and, under `file/decoder attrs`, their
pixels.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

RECORDED = Path(__file__).parent / "recorded" / "image_files.npz"
with np.load(RECORDED) as _file:
    EXPECTED: dict[str, Any] = dict(_file)
CASES = [key for key in EXPECTED if not key.startswith("contents/")]
CHANNELS = {f"channels={n}": {"channels": n} for n in (1, 3, 4)}
ATTRS: dict[str, dict[str, Any]] = {
    **CHANNELS,
    "ratio=2": {"ratio": 2},
    "ratio=8": {"ratio": 8},
    "dct_method='INTEGER_ACCURATE'": {"dct_method": "INTEGER_ACCURATE"},
    "fancy_upscaling=False": {"fancy_upscaling": False},
    "dtype=uint16": {"dtype": tf.uint16},
    "float": {"dtype": tf.float32, "expand_animations": False},
    "[5,7,20,30]": {"crop_window": [5, 7, 20, 30]},
    "[1,1,17,21]": {"crop_window": [1, 1, 17, 21]},
    "": {},
}
DECODERS = {
    "jpeg": tf.image.decode_jpeg,
    "png": tf.image.decode_png,
    "bmp": tf.image.decode_bmp,
    "gif": tf.image.decode_gif,
    "image": tf.image.decode_image,
    "crop": tf.image.decode_and_crop_jpeg,
}


def contents(name: str) -> bytes:
    return bytes(EXPECTED[f"contents/{name}"].tobytes())


@pytest.mark.parametrize("case", CASES)
def test_decoded_pixels(case: str) -> None:
    name, how = case.split("/")
    decoder, _, attrs = how.partition(" ")
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = session.run(DECODERS[decoder](contents(name), **ATTRS[attrs]))
    assert pixels.dtype == EXPECTED[case].dtype
    assert np.array_equal(pixels, EXPECTED[case])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_keeps_everything(dtype: Any, channels: int) -> None:
    limit = np.iinfo(dtype).max
    image = np.random.RandomState(0).randint(0, limit, (7, 5, channels)).astype(dtype)
    decoded = tf.image.decode_png(
        tf.image.encode_png(tf.constant(image)), dtype=tf.as_dtype(dtype)
    )
    with tf.Session() as session:
        assert np.array_equal(session.run(decoded), image)


def test_jpeg_comes_close() -> None:
    y, x = np.mgrid[0:40, 0:50]
    image = np.stack(
        [127 + 100 * np.sin(x / 9), 127 + 100 * np.cos(y / 9), 2 * (x + y)]
    )
    image = image.transpose(1, 2, 0).astype(np.uint8)
    good = tf.image.decode_jpeg(tf.image.encode_jpeg(image, quality=95))
    bad = tf.image.adjust_jpeg_quality(image, 5)
    with tf.Session() as session:
        errors = [
            np.abs(session.run(y).astype(int) - image).mean() for y in (good, bad)
        ]
    assert errors[0] < 2 < errors[1]


def _with_png_size(width: int, height: int) -> bytes:
    png = bytearray(contents("pngrgb"))
    png[16:24] = struct.pack(">II", width, height)
    png[29:33] = struct.pack(">I", zlib.crc32(bytes(png[12:29])))
    return bytes(png)


def _with_bmp_size(width: int, height: int) -> bytes:
    bmp = bytearray(contents("bmp24"))
    bmp[18:26] = struct.pack("<ii", width, height)
    return bytes(bmp)


def _with_jpeg_size(width: int, height: int) -> bytes:
    jpeg = bytearray(contents("jpg2False"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(jpeg)


HOSTILE = {
    "no bytes": b"",
    "text": b"hello world",
    "a JPEG's first bytes": b"\xff\xd8\xff\xe0",
    "half a JPEG": contents("jpg2False")[:900],
    "half a PNG": contents("pngrgb")[:3000],
    "half a 16-bit PNG": contents("png16rgb")[:3000],
    "a huge PNG": _with_png_size(200_000, 200_000),
    "a large PNG of few bytes": _with_png_size(10_000, 10_000),
    "a PNG of no rows": _with_png_size(60, 0),
    "a huge JPEG": _with_jpeg_size(65_000, 65_000),
    "an empty JPEG": _with_jpeg_size(0, 0),
    "half a GIF": contents("gif3")[:5000],
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("decode", [tf.image.decode_png, tf.image.decode_jpeg])
def test_bad_files_are_refused(name: str, decode: Any) -> None:
    """InvalidArgumentError, and no memory for images that are not there."""
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError),
    ):
        session.run(decode(HOSTILE[name]))


@pytest.mark.parametrize(
    "file",
    [
        _with_bmp_size(100_000, 100_000),
        _with_bmp_size(-5, 10),
        _with_bmp_size(5, 0),
        contents("bmp24")[:500],
        contents("bmp24")[:20],
    ],
)
def test_bad_bmp_files_are_refused(file: bytes) -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tf.image.decode_bmp(file, channels=3))


def test_changed_bytes_never_escape() -> None:
    """Whatever a file holds, decoding gives pixels or an InvalidArgumentError."""
    rng = np.random.RandomState(0)
    file = tf.placeholder(tf.string, [])
    decoded = [tf.image.decode_jpeg(file).op, tf.image.decode_gif(file).op]
    decoded += [tf.image.decode_png(file, dtype=tf.uint16).op]
    decoded += [tf.image.decode_bmp(file, channels=3).op]
    names = ("jpg2False", "pngpal", "png16rgb", "gif3", "bmp24")
    with tf.Session() as session:
        for name in names:
            for _ in range(4):
                changed = bytearray(contents(name))
                for _ in range(rng.randint(1, 6)):
                    changed[rng.randint(min(len(changed), 80))] = rng.randint(256)
                cut = bytes(changed[: rng.randint(len(changed) + 1)])
                for op in decoded:
                    for value in (bytes(changed), cut):
                        try:
                            session.run(op, {file: value})
                        except tf.errors.InvalidArgumentError:
                            continue
