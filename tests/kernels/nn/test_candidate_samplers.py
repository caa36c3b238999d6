"""Candidate samplers, beside classes recorded from TensorFlow 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.nn import candidate_draws
from tensorloom.kernels.host.nn.candidate_draws import (
    Draws,
    UniformDraws,
    log_uniform_sampler,
    sample,
)
from tensorloom.kernels.host.random.philox import Stream, UInt32Array, words_to_double
from tensorloom.kernels.loops.nn import samplers

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


class _Cyclic:
    """A class for two of three words, again and again the same few at first."""

    words = 1

    def classes(self, words: UInt32Array) -> tuple[Any, int]:
        used = len(words) // 3 * 3
        kept = np.delete(words[:used].reshape(-1, 3), 2, axis=1)
        return kept.reshape(-1).astype(np.int64) % 40, used


@pytest.mark.parametrize("count", [0, 1, 7, 39, 40])
@pytest.mark.parametrize("draws", [UniformDraws(40), UniformDraws(50), _Cyclic()])
def test_samples_are_the_first_classes_of_the_stream(draws: Draws, count: int) -> None:
    # A counter whose lower half overflows within the sample.
    stream = Stream(7 << 40, (12 << 64) - 3)
    classes = draws.classes(stream.words(1 << 14))[0].tolist()
    plain, tries = sample(draws, stream, count, unique=False)
    assert plain.tolist() == classes[:count]
    assert tries == count
    distinct, tries = sample(draws, stream, count, unique=True)
    assert distinct.tolist() == list(dict.fromkeys(classes))[:count]
    assert len(set(classes[:tries])) == count
    assert len(set(classes[: max(tries - 1, 0)])) == max(count - 1, 0)


@pytest.mark.parametrize("count", [0, 1, 7, 39, 40])
def test_log_uniform_samples_are_the_first_classes_of_the_stream(count: int) -> None:
    stream = Stream(7 << 40, (12 << 64) - 3)
    words = stream.words(1 << 14)
    units = words_to_double(words[0::2], words[1::2])
    classes = [int(math.exp(u * math.log1p(40))) - 1 for u in units.tolist()]
    classes = [c % 40 for c in classes]
    plain, tries, _, _ = log_uniform_sampler(40, count, unique=False)(stream, _TRUE)
    assert plain.tolist() == classes[:count]
    assert tries == count
    distinct, tries, _, _ = log_uniform_sampler(40, count, unique=True)(stream, _TRUE)
    assert distinct.tolist() == list(dict.fromkeys(classes))[:count]
    assert len(set(classes[:tries])) == count
    assert len(set(classes[: max(tries - 1, 0)])) == max(count - 1, 0)


def test_words_are_those_of_the_generator() -> None:
    key, low, high = 0x0123456789ABCDEF, (1 << 64) - 20, 0xFEDCBA9876543210
    words = np.empty(400, np.uint32)
    samplers.fill_words(*map(np.uint64, (key, low, high)), words)
    expected = Stream(key, (high << 64) + low).words(400)
    np.testing.assert_array_equal(words, expected)


def test_too_few_classes_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_draws, "_MOST_TRIES", 1 << 12)
    with pytest.raises(tf.errors.InvalidArgumentError, match="41 different"):
        sample(_Cyclic(), Stream(1, 2), 41, unique=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="8 different"):
        log_uniform_sampler(7, 8, unique=True)(Stream(1, 2), _TRUE)


@pytest.mark.parametrize("unique", [True, False])
def test_log_uniform_counts_follow_the_tries(unique: bool) -> None:
    draw = log_uniform_sampler(50, 30, unique)
    sampled, tries, true_counts, counts = draw(Stream(5, 6), _TRUE.T)
    assert (tries > 30) == unique
    for classes, given in ((_TRUE.T, true_counts), (sampled, counts)):
        chances = np.log((classes + 2) / (classes + 1)) / np.log(51)
        often = -np.expm1(tries * np.log1p(-chances)) if unique else chances * 30
        np.testing.assert_allclose(given, often, rtol=1e-4)


def test_unseeded_samples_differ() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sampler = tf.nn.log_uniform_candidate_sampler(_TRUE, 2, 8, True, 10_000)
        steps = {tuple(session.run(sampler)[0].tolist()) for _ in range(60)}
    assert len(steps) == 60
    assert all(len(set(step)) == 8 for step in steps)
    assert all(0 <= c < 10_000 for step in steps for c in step)
