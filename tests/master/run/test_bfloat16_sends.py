"""Floats that travel between tasks as bfloat16."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, WORKER, cluster_over, over_the_network

X = np.array([1.0001, 3.14159265, -2.7182817, 65537.5, np.inf, 3.4e38], np.float32)
# As TensorFlow 1.15 gives them: the low 16 bits are cut off, not rounded.
SHORT = np.array([1.0, 3.140625, -2.703125, 65536.0, np.inf, 3.3895314e38], np.float32)


@pytest.fixture(params=["sockets", "grpc"])
def target(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The worker's target."""
    over_the_network(monkeypatch)
    with cluster_over(request.param, ps=1, worker=1) as servers:
        yield str(servers["worker"][0].target)


@pytest.mark.slow
def test_what_travels_is_cut_off(target: str) -> None:
    fed = tf.placeholder(tf.float32, [6])
    with tf.device(PS):
        v = tf.get_variable("v", initializer=tf.constant(X))
        doubles = tf.constant(X.astype(np.float64))
        here = tf.identity(v)
        fed_there = fed + 0.0
    with tf.device(WORKER):
        there, exact, own = v * 1.0, doubles * 1.0, tf.constant(X) * 1.0
        fed_here = fed * 1.0
        summed = tf.while_loop(
            lambda i, s: i < 3, lambda i, s: (i + 1, s + v[:2]), [0, v[:2]]
        )[1]
    config = tf.ConfigProto()
    config.graph_options.enable_bfloat16_sendrecv = True
    with tf.Session(target, config=config) as session:
        session.run(v.initializer)
        # What is fetched from another task has travelled, too.
        for tensor, expected in (
            (here, SHORT),
            (there, SHORT),
            (exact, X.astype(np.float64)),
            (own, X),
            (summed, SHORT[:2] * 4),
        ):
            np.testing.assert_array_equal(session.run(tensor), expected)
        np.testing.assert_array_equal(session.run(fed_there, {fed: X}), SHORT)
        np.testing.assert_array_equal(session.run(fed_here, {fed: X}), X)
    with tf.Session(target) as session:
        np.testing.assert_array_equal(session.run(there), X)
