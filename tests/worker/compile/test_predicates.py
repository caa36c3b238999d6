"""Branches and loops take scalars as predicates; what is fed may be something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

NO_SCALARS = {
    "one": [True],
    "two": [True, False],
    "none": np.zeros(0, bool),
    "matrix": [[True]],
}


def _cond(predicate: tf.Tensor) -> Any:
    return tf.cond(predicate, lambda: tf.constant(1), lambda: tf.constant(2))


def _loop(predicate: tf.Tensor) -> Any:
    return tf.while_loop(
        lambda i: tf.logical_and(i < 3, predicate), lambda i: i + 1, [0]
    )


def _switch(predicate: tf.Tensor) -> Any:
    data = tf.constant(1)
    other, one = tf.raw_ops.Switch(data=data, pred=predicate)
    return tf.raw_ops.Merge(inputs=[one, other + 1])[0]


def _switch_without_merge(predicate: tf.Tensor) -> Any:
    return tf.raw_ops.Switch(data=tf.constant(1), pred=predicate)[1]


BUILDERS = {
    "cond": (_cond, 1),
    "while_loop": (_loop, 3),
    "switch": (_switch, 1),
    "switch without merge": (_switch_without_merge, 1),
}


@pytest.mark.parametrize("value", NO_SCALARS)
@pytest.mark.parametrize("name", BUILDERS)
def test_predicate(name: str, value: str) -> None:
    build: Callable[[tf.Tensor], Any] = BUILDERS[name][0]
    with tf.Graph().as_default(), tf.Session() as session:
        predicate = tf.placeholder(tf.bool)
        result = build(predicate)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            session.run(result, {predicate: NO_SCALARS[value]})
        assert session.run(result, {predicate: True}) == BUILDERS[name][1]
