"""WebP files as TensorFlow 2.21 reads them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# [2, 3, 3] and [2, 3, 4], lossless.
_RGB = base64.b64decode(
    "UklGRj4AAABXRUJQVlA4TDEAAAAvAkAAAC8gFkxD1zCSSkHaBizcNVixYBq6JhVG8x+pzsyZOVDINgIc"
    "utfjFC6i/7G8AA=="
)
_RGBA = base64.b64decode(
    "UklGRlYAAABXRUJQVlA4TEkAAAAvAkAAEC9AmG30msMwBnH+HIckECA2ZIjw3yGDMNtIY+8RDOL8OQ5D"
    "IRtJkMZirMF7/hyHEaz+P+PaCRAAAgHKWHHBMhH9j7MCAA=="
)


def _decoded(contents: bytes, channels: int = 0) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.raw_ops.DecodeWebP(contents=contents, channels=channels))


@pytest.mark.parametrize(("contents", "depth"), [(_RGB, 3), (_RGBA, 4)])
def test_one_frame(contents: bytes, depth: int) -> None:
    wanted = (np.arange(6 * depth) * 29 % 256).reshape(1, 2, 3, depth)
    for channels in (0, depth):
        found = _decoded(contents, channels)
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("contents", "channels", "told"),
    [
        (b"", 0, "empty"),
        (b"junk", 0, "Unknown image file format"),
        (b"RIFFxxxxWEBPVP8 ", 0, "Failed to decode"),
        (_RGB[:40], 0, "Failed to decode"),
        (_RGB, 1, "3 or 4"),
        (_RGB, 2, "0, 1, 3 or 4"),
        (_RGB, 4, "does not match"),
        (_RGBA, 3, "does not match"),
    ],
)
def test_what_cannot_be_read(contents: bytes, channels: int, told: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _decoded(contents, channels)


def test_shape() -> None:
    with tf.Graph().as_default():
        image = tf.raw_ops.DecodeWebP(contents=_RGBA, channels=4)
        assert image.shape.as_list() == [None, None, None, 4]
