"""Images, boxes, sounds and signals come out as TensorFlow 1.15.0's.

`recorded/image_programs.npz` has the values of each program's fetches.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tests.image.image_programs import PROGRAMS

RECORDED = Path(__file__).parent / "recorded" / "image_programs.npz"


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    """Dtypes, shapes and values; integers exactly."""
    with tf.Graph().as_default(), tf.Session() as session:
        values = session.run(PROGRAMS[name]())
    with np.load(RECORDED) as expected:
        for index, value in enumerate(values):
            want = expected[f"{name}/{index}"]
            assert np.asarray(value).dtype == want.dtype
            assert np.shape(value) == want.shape
            if want.dtype.kind in "iu":
                assert np.array_equal(value, want), index
            else:
                # float32 sums in another order, of values up to 100.
                scale = float(np.abs(want).max(initial=1.0))
                np.testing.assert_allclose(value, want, rtol=1e-4, atol=3e-6 * scale)


@pytest.mark.parametrize("align", [False, True])
def test_bilinear_resizing_is_exact(align: bool) -> None:
    """One colour stays that colour: TensorFlow's interpolation never rounds it off."""
    image = np.full((1, 5, 7, 3), 255, np.uint8)
    resized = tf.image.resize_bilinear(image, [13, 29], align_corners=align)
    with tf.Session() as session:
        assert (session.run(resized) == 255).all()
