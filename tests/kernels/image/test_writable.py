"""What a session gives may be written to, decoded images and messages too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_PIXELS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.image.decode_png(tf.image.encode_png(_PIXELS)),
        lambda: tf.image.decode_jpeg(tf.image.encode_jpeg(_PIXELS)),
        lambda: tf.parse_tensor(tf.serialize_tensor(_PIXELS), tf.uint8),
    ],
    ids=["png", "jpeg", "message"],
)
def test_results_can_be_changed(make: Any) -> None:
    with tf.Session() as session:
        values = session.run(make())
    values[0, 0] = 7
    assert values[0, 0].tolist() == [7, 7, 7]
