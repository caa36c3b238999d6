"""Images as `scipy.misc` of SciPy 1.2 read, scaled and wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("PIL")

from tensorloom.compat.legacy import scipy_misc


def test_files(tmp_path: Path) -> None:
    pixels = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    path = tmp_path / "image.png"
    scipy_misc.imsave(str(path), pixels)
    np.testing.assert_array_equal(scipy_misc.imread(str(path)), pixels)
    gray = scipy_misc.imread(str(path), flatten=True)
    assert (gray.shape, gray.dtype) == ((5, 6), np.float32)
    assert scipy_misc.imread(str(path), mode="L").shape == (5, 6)


@pytest.mark.parametrize(
    ("size", "shape"), [((10, 12), (10, 12, 3)), (50, (3, 3, 3)), (2.0, (12, 14, 3))]
)
def test_sizes(size: Any, shape: tuple[int, ...]) -> None:
    pixels = np.zeros((6, 7, 3), np.uint8)
    assert scipy_misc.imresize(pixels, size).shape == shape
    assert scipy_misc.imresize(pixels, size, interp="nearest").shape == shape


def test_bytes_are_scaled() -> None:
    scaled = scipy_misc.bytescale(np.array([[0.0, 1.0], [3.0, 4.0]]))
    assert scaled.tolist() == [[0, 64], [191, 255]]
    limited = scipy_misc.bytescale(np.array([-1.0, 0.5, 2.0]), cmin=0, cmax=1)
    assert limited.tolist() == [0, 128, 255]
    assert scipy_misc.bytescale(np.array([3, 3])).tolist() == [0, 0]
    with pytest.raises(ValueError, match="larger than"):
        scipy_misc.bytescale(np.array([1.0]), cmin=2, cmax=1)


@pytest.mark.parametrize(
    ("shape", "mode", "size"),
    [
        ((4, 5), None, "L"),
        ((4, 5), "F", "F"),
        ((4, 5), "I", "I"),
        ((4, 5), "P", "P"),
        ((5, 6, 3), None, "RGB"),
        ((3, 5, 6), None, "RGB"),
        ((5, 6, 4), None, "RGBA"),
        ((5, 6, 3), "YCbCr", "YCbCr"),
    ],
)
def test_modes(shape: tuple[int, ...], mode: str | None, size: str) -> None:
    image = scipy_misc.toimage(np.ones(shape), mode=mode)
    assert image.mode == size


def test_what_is_no_image() -> None:
    with pytest.raises(ValueError, match="suitable array shape"):
        scipy_misc.toimage(np.ones((5, 6, 7)))
    with pytest.raises(ValueError, match="complex"):
        scipy_misc.toimage(np.ones((5, 6)) * 1j)
    with pytest.raises(TypeError, match="not a PIL image"):
        scipy_misc.fromimage(np.ones(3))


def test_turned_by_a_quarter() -> None:
    pixels = np.zeros((3, 3), np.uint8)
    pixels[0, 2] = 255
    assert scipy_misc.imrotate(pixels, 90, "nearest")[0, 0] == 255
