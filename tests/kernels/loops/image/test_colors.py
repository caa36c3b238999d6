"""Colours of single pixels, and outlines of boxes."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

GRAYS = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5]]
CORNERS = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]]
TIES = [[0.5, 0.5, 0.1], [0.1, 0.5, 0.5], [0.5, 0.1, 0.5], [0.1, 0.1, 0.7]]


def _pixels(dtype: Any = np.float32) -> Any:
    others = np.random.RandomState(0).rand(100, 3)
    return np.concatenate([GRAYS, CORNERS, TIES, others])[None].astype(dtype)


def _run(op: str, images: Any, **arguments: Any) -> Any:
    name = "inputs" if op == "HSVToRGB" else "images"
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(images.dtype, [None] * images.ndim)
        inputs = {("images" if name == "inputs" else name): fed, **arguments}
        return session.run(getattr(tf.raw_ops, op)(**inputs), {fed: images})


def _each(images: Any, function: Any) -> Any:
    return np.array([[function(*map(float, pixel)) for pixel in images[0]]])


@pytest.mark.parametrize("delta", [0.0, 0.1, -0.3, 0.99, 1.0, -2.7, 5.5])
def test_hue(delta: float) -> None:
    def turned(red: float, green: float, blue: float) -> Any:
        hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
        return colorsys.hsv_to_rgb((hue + delta) % 1, saturation, value)

    found = _run("AdjustHue", _pixels(), delta=np.float32(delta))
    np.testing.assert_allclose(found, _each(_pixels(), turned), atol=1e-5)


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, 3.0, -1.0])
def test_saturation(scale: float) -> None:
    def scaled(red: float, green: float, blue: float) -> Any:
        hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
        return colorsys.hsv_to_rgb(hue, min(max(saturation * scale, 0), 1), value)

    found = _run("AdjustSaturation", _pixels(), scale=np.float32(scale))
    np.testing.assert_allclose(found, _each(_pixels(), scaled), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_hsv(dtype: Any) -> None:
    images = _pixels(dtype)
    found = _run("HSVToRGB", images)
    assert found.dtype == dtype
    expected = _each(images, colorsys.hsv_to_rgb)
    np.testing.assert_allclose(found, expected, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("op", ["AdjustHue", "AdjustSaturation", "HSVToRGB"])
def test_nan_stays_in_its_pixel(op: str) -> None:
    images = _pixels()
    images[0, 20, 1] = np.nan
    arguments: Any = {"AdjustHue": {"delta": 0.2}, "AdjustSaturation": {"scale": 0.5}}
    found = _run(op, images, **arguments.get(op, {}))
    assert np.isnan(found).any(axis=-1).nonzero()[1].tolist() == [20]


@pytest.mark.parametrize("op", ["AdjustHue", "AdjustSaturation", "HSVToRGB"])
def test_no_pixels(op: str) -> None:
    arguments: Any = {"AdjustHue": {"delta": 0.2}, "AdjustSaturation": {"scale": 0.5}}
    images = np.zeros((0, 5, 3), np.float32)
    assert _run(op, images, **arguments.get(op, {})).shape == (0, 5, 3)


INF, NAN = np.inf, np.nan
# The rows of an image of 5 by 6 pixels by the box.
DRAWN = {
    "whole": ([0, 0, 1, 1], ["######", "#....#", "#....#", "#....#", "######"]),
    "inside": ([0.25, 0.2, 0.75, 0.6], ["......", ".###..", ".#.#..", ".###.."]),
    "one pixel": ([0.5, 0.4, 0.5, 0.4], ["......", "......", "..#..."]),
    "reaches out": (
        [0.5, 0.4, 1.5, 9],
        ["......", "......", "..####", "..#...", "..#..."],
    ),
    "far out": ([-1e30, 0.4, 1e30, 0.6], ["..##.."] * 5),
    "beside": ([1.3, 0, 1.5, 1], []),
    "upside down": ([0.75, 0.2, 0.25, 0.6], []),
    "infinite": ([0, 0, INF, 1], []),
    "nan": ([0, NAN, 1, 1], []),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", DRAWN)
def test_drawn(name: str, dtype: Any) -> None:
    box, lines = DRAWN[name]
    images = np.zeros((2, 5, 6, 1), dtype)
    boxes = np.array([[box], [[2, 2, 3, 3]]], np.float32)
    found = _run("DrawBoundingBoxes", images, boxes=boxes)
    rows = ["".join(".#"[int(x)] for x in row) for row in found[0, ..., 0]]
    assert rows == lines + ["......"] * (5 - len(lines))
    assert not found[1].any()
    assert not images.any()


def test_colors_by_turns() -> None:
    images = np.zeros((1, 3, 3, 3), np.float32)
    corner = [0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0]
    colors = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
    boxes = np.array([corner], np.float32)
    found = _run("DrawBoundingBoxesV2", images, boxes=boxes, colors=colors)
    assert found[0, 0, 0].tolist() == found[0, 2, 0].tolist() == [1, 2, 3]
    assert found[0, 0, 2].tolist() == [5, 6, 7]
