"""Buckets, sequences in segments, and resampling, beside what they must give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.training import rejection

training = tf.contrib.training


def _until_end(fetches: Any) -> list[Any]:
    """What a program with queue runners gives until its input ends."""
    found = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return found


def test_elements_of_a_bucket_come_together() -> None:
    number = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue()
    length = tf.mod(number, 4) + 1
    lengths, batch = training.bucket_by_sequence_length(
        length,
        [tf.range(length)],
        batch_size=2,
        bucket_boundaries=[3],
        dynamic_pad=True,
        allow_smaller_final_batch=True,
    )
    assert lengths.shape.as_list() == [None]
    found = _until_end([lengths, batch])
    assert sum(len(sizes) for sizes, _ in found) == 12
    for sizes, values in found:
        assert len({size >= 3 for size in sizes}) == 1
        steps = values[0] if isinstance(values, list) else values
        assert steps.shape == (len(sizes), max(sizes))


def test_states_go_on_from_segment_to_segment() -> None:
    number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    batch = training.batch_sequences_with_states(
        input_key=tf.as_string(number),
        input_sequences={"x": tf.ones([5, 1])},
        input_context={"n": number},
        input_length=None,
        initial_states={"count": 0.0},
        num_unroll=2,
        batch_size=1,
        num_threads=1,
    )
    count = batch.state("count") + tf.reduce_sum(batch.sequences["x"], [1, 2])
    save = batch.save_state("count", count)
    found = _until_end([batch.context["n"], batch.sequence, batch.length, count, save])
    rows = [tuple(int(v[0]) for v in row[:4]) for row in found]
    assert sorted(rows) == [
        (n, i, length, total)
        for n in range(3)
        for i, (length, total) in enumerate([(2, 2), (2, 4), (1, 5)])
    ]


def test_sequences_are_padded() -> None:
    from tensorloom.contrib.training.sequence_batches import padded

    length, values = padded({"s": ["a", "b", "c"], "x": np.ones([3, 2])}, 2)
    with tf.Session() as sess:
        assert sess.run(length) == 3
        got = sess.run(values)
    assert got["s"].tolist() == [b"a", b"b", b"c", b""]
    assert got["x"].tolist() == [[1, 1]] * 3 + [[0, 0]]


@pytest.mark.parametrize(
    ("boundaries", "error", "words"),
    [
        (3, TypeError, "must be a list or tuple"),
        ([], ValueError, "must not be empty"),
        ([2.0, 3.0], TypeError, "must be integers"),
        ([3, 3], ValueError, "3 before 3"),
    ],
)
def test_boundaries_must_increase(
    boundaries: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        training.bucket_by_sequence_length(
            tf.constant(1), [tf.constant(1)], 2, boundaries
        )


def test_rows_are_repeated_as_often_as_drawn() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    (chosen,) = training.resample_at_rate([x], tf.constant([0.0, 50.0, 1.0]), seed=1)
    with tf.Session() as sess:
        values = sess.run(chosen).tolist()
    assert 1.0 not in values
    assert 25 < values.count(2.0) < 90


def test_wanted_classes_alone() -> None:
    (data,), labels = training.stratified_sample(
        [tf.constant([[1.0], [2.0]])],
        tf.constant([0, 1]),
        target_probs=[0.0, 1.0],
        batch_size=3,
        init_probs=[0.5, 0.5],
        enqueue_many=True,
    )
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        got = sess.run([data, labels])
        coord.request_stop()
        coord.join(threads)
    assert got[0].tolist() == [[2.0]] * 3
    assert got[1].tolist() == [1] * 3


def test_inputs_of_samplers_are_checked() -> None:
    labels = tf.placeholder(tf.int32, [None])
    weights = tf.placeholder(tf.float32, [3])
    rows, checked, (chances,) = rejection.checked_inputs(
        [tf.zeros([4, 2])], labels, [weights]
    )
    fetches = [*rows, checked, chances]
    good = {labels: [0, 1, 2, 0], weights: [0.5, 0.25, 0.25]}
    with tf.Session() as session:
        assert session.run(checked, good).tolist() == [0, 1, 2, 0]
        for bad in ({labels: [0, 1, 3, 0]}, {labels: [0]}, {weights: [1, 1, 1]}):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(fetches, {**good, **bad})
    with pytest.raises(ValueError, match="the same length"):
        rejection.checked_inputs([], labels, [weights, tf.fill([2], 0.5)])
