"""Summaries, byte for byte as TensorFlow 1.15 makes them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tensorloom as tf

# Recorded from TensorFlow 1.15.
SCALAR = "0a080a01781500006040"
MOST = sys.float_info.max


def test_scalar_and_merge() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = tf.summary.scalar("x", 3.5)
        rate = tf.summary.scalar("learning rate", 0.5, family="rates")
        merged = tf.summary.merge_all()
        assert [loss.name, rate.name, merged.name] == [
            "x:0",
            "rates/learning_rate:0",
            "Merge/MergeSummary:0",
        ]
        first, second, both = session.run([loss, rate, merged])
    assert first.hex() == SCALAR
    assert both == first + second
    parsed = tf.Summary.FromString(both)
    assert [v.tag for v in parsed.value] == ["x", "rates/rates/learning_rate"]


def test_tags_in_branches_and_loops() -> None:
    """They are those of the scopes around, as TensorFlow 1.15 builds bodies there."""
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])

    def scalar(name: str, value: tf.Tensor = x) -> tf.Tensor:
        return tf.summary.scalar(name, value)

    def nested() -> tf.Tensor:
        with tf.name_scope("s"):
            return tf.cond(x > 0, lambda: scalar("loss"), lambda: scalar("loss"))

    def image() -> tf.Tensor:
        return tf.summary.image("i", tf.zeros([1, 3, 3, 1]), family="fam")

    @tf.function
    def function(v: tf.Tensor) -> tf.Tensor:
        return tf.cond(v > 0, lambda: scalar("loss", v), lambda: scalar("other", v))

    def step(i: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, scalar("step", tf.cast(i, tf.float32))

    with tf.name_scope("out"):
        fetches = [
            tf.cond(p, lambda: scalar("loss"), lambda: scalar("loss"), name="pick"),
            tf.cond(p, nested, image),
        ]
    fetches += [
        tf.while_loop(lambda i, _: i < 2, step, [0, tf.constant("")])[1],
        tf.case([(p, lambda: scalar("a"))], default=lambda: scalar("c")),
        tf.switch_case(
            tf.cast(p, tf.int32), [lambda: scalar("a"), lambda: scalar("b")]
        ),
        tf.map_fn(lambda v: scalar("mapped", v), tf.constant([1.0]), tf.string)[0],
        function(x),
    ]
    expected = {
        (True, 1.0): "out/pick/loss out/cond/s/cond/loss while/step case/cond/a b "
        "map/while/mapped loss",
        (True, -1.0): "out/pick/loss out/cond/s/cond/loss_1 while/step case/cond/a b "
        "map/while/mapped other",
        (
            False,
            1.0,
        ): "out/pick/loss_1 fam/out/cond/fam/i/image/0 while/step case/cond/c "
        "a map/while/mapped loss",
    }
    with tf.Session() as session:
        for (taken, value), tags in expected.items():
            got = session.run(fetches, {p: taken, x: value})
            parsed = [tf.Summary.FromString(data).value[0].tag for data in got]
            assert parsed == tags.split()


def test_nothing_to_merge() -> None:
    with tf.Graph().as_default():
        assert tf.summary.merge_all() is None


@pytest.mark.parametrize(
    ("values", "least", "most", "filled"),
    [
        ([0.0, -0.0], "0.0", "0.0", [1e-12]),
        ([-0.0, 0.0], "-0.0", "-0.0", [1e-12]),
        ([-MOST, 1.0, MOST], str(-MOST), str(MOST), [None, None, MOST]),
        ([], str(MOST), str(-MOST), []),
    ],
    ids=["zeros", "zeros, negative first", "largest numbers", "nothing"],
)
def test_ends_of_histograms(
    values: list[float], least: str, most: str, filled: list[float | None]
) -> None:
    with tf.Session() as session:
        tensor = tf.constant(values, tf.float64)
        data = session.run(tf.summary.histogram("h", tensor))
    histogram = tf.Summary.FromString(data).value[0].histo
    assert (str(histogram.min), str(histogram.max)) == (least, most)
    counted = zip(histogram.bucket, histogram.bucket_limit, strict=True)
    limits = [limit for count, limit in counted if count]
    assert len(limits) == len(filled)
    for limit, expected in zip(limits, filled, strict=True):
        assert expected in (None, limit)


def test_histogram() -> None:
    values = np.array([1.0, 2.0, -3.0, 0.0, 5e-13, 1e19], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        data = session.run(tf.summary.histogram("h", values))
    histogram = tf.Summary.FromString(data).value[0].histo
    assert (histogram.num, histogram.min) == (6.0, -3.0)
    assert sum(histogram.bucket) == 6.0
    assert len(histogram.bucket) == len(histogram.bucket_limit)


@pytest.mark.parametrize(
    ("rate", "hertz"),
    [(8000.7, 8001), (8000.5, 8000), (8001.5, 8002), (0.4, 1), (2.0**31, 2**31)],
)
def test_clips_have_whole_hertz(rate: float, hertz: int) -> None:
    below_half = np.nextafter(np.float32(0.5 / 32768), np.float32(0))
    clip = np.array([[below_half, 0.5 / 32768, -1.5 / 32768, 2.0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        data = session.run(tf.summary.audio("a", clip, rate))
    audio = tf.Summary.FromString(data).value[0].audio
    assert audio.sample_rate == np.float32(rate)
    sound = audio.encoded_audio_string
    assert int.from_bytes(sound[24:28], "little") == hertz
    assert int.from_bytes(sound[28:32], "little") == hertz * 2 % 2**32
    assert np.frombuffer(sound[44:], "<i2").tolist() == [0, 1, -2, 32767]


@pytest.mark.parametrize(
    ("shape", "rate", "problem"),
    [
        ([1, 0, 1], 8000.0, "audio is null"),
        ([1, 5, 0], 8000.0, "audio is null"),
        ([1, 5, 1], 1e10, r"sample_rate must be in \(0, 2\^32\), got: 10000000000"),
        ([1, 5, 1], 0.0, "sample_rate must be > 0"),
    ],
)
def test_clips_that_cannot_be_files(
    shape: list[int], rate: float, problem: str
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        clips = tf.summary.audio("a", tf.zeros(shape), rate)
        with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
            session.run(clips)


def test_errors() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = tf.summary.scalar("x", 1.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag x"):
            session.run(tf.summary.merge([one, one]))
        bad = tf.summary.histogram("h", [np.nan])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary"):
            session.run(bad)
