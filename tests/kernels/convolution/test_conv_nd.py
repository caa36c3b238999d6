"""Conv is Conv2D or Conv3D of any batch, and a single volume is as many are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def test_a_batch_of_two_dimensions() -> None:
    # As TensorFlow 2.21 has it (recorded).
    image = (np.arange(48) % 7).reshape(2, 1, 3, 4, 2).astype(np.float32)
    filters = (np.arange(24) % 5).reshape(2, 2, 2, 3).astype(np.float32)
    found = _run(
        lambda: tf.raw_ops.Conv(
            input=image,
            filter=filters,
            strides=[1, 1, 2, 1],
            padding="SAME",
            batch_dims=2,
        )
    )
    assert found.reshape(2, 3, 2, 3).tolist() == [
        [
            [[32, 33, 29], [32, 59, 61]],
            [[46, 50, 44], [39, 55, 41]],
            [[33, 22, 21], [9, 8, 17]],
        ],
        [
            [[67, 70, 53], [32, 33, 29]],
            [[32, 59, 61], [46, 50, 44]],
            [[22, 29, 11], [33, 22, 21]],
        ],
    ]


@pytest.mark.parametrize("spatial", [2, 3])
@pytest.mark.parametrize("batch", [(), (2,), (2, 1, 3)])
@pytest.mark.parametrize("groups", [1, 2])
def test_as_the_ops_of_one_rank(
    spatial: int, batch: tuple[int, ...], groups: int
) -> None:
    random = np.random.RandomState(0)
    image = random.randn(*batch, *[5] * spatial, 4).astype(np.float32)
    filters = random.randn(*[2] * spatial, 4 // groups, 6).astype(np.float32)
    strides = [1, 2, *[1] * spatial]
    op = tf.nn.conv2d if spatial == 2 else tf.nn.conv3d
    flat = image.reshape(-1, *image.shape[len(batch) :])
    wanted = _run(lambda: op(flat, filters, strides=strides, padding="SAME"))
    given = dict(filter=filters, strides=strides, padding="SAME", groups=groups)
    found = _run(lambda: tf.raw_ops.Conv(input=image, batch_dims=len(batch), **given))
    np.testing.assert_allclose(
        found, wanted.reshape(batch + wanted.shape[1:]), 1e-4, 1e-5
    )
    first = _run(
        lambda: tf.raw_ops.Conv(
            input=np.moveaxis(image, -1, len(batch)),
            batch_dims=len(batch),
            data_format="CHANNELS_FIRST",
            **{**given, "strides": [1, 1, 2, *[1] * (spatial - 1)]},
        )
    )
    np.testing.assert_allclose(np.moveaxis(first, len(batch), -1), found, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("attrs", "told"),
    [
        ({"batch_dims": -1}, "non-negative"),
        ({"batch_dims": 0}, "must be rank 5"),
        ({"batch_dims": 2}, "rank 4 or 5"),
        ({"strides": [1, 1]}, "Stride attribute should contain 4"),
        ({"dilations": [1, 1]}, "dilation attribute to contain 4"),
        ({"groups": 2}, "does not match with groups"),
        ({"groups": 3}, "should divide input depth"),
        ({"padding": "EXPLICIT"}, "explicit_paddings"),
    ],
)
def test_attrs_that_do_not_fit(attrs: dict[str, Any], told: str) -> None:
    given = {"strides": [1, 1, 1, 1], "padding": "SAME", "batch_dims": 1, **attrs}
    with tf.Graph().as_default(), pytest.raises(ValueError, match=told):
        tf.raw_ops.Conv(
            input=np.zeros((1, 4, 4, 4)), filter=np.zeros((2, 2, 4, 6)), **given
        )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_single_volume(padding: str, stride: int, groups: int) -> None:
    random = np.random.RandomState(1)
    volume = random.randn(1, 5, 6, 7, 4).astype(np.float32)
    filters = random.randn(3, 2, 3, 4 // groups, 6).astype(np.float32)
    strides = [1, stride, stride, stride, 1]

    def convolved(x: Any, w: Any) -> Any:
        return _run(lambda: tf.nn.conv3d(x, w, strides, padding))

    wanted = convolved(np.repeat(volume, 2, 0).astype(np.float64), filters)[:1]
    found = convolved(volume, filters)
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)
