"""Attrs beyond 32 bits: refused where and as TensorFlow 1.15 refuses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

BIG = 2**31 + 5
raw: Any = tf.raw_ops


def _matrix() -> Any:
    return tf.constant([[1.0, 2.0], [3.0, 4.0]])


def _image(depth: int = 1) -> Any:
    return tf.ones([1, 4, 4, depth])


def _window(op: str, **attrs: Any) -> Any:
    ones = [1, 1, 1, 1]
    given = {"padding": "VALID", "ksize": ones, "strides": ones, **attrs}
    return getattr(raw, op)(**given)


#: Refused by a shape function, as the node is made: what builds it, the attr.
BUILDS: list[tuple[Callable[[], Any], str]] = [
    (lambda: raw.Pack(values=[_matrix()], axis=BIG), "axis"),
    (lambda: raw.Unpack(value=_matrix(), num=2, axis=BIG), "axis"),
    (
        lambda: raw.OneHot(indices=[1], depth=3, on_value=1.0, off_value=0.0, axis=BIG),
        "axis",
    ),
    (
        lambda: raw.GatherV2(params=_matrix(), indices=[0], axis=0, batch_dims=BIG),
        "batch_dims",
    ),
    (lambda: _window("AvgPool", value=_image(), ksize=[1, BIG, 1, 1]), "ksize"),
    (lambda: _window("MaxPool", input=_image(), strides=[1, 1, BIG, 1]), "strides"),
    (
        lambda: raw.Conv2D(
            input=_image(),
            filter=tf.ones([1, 1, 1, 1]),
            strides=[1, 1, 1, 1],
            padding="VALID",
            dilations=[1, BIG, BIG, 1],
        ),
        "dilations",
    ),
    (lambda: raw.DepthToSpace(input=_image(4), block_size=BIG), "block_size"),
    (lambda: raw.SpaceToDepth(input=_image(), block_size=BIG), "block_size"),
    (lambda: raw.DecodePng(contents=b"", channels=BIG), "channels"),
]
#: Refused by a kernel.
RUNS: list[tuple[Callable[[], Any], str]] = [
    (lambda: raw.AsString(input=_matrix(), width=BIG), "width"),
    (lambda: raw.EncodeJpeg(image=tf.zeros([2, 2, 3], tf.uint8), quality=BIG), "quali"),
    (
        lambda: raw.StringNGrams(
            data=["a"],
            data_splits=tf.constant([0, 1], tf.int64),
            separator=" ",
            ngram_widths=[BIG],
            left_pad="",
            right_pad="",
            pad_width=0,
            preserve_short_sequences=False,
        ),
        "ngram_widths",
    ),
    (
        lambda: raw.FIFOQueueV2(component_types=[tf.float32], capacity=BIG),
        "capacity",
    ),
    (
        lambda: raw.RandomShuffleQueueV2(
            component_types=[tf.float32], capacity=3, min_after_dequeue=BIG
        ),
        "min_after_dequeue",
    ),
    (lambda: tf.Assert(True, [_matrix()], summarize=BIG), "summarize"),
]


@pytest.mark.parametrize(("build", "attr"), BUILDS)
def test_no_node_is_made(build: Callable[[], Any], attr: str) -> None:
    message = rf"Attr {attr} has value {BIG} out of range for an int32 for '.*with inp"
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(("build", "attr"), RUNS)
def test_no_step_is_compiled(build: Callable[[], Any], attr: str) -> None:
    made = build()
    message = f"Attr {attr}.* has value {BIG} out of range for an int32"
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        sess.run(made)


def test_more_tensors_than_there_can_be() -> None:
    with pytest.raises(ValueError, match=f"Attr num has value {BIG} out of range"):
        raw.Unpack(value=_matrix(), num=BIG)


def test_an_axis_is_read_once_the_rank_is_known() -> None:
    values = [tf.placeholder(tf.float32, None)]
    assert raw.Pack(values=values, axis=BIG).shape.ndims is None


def test_sixty_four_bits_where_a_kernel_reads_them() -> None:
    stage = raw.Stage(values=[_matrix()], capacity=BIG, memory_limit=BIG)
    buckets = raw.StringToHashBucketFast(input=["a"], num_buckets=BIG)
    with tf.Session() as sess:
        sess.run([stage, buckets])
