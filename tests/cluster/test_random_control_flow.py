"""Random loops and branches do the same on one task and on two."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, WORKER, cluster_over

LIMIT = tf.RunOptions(timeout_in_ms=60_000)


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    with cluster_over(request.param, ps=1, worker=1) as servers:
        yield servers["worker"][0].target


class Program:
    """A random structured program; the same for the same seed, wherever it runs."""

    def __init__(self, seed: int, devices: list[str]) -> None:
        self.random = random.Random(seed)
        self.devices = devices
        self.updates: list[Any] = []

    def build(self) -> tuple[Any, Any]:
        """Returns the placeholder and the result."""
        with tf.device(self.devices[0]):
            x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device(self.devices[-1]):
            self.variable = tf.get_variable(
                "v", [2], use_resource=True, initializer=tf.zeros_initializer()
            )
        values = self.block([x, tf.constant([0.5, -0.25])], 3)
        return x, values

    def block(self, values: list[Any], depth: int) -> list[Any]:
        for _ in range(self.random.randint(1, 3)):
            device = self.devices[self.random.randrange(len(self.devices))]
            kind = self.random.choice(
                ["op", "op", "update", *(["cond", "loop"] if depth else [])]
            )
            with tf.device(device):
                values = getattr(self, kind)(values, depth)
        return values

    def op(self, values: list[Any], depth: int) -> list[Any]:
        a, b = values
        which = self.random.randrange(4)
        if which == 0:
            return [a * 0.5 + b, b]
        if which == 1:
            return [b, tf.tanh(a)]
        if which == 2:
            return [tf.reverse(a, [0]), a - b]
        return [tf.minimum(a, b), tf.fill([2], tf.reduce_sum(a) * 0.25)]

    def update(self, values: list[Any], depth: int) -> list[Any]:
        with tf.control_dependencies(values):
            added = self.variable.assign_add(tf.tanh(values[0]))
        with tf.control_dependencies([added]):
            return [
                tf.identity(values[0]),
                values[1] + 0.1 * self.variable.read_value(),
            ]

    def cond(self, values: list[Any], depth: int) -> list[Any]:
        seed = self.random.random()

        def branch(which: int) -> Any:
            saved = self.random
            self.random = random.Random(f"{seed}{which}")
            found = self.block(values, depth - 1)
            self.random = saved
            return found

        test = tf.reduce_sum(values[0]) > tf.reduce_sum(values[1])
        return list(tf.cond(test, lambda: branch(0), lambda: branch(1)))

    def loop(self, values: list[Any], depth: int) -> list[Any]:
        count = self.random.randint(0, 3)
        found = tf.while_loop(
            lambda i, *_: i < count,
            lambda i, *inner: (i + 1, *self.block(list(inner), depth - 1)),
            [tf.constant(0), *values],
        )
        return list(found[1:])


def outcome(target: str, seed: int, devices: list[str]) -> list[Any]:
    if target:
        tf.Session.reset(target)
    tf.reset_default_graph()
    program = Program(seed, devices)
    x, values = program.build()
    gradient = tf.gradients([tf.reduce_sum(v) for v in values], x)[0]
    fetches = [*values] if gradient is None else [*values, gradient]
    found = []
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        for feed in ([0.3, -1.2], [2.0, 0.7]):
            found += sess.run(values, {x: feed}, options=LIMIT)
            found.append(sess.run(program.variable))
        found += sess.run(fetches, {x: [0.1, 0.2]}, options=LIMIT)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_as_on_one_task(target: str, seed: int) -> None:
    expected = outcome("", seed, ["/cpu:0"])
    found = outcome(target, seed, [WORKER, PS])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
