"""Whole training steps on a GPU: what they learn, and that nothing in them waits.

A step that never waits for the device can be given to it while the one before still
runs. It is also what a captured step (a CUDA graph) would have to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorloom as tf
from benchmarks.workloads import models, sequences
from tests.gpu.target import GPU, Target

_CPU = "/cpu:0"
Optimizer = Callable[[], Any]
OPTIMIZERS: dict[str, Optimizer] = {
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.01),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
}


def check(target: Target) -> list[str]:
    """What is wrong."""
    wrong: list[str] = []
    for name, optimizer in OPTIMIZERS.items():
        for kind in ("reference", "resource"):
            mlp, rows = (_with(kind, make(optimizer)) for make in (_mlp, _rows))
            wrong += _compare(target, f"MLP, {name}, {kind}", mlp)
            wrong += _compare(target, f"rows, {name}, {kind}", rows, may_wait=True)
    wrong += _compare(target, "CNN, Adam", _cnn)
    wrong += _compare(target, "LSTM, gradient descent", _lstm)
    return wrong


def _with(kind: str, build: Callable[[], Any]) -> Callable[[], Any]:
    """The same program over variables of a kind."""

    def build_over_variables() -> Any:
        with tf.variable_scope("v", use_resource=kind == "resource"):
            return build()

    return build_over_variables


def _compare(
    target: Target, name: str, build: Callable[[], Any], may_wait: bool = False
) -> list[str]:
    """The losses of some steps on the CPU and on the GPU, and whether a step waits."""
    on_cpu, _ = _losses(_CPU, build, None)
    on_gpu, waited = _losses(GPU, build, None if may_wait else target)
    wrong = [f"{name}: a step waits for the GPU: {waited}"] if waited else []
    if not np.allclose(on_cpu, on_gpu, rtol=2e-3, atol=2e-4):
        wrong.append(f"{name}: losses {on_gpu} on the GPU, {on_cpu} on the CPU")
    return wrong


def _losses(
    place: str, build: Callable[[], Any], target: Target | None
) -> tuple[list[float], str]:
    with tf.Graph().as_default(), tf.device(place):
        tf.set_random_seed(1)
        loss, train, feed = build()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            step = session.make_callable(train, feed_list=list(feed))
            losses = []
            for _ in range(4):
                losses.append(float(session.run(loss, feed)))
                step(*feed.values())
            if target is None:
                return losses, ""
            try:
                with target.without_waiting():
                    step(*feed.values())
            except tf.errors.OpError as error:
                return losses, error.message.splitlines()[0]
            return losses, ""


def _mlp(optimizer: Optimizer) -> Callable[[], Any]:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [64, 784])
        labels = tf.placeholder(tf.int64, [64])
        hidden = models.dense(tf, x, 128, "one", tf.nn.relu)
        logits = models.dense(tf, hidden, 10, "logits")
        loss = models.mean_loss(tf, labels, logits)
        images, classes = models.examples(64, [784])
        train = optimizer().minimize(loss)
        return loss, train, {x: images, labels: classes}

    return build


def _rows(optimizer: Optimizer) -> Callable[[], Any]:
    """Two tables of which a step changes some rows; where they are is looked at."""

    def build() -> Any:
        words = tf.placeholder(tf.int32, [64])
        tables = [tf.get_variable(name, [500, 32]) for name in ("one", "two")]
        vectors = [tf.nn.embedding_lookup(table, words) for table in tables]
        loss = tf.reduce_mean(tf.square(vectors[0] * vectors[1] - 0.5))
        train = optimizer().minimize(loss)
        return loss, train, {words: np.arange(64) * 7 % 30}

    return build


def _cnn() -> Any:
    x, logits = models.cnn(tf)
    labels = tf.placeholder(tf.int64, [16])
    loss = models.mean_loss(tf, labels, logits)
    images, classes = models.examples(16, [28, 28, 1])
    train = tf.train.AdamOptimizer(0.001).minimize(loss)
    return loss, train, {x: images, labels: classes}


def _lstm() -> Any:
    inputs = tf.placeholder(
        tf.float32, [sequences.BATCH, sequences.STEPS, sequences.HIDDEN]
    )
    outputs = sequences.unrolled(tf, inputs)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    values = np.random.RandomState(0).rand(*inputs.shape.as_list())
    return loss, train, {inputs: values.astype(np.float32)}
