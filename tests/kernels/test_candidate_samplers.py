"""Candidate samplers, beside classes recorded from TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.candidate_draws import (
    Draws,
    LogUniformDraws,
    SamplesAhead,
    UniformDraws,
    draw,
    draw_from_rows,
)
from tensorloom.kernels.host.philox import Stream

_TRUE = np.array([[1, 3], [2, 4], [49, 0]], np.int64)
# Two steps of each.
SAMPLED: dict[str, list[list[int]]] = {
    "uniform": [[11, 48, 22, 42, 8, 30, 26, 38], [27, 45, 44, 35, 33, 8, 48, 4]],
    "log uniform": [[8, 3, 1, 12, 28, 2, 16, 0], [25, 16, 12, 18, 0, 1, 14, 13]],
    "learned": [[43, 31, 40, 21, 48, 38, 10, 4], [7, 42, 47, 36, 19, 27, 0, 43]],
    "fixed": [[27, 26, 34, 4, 10, 48, 18, 26], [37, 41, 6, 6, 19, 34, 28, 27]],
}


def _sampler(name: str) -> Any:
    unigrams = [float(i % 7 + 1) for i in range(50)]
    return {
        "uniform": lambda: tf.nn.uniform_candidate_sampler(_TRUE, 2, 8, True, 50, 3),
        "log uniform": lambda: tf.nn.log_uniform_candidate_sampler(
            _TRUE, 2, 8, True, 50, 4
        ),
        "learned": lambda: tf.nn.learned_unigram_candidate_sampler(
            _TRUE, 2, 8, True, 50, 5
        ),
        "fixed": lambda: tf.nn.fixed_unigram_candidate_sampler(
            _TRUE, 2, 8, False, 50, unigrams=unigrams, seed=5, distortion=0.75
        ),
    }[name]()


@pytest.mark.parametrize("name", SAMPLED)
def test_seeded_samples_are_those_of_tensorflow(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        sampler = _sampler(name)
        steps = [session.run(sampler)[0].tolist() for _ in range(2)]
    assert steps == SAMPLED[name]


def test_learned_counts_change_the_expectations() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sampler = _sampler("learned")
        before, after = (session.run(sampler)[1] for _ in range(2))
    assert (after > before).all()


@pytest.mark.parametrize("count", [1, 7, 300, 5000])
def test_long_and_short_samples_agree(count: int) -> None:
    """The words come in blocks; where a block ends must not be seen."""
    draws = []
    for size in (count, 6000):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            sampler = tf.nn.log_uniform_candidate_sampler(
                _TRUE, 2, size, False, 100_000, seed=2
            )
            draws.append(session.run(sampler)[0])
    np.testing.assert_array_equal(draws[0], draws[1][:count])


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("draws", [LogUniformDraws(40), UniformDraws(50)])
def test_samples_made_ahead_are_those_of_their_steps(
    draws: Draws, unique: bool
) -> None:
    stride, count = 4096, 8
    ahead = SamplesAhead(draws, stride, count, unique)
    start = Stream(7, 11 << 64)
    # More steps than are made at one time, and some of them twice.
    for step in [*range(250), 3, 249, 100]:
        stream = start.skip(step * stride)
        sampled, tries = ahead.sample(stream)
        alone, tries_alone = SamplesAhead(draws, stride, count, unique).sample(stream)
        assert (sampled.tolist(), tries) == (alone.tolist(), tries_alone)
        assert len(sampled) == count


def test_unseeded_samples_differ() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sampler = tf.nn.log_uniform_candidate_sampler(_TRUE, 2, 8, True, 10_000)
        steps = {tuple(session.run(sampler)[0].tolist()) for _ in range(60)}
    assert len(steps) == 60
    assert all(len(set(step)) == 8 for step in steps)
    assert all(0 <= c < 10_000 for step in steps for c in step)


@pytest.mark.parametrize("bound", [3, 9, 60, 10**6, 2**58, 2**63 - 1])
@pytest.mark.parametrize("count", [1, 7, 16])
def test_samples_of_many_rows_are_those_of_each(count: int, bound: int) -> None:
    rows = np.random.default_rng(count).integers(0, bound, (9, 28))
    rows[3] = bound - 1
    made = draw_from_rows(rows, count)
    for row, sample in zip(rows, made, strict=True):
        is_known = len(set(row.tolist())) >= count and bound < 2**59
        assert (sample is not None) == is_known
        if sample is not None:
            classes, tries = draw(iter([row]), count, unique=True)
            assert sample[0].tolist() == classes.tolist()
            assert sample[1] == tries
