"""Gradients of some of the results of a loop or a branch: the others stay out of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized


@pytest.mark.parametrize("chosen", [True, False])
def test_a_branch_is_differentiated_for_the_results_in_use_alone(chosen: bool) -> None:
    x, w = tf.constant(0.0), tf.constant(2.0)
    first, _ = tf.cond(
        tf.constant(chosen),
        lambda: (w * 3.0 + x, tf.log(x * w)),
        lambda: (w * 3.0 + x, tf.sqrt(x * w)),
    )
    assert run_initialized(tf.gradients(first, [w, x])) == [3.0, 1.0]


def test_a_loop_is_differentiated_for_the_results_in_use_alone() -> None:
    x, w = tf.constant(0.0), tf.constant(2.0)
    _, product, _ = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, u, v: (i + 1, u * w, tf.log(v * w)),
        [0, w + 1.0, x],
    )
    by_w, by_x = tf.gradients(product, [w, x])
    assert by_x is None
    assert run_initialized(by_w) == 8.0 + 3.0 * 3.0 * 4.0


def test_what_a_result_depends_on_after_two_iterations() -> None:
    w, x = tf.constant(2.0), tf.constant(0.5)
    _, q, _ = tf.while_loop(
        lambda i, *_: i < 3, lambda i, q, r: (i + 1, r * w, tf.sin(q)), [0, w, x]
    )
    # q: w -> x w -> sin(w) w -> sin(x w) w
    by_w, by_x = run_initialized(tf.gradients(q, [w, x]))
    np.testing.assert_allclose(by_w, np.sin(1.0) + np.cos(1.0) * 0.5 * 2.0, rtol=1e-6)
    np.testing.assert_allclose(by_x, np.cos(1.0) * 4.0, rtol=1e-6)


@pytest.mark.parametrize("nested", [False, True])
def test_an_array_that_the_loss_does_not_read(nested: bool) -> None:
    w = tf.constant(2.0)

    def body(i: Any, s: Any, array: Any) -> Any:
        s = s * w
        return i + 1, s, array.write(array.size(), tf.log(s * 0.0))

    def outer(i: Any, s: Any, array: Any) -> Any:
        _, s, array = tf.while_loop(lambda j, *_: j < 2, body, [0, s, array])
        return i + 1, s, array

    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    _, s, _ = tf.while_loop(
        lambda i, *_: i < 2, outer if nested else body, [0, w * 1.0, array]
    )
    power = 5 if nested else 3
    assert run_initialized(tf.gradients(s, w)) == [power * 2.0 ** (power - 1)]
