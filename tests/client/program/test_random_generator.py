"""`tf.random.experimental.Generator`: TensorFlow 1.15's numbers for a seed."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


def test_state_of_a_seed() -> None:
    create = tf.random.experimental.create_rng_state
    assert create(5, 1).tolist() == [5, 0, 0]
    assert create((1 << 64) + 7, 2).tolist() == [7, 1]
    assert create([1, 2, 3], 1).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="Unsupported algorithm"):
        create(1, 9)


def test_draws_move_the_state_on() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        generator = tf.random.experimental.Generator.from_seed(7)
        drawn = generator.uniform_full_int([2], dtype=tf.int64)
        binomial = generator.binomial([3], 60.0, 0.3, dtype=tf.float64)
        sess.run(generator.state.initializer)
        first, second = sess.run(drawn), sess.run(drawn)
        assert (first != second).all()
        assert sess.run(generator.state)[0] == 7 + 2 * 2 * 256
        assert ((sess.run(binomial) >= 0) & (sess.run(binomial) <= 60)).all()
        sess.run(generator.reset_from_seed(7))
        np.testing.assert_array_equal(sess.run(drawn), first)


def test_split_and_global_generator() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        generator = tf.random.experimental.Generator.from_seed(3)
        tf.random.experimental.set_global_generator(generator)
        assert tf.random.experimental.get_global_generator() is generator
        seeds = generator.make_seeds(4)
        sess.run(tf.global_variables_initializer())
        assert sess.run(seeds).shape == (2, 4)
