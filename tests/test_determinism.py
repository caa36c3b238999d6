"""The determinism switch, each time in a process of its own: it cannot be undone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import sys
import numpy as np
import tensorloom as tf
{switch}
assert "torch" not in sys.modules
tf.set_random_seed(7)
x = tf.random_normal([8, 10, 10, 3])
w = tf.get_variable("w", [3, 3, 3, 4])
y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME"))
loss = tf.reduce_mean(tf.square(y)) + tf.reduce_sum(tf.unsorted_segment_sum(
    tf.reshape(y, [-1]), tf.range(8 * 10 * 10 * 4) % 7, 7))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train)
    print(sess.run(w).tobytes().hex())
import torch
print(torch.are_deterministic_algorithms_enabled())
"""
CALL = "tf.config.experimental.enable_op_determinism()"


def run(program: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("switch", "environment"),
    [(CALL, {}), ("", {"TF_DETERMINISTIC_OPS": "1"})],
    ids=["call", "environment"],
)
def test_the_switch_gives_the_same_bits(
    switch: str, environment: dict[str, str]
) -> None:
    first, second = (run(PROGRAM.format(switch=switch), **environment) for _ in "ab")
    assert first == second
    assert first[1] == "True"


@pytest.mark.multiprocess
def test_without_the_switch_torch_is_left_alone() -> None:
    assert run(PROGRAM.format(switch=""))[1] == "False"


@pytest.mark.multiprocess
def test_the_switch_works_after_torch_was_loaded() -> None:
    program = f"""
import tensorloom as tf
with tf.Session() as sess:
    sess.run(tf.matmul(tf.ones([200, 200]), tf.ones([200, 200])))
import torch
print(torch.are_deterministic_algorithms_enabled())
{CALL}
print(torch.are_deterministic_algorithms_enabled())
"""
    assert run(program) == ["False", "True"]


@pytest.mark.multiprocess
def test_random_ops_then_need_a_seed() -> None:
    program = f"""
import tensorloom as tf
tf.random_uniform([2])
{CALL}
try:
    tf.random_uniform([2])
except RuntimeError as error:
    assert "require a seed" in str(error)
    print("refused")
tf.random_uniform([2], seed=1)
tf.set_random_seed(1)
tf.random_uniform([2])
"""
    assert run(program) == ["refused"]
