"""Pooling over unequal regions is what NumPy says of each region by itself."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ROWS, COLUMNS = [0, 2, 3, 6, 7], [0, 1, 4, 5]
SHAPE = (2, 7, 5, 3)


def _values(dtype: Any) -> Any:
    values = np.random.RandomState(0).randint(-9, 9, SHAPE).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[0, 0, 0, 1] = values[1, 4, 2, 2] = np.nan
        values[1, 6, 4, 0] = -np.inf
    return values


def _regions(overlap: bool) -> Any:
    for y, (top, bottom) in enumerate(pairwise(ROWS)):
        for x, (left, right) in enumerate(pairwise(COLUMNS)):
            rows = slice(top, bottom + overlap)
            yield y, x, rows, slice(left, right + overlap)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("op", ["FractionalMaxPool", "FractionalAvgPool"])
def test_pooled(op: str, dtype: Any, overlap: bool) -> None:
    values = _values(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        pooled, rows, columns = getattr(tf.raw_ops, op)(
            value=values,
            pooling_ratio=[1.0, 1.7, 1.5, 1.0],
            overlapping=overlap,
            deterministic=True,
            seed=1,
            seed2=2,
        )
        pooled, rows, columns = session.run([pooled, rows, columns])
    assert pooled.dtype == dtype
    for y in range(len(rows) - 1):
        for x in range(len(columns) - 1):
            part = values[
                :,
                rows[y] : rows[y + 1] + overlap,
                columns[x] : columns[x + 1] + overlap,
            ]
            if op == "FractionalMaxPool":
                expected = part.max(axis=(1, 2))
            elif np.dtype(dtype).kind == "f":
                expected = part.mean(axis=(1, 2))
            else:
                expected = np.trunc(part.mean(axis=(1, 2)))
            np.testing.assert_allclose(pooled[:, y, x], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_gradient_of_maxima(dtype: Any, overlap: bool) -> None:
    values = _values(dtype)
    grads = np.random.RandomState(1).randint(1, 9, (2, 4, 3, 3)).astype(dtype)
    expected = np.zeros_like(values)
    for y, x, rows, columns in _regions(overlap):
        part = values[:, rows, columns]
        flat = part.reshape(2, -1, 3).argmax(1)
        for b, c in np.ndindex(2, 3):
            r, q = divmod(int(flat[b, c]), part.shape[2])
            target = rows.start + r, columns.start + q
            expected[(b, *target, c)] += grads[b, y, x, c]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.raw_ops.FractionalMaxPoolGrad(
                orig_input=values,
                orig_output=grads,
                out_backprop=grads,
                row_pooling_sequence=np.array(ROWS, np.int64),
                col_pooling_sequence=np.array(COLUMNS, np.int64),
                overlapping=overlap,
            )
        )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("overlap", [False, True])
def test_gradient_of_means(overlap: bool) -> None:
    grads = np.random.RandomState(1).randint(1, 9, (2, 4, 3, 3)).astype(np.float32)
    expected = np.zeros(SHAPE)
    for y, x, rows, columns in _regions(overlap):
        part = expected[:, rows, columns]
        part += (grads[:, y, x] / (part.shape[1] * part.shape[2]))[:, None, None]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.raw_ops.FractionalAvgPoolGrad(
                orig_input_tensor_shape=np.array(SHAPE, np.int64),
                out_backprop=grads,
                row_pooling_sequence=np.array(ROWS, np.int64),
                col_pooling_sequence=np.array(COLUMNS, np.int64),
                overlapping=overlap,
            )
        )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_no_channels_and_no_images() -> None:
    for shape in ((0, 7, 5, 3), (2, 7, 5, 0)):
        with tf.Graph().as_default(), tf.Session() as session:
            pooled = tf.raw_ops.FractionalMaxPool(
                value=np.zeros(shape, np.float32), pooling_ratio=[1.0, 1.7, 1.5, 1.0]
            )[0]
            assert session.run(pooled).shape == (shape[0], 4, 3, shape[3])
