"""Gamma, Poisson, binomial and categorical samples are TensorFlow's, bit for bit."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.runtime import intra_op
from tensorloom.kernels.host.random.philox import SAMPLES_PER_OUTPUT, Stream
from tensorloom.kernels.loops.random import random_samples

ALPHAS = np.float32([0.0, 0.1, 0.999, 1.0, 1.5, 30.0, 1e4, -0.5, np.nan])
RATES = np.float32([0.0, 0.1, 4.0, 9.99, 10.0, 50.0, 1e6, -2.0])
TRIALS = np.float32([10, 100, 100, 0, 3, 20, 7.5, 1000, 1e6, 50, 3, 0.5])
CHANCES = np.float32([0.3, 0.3, 0.9, 0.3, 0.5, 0, 0.99, 0.009, 0.5, 0.2, 0.9, 0.2])


def _gamma() -> Any:
    return tf.raw_ops.RandomGamma(shape=[300], alpha=ALPHAS, seed=3, seed2=5)


def _poisson(dtype: Any) -> Any:
    return tf.raw_ops.RandomPoissonV2(
        shape=[300], rate=RATES, seed=3, seed2=5, dtype=dtype
    )


def _binomial(shape: list[int], trials: Any, chances: Any) -> Any:
    state = tf.Variable(np.array([5, 7, 9], np.int64), use_resource=True)
    return tf.raw_ops.StatefulRandomBinomial(
        resource=state.handle,
        algorithm=np.int64(1),
        shape=shape,
        counts=trials,
        probs=chances,
        dtype=tf.float32,
    )


def _stateless_binomial() -> Any:
    return tf.raw_ops.StatelessRandomBinomial(
        shape=[40, 12], seed=[3, 5], counts=TRIALS, probs=CHANCES, dtype=tf.float32
    )


def _multinomial() -> Any:
    logits = np.random.RandomState(0).randn(40, 300).astype(np.float32) * 2
    logits[3], logits[4, ::3], logits[5, 7] = -np.inf, np.nan, np.inf
    return tf.raw_ops.Multinomial(logits=logits, num_samples=7, seed=3, seed2=5)


def _checksum(values: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


# Checksums of two steps, recorded from TensorFlow 1.15 in one thread (a shard of a
# batch has words of its own); of the stateless op from 2.21.
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (_gamma, [0x8055D3D0, 0x6C395BAE]),
        (lambda: _poisson(tf.float32), [0x217962D1, 0xA307AF65]),
        (lambda: _poisson(tf.int32), [0x8AF616AC, 0x4CFB8FA5]),
        (_stateless_binomial, [0x16FD9F92] * 2),
        (_multinomial, [0x17F8BF10, 0x911FF5E4]),
    ],
)
def test_two_steps(make: Callable[[], Any], expected: list[int]) -> None:
    drawn = make()
    with tf.Session() as sess:
        assert [_checksum(sess.run(drawn)) for _ in range(2)] == expected


@pytest.mark.parametrize(
    ("shape", "trials", "chances", "expected"),
    [
        ([12, 40], TRIALS, CHANCES, 0x72A5053A),
        ([3, 77], np.float32(100), np.float32(0.3), 0x8327B153),
    ],
)
def test_binomials_of_a_state(
    shape: list[int], trials: Any, chances: Any, expected: int
) -> None:
    drawn = _binomial(shape, trials, chances)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert _checksum(sess.run(drawn)) == expected


# TensorFlow draws for ever.
@pytest.mark.parametrize(
    ("trials", "chance", "expected"),
    [(np.nan, 0.3, np.nan), (5, np.nan, np.nan), (5, 1, 5), (5, 2, 5), (-3, 0.3, 0)],
)
def test_binomials_of_no_distribution(
    trials: float, chance: float, expected: float
) -> None:
    values = random_samples.binomial(
        Stream(1, 2), np.array([trials]), np.array([chance]), 3, one_run=True
    )
    np.testing.assert_array_equal(values, [[expected] * 3])


@pytest.mark.parametrize(
    "draw",
    [
        lambda stream, of, n: random_samples.gamma(stream, of, n),
        lambda stream, of, n: random_samples.poisson(stream, of, n, 2.0**31),
    ],
)
def test_each_sample_has_words_of_its_own(draw: Any) -> None:
    stream = Stream(11, (22 << 64) + 2**64 - 3 * SAMPLES_PER_OUTPUT)
    parameters = np.array([0.5, 3.0, 30.0])
    values = draw(stream, parameters, 5)
    assert values.shape == (5, 3)
    for i, parameter in enumerate(parameters):
        for sample in range(5):
            own = stream.skip((5 * i + sample) * SAMPLES_PER_OUTPUT)
            assert draw(own, np.array([parameter]), 1) == values[sample, i]


@pytest.mark.parametrize(
    "draw",
    [
        lambda stream, of, n: random_samples.gamma(stream, of, n),
        lambda stream, of, n: random_samples.poisson(stream, of, n, 2.0**31),
    ],
)
def test_any_number_of_threads(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ranges that begin and end within the samples of a parameter.
    parameters, results = np.array([0.5, 1.0, 3.0, 30.0, -1.0]), []
    for count in (1, 2, 5):
        monkeypatch.setattr(intra_op, "_count", lambda count=count: count)
        results.append(draw(Stream(11, 22), parameters, 777))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_a_rate_above_what_the_dtype_holds_is_an_error() -> None:
    drawn = tf.raw_ops.StatelessRandomPoisson(
        shape=[2, 1], seed=[1, 2], lam=np.float64([1e6]), dtype=tf.float16
    )
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="rate is too large"),
    ):
        sess.run(drawn)
