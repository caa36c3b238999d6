"""What the recorded programs over array ops share.

A program gets the `tf` module and a dictionary to put its feeds into, and returns what
is to be fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Feed = dict[Any, Any]
Program = Callable[[Any, Feed], Any]
PROGRAMS: dict[str, Program] = {}

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def program(function: Program) -> Program:
    """Adds a program to the table."""
    assert function.__name__ not in PROGRAMS
    PROGRAMS[function.__name__] = function
    return function


def feed_matrix(
    tf: Any,
    feed: Feed,
    shape: Any = (None, 3),
    dt: Any = None,
    v: Any = None,
    name: str = "x",
) -> Any:
    """A placeholder that is fed with MATRIX, or with `v`."""
    tensor = tf.placeholder(dt or tf.float32, shape, name=name)
    feed[tensor] = MATRIX if v is None else v
    return tensor


def feed_integers(
    tf: Any, feed: Feed, v: Any, shape: Any = None, name: str = "i", dt: Any = None
) -> Any:
    """A placeholder that is fed with integers."""
    shape = list(np.shape(v)) if shape is None else shape
    tensor = tf.placeholder(dt or tf.int32, shape, name=name)
    feed[tensor] = v
    return tensor


def gradients(tf: Any, y: Any, *xs: Any) -> list[Any]:
    """The gradients of `y` as dense tensors; -99 where there is none."""
    return [
        tf.constant(-99.0) if g is None else tf.convert_to_tensor(g)
        for g in tf.gradients(y, list(xs))
    ]
