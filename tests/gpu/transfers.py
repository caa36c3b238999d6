"""Copies between host memory and GPUs: right, and not waited for."""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorloom as tf
from tensorloom.devices import cuda
from tests.gpu.target import GPU, Target

SIZES = (1, 1000, cuda.LEAST_STAGED // 4 + 3, 1 << 20)
_DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool")
_DTYPES += ("complex64", "bfloat16")


def check(target: Target) -> list[str]:
    """What is wrong."""
    return [
        *_round_trips(),
        *_layouts(),
        *_reused_feeds(target),
        *_between_devices_of_a_step(target),
        *(_peers(target) if target.count > 1 else []),
    ]


def _values(name: str, size: int) -> Any:
    random = np.random.RandomState(size)
    values = random.randint(0, 100, size)
    return values.astype(tf.as_dtype(name).as_numpy_dtype)


def _round_trips() -> list[str]:
    """Feeds that are fetched from the GPU are what they were."""
    wrong = []
    with tf.Graph().as_default(), tf.device(GPU):
        feeds = [tf.placeholder(name, [None]) for name in _DTYPES]
        copies = [tf.reshape(tf.concat([x, x], 0), [2, -1])[0] for x in feeds]
        with tf.Session() as session:
            for size in SIZES:
                values = [_values(name, size) for name in _DTYPES]
                feed = dict(zip(feeds, values, strict=True))
                found = session.run(copies, feed)
                wrong += [
                    f"{name}[{size}] does not come back as it was"
                    for name, mine, real in zip(_DTYPES, found, values, strict=True)
                    if not np.array_equal(mine, real)
                ]
    return wrong


def _layouts() -> list[str]:
    """Arrays and tensors with gaps, turned around or of no element."""
    wrong = []
    base = np.arange(600 * 400, dtype=np.float32).reshape(600, 400)
    arrays = {
        "transposed": base.T,
        "with gaps": base[::2, ::3],
        "backwards": base[::-1],
        "of no element": base[:0],
    }
    with tf.Graph().as_default(), tf.device(GPU):
        x = tf.placeholder(tf.float32, [None, None])
        y = tf.transpose(x)
        with tf.Session() as session:
            for name, array in arrays.items():
                if not np.array_equal(session.run(y, {x: array}), array.T):
                    wrong.append(f"an array {name} does not come back as it was")
    return wrong


def _reused_feeds(target: Target) -> list[str]:
    """A fed array may be changed as soon as `run` is back, though nothing waited."""
    array = np.zeros(1 << 20, np.float32)
    with tf.Graph().as_default(), tf.device(GPU):
        x = tf.placeholder(tf.float32, [1 << 20])
        total = tf.get_variable("total", [1 << 20], initializer=tf.zeros_initializer())
        add = tf.assign_add(total, x).op
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            run = session.make_callable(add, feed_list=[x])
            run(array)
            for step in range(5):
                array.fill(step)
                with target.without_waiting():
                    run(array)
                array.fill(-1000)
            found = session.run(total)
    expected = sum(range(5))
    if (found == expected).all():
        return []
    return [f"fed arrays that change later: {found[:3]} in place of {expected}"]


def _between_devices_of_a_step(target: Target) -> list[str]:
    """Tensors that leave a GPU in the middle of a step, and others that come."""
    size = 300
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [size, size])
        with tf.device(GPU):
            y = tf.matmul(x, x) / size
        with tf.device("/cpu:0"):
            z = tf.tanh(y) + 1.0
        with tf.device(GPU):
            result = tf.reduce_sum(z * y, 1)
        with tf.Session() as session:
            values = np.random.RandomState(0).rand(size, size).astype(np.float32)
            found = [session.run([result, z], {x: values}) for _ in range(3)]
    product = values @ values / size
    real = [((np.tanh(product) + 1) * product).sum(1), np.tanh(product) + 1]
    if all(
        np.allclose(mine, expected, rtol=1e-4, atol=1e-4)
        for one in found
        for mine, expected in zip(one, real, strict=True)
    ):
        return []
    return ["a step over a GPU and the CPU gives other values"]


def _peers(target: Target) -> list[str]:
    """A tensor from one GPU to another, by way of nothing else."""
    with tf.Graph().as_default():
        with tf.device("/gpu:0"):
            x = tf.get_variable("x", initializer=tf.fill([512, 512], 3.0))
            y = x * 2.0
        with tf.device("/gpu:1"):
            total = tf.get_variable("total", initializer=tf.zeros([512, 512]))
            add = tf.assign_add(total, y + 1.0).op
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            run = session.make_callable(add)
            run()
            with target.without_waiting():
                run()
            found = session.run(total)
    return [] if (found == 14.0).all() else [f"between GPUs: {found[:1, :3]}, not 14"]
