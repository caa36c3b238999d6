"""`tf.foldl`, `tf.foldr` and `tf.scan` over tensors of which little is known."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

_FOLDS: dict[str, tuple[Any, Any]] = {
    "foldl": (lambda x: tf.foldl(lambda a, b: a - b, x), [-2, -2]),
    "foldr": (lambda x: tf.foldr(lambda a, b: a - b, x), [2, 2]),
    "scan": (lambda x: tf.scan(lambda a, b: a - b, x), [[1, 2], [-2, -2]]),
    "scan reversed": (
        lambda x: tf.scan(lambda a, b: a - b, x, reverse=True),
        [[2, 2], [3, 4]],
    ),
}


@pytest.mark.parametrize("case", _FOLDS)
def test_elements_of_unknown_rank(case: str) -> None:
    make, expected = _FOLDS[case]
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        result = session.run(make(x), {x: [[1.0, 2.0], [3.0, 4.0]]})
    assert result.tolist() == expected


@pytest.mark.parametrize("make", [tf.foldl, tf.foldr, tf.scan])
def test_a_scalar_has_no_elements(make: Any) -> None:
    with pytest.raises(IndexError):
        make(lambda a, b: a + b, tf.constant(1.0))
