"""What builders refuse at once, with TensorFlow's class of error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_IMAGES = np.zeros((4, 1, 1, 1), np.float32)
_CROPS = [[0, 0], [0, 0]]


def _ints(*shape: int | None) -> Any:
    return tf.placeholder(tf.int32, shape)


_REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # More outputs than there is memory for.
    "unstack": (
        lambda: tf.unstack(tf.placeholder(tf.float32), num=2**33),
        ValueError,
        "out of range",
    ),
    "split": (lambda: tf.split(_ints(4), 2**33), ValueError, "out of range"),
    "dynamic_partition": (
        lambda: tf.dynamic_partition([1.0], [0], 2**31),
        ValueError,
        "out of range",
    ),
    "batch_to_space_nd": (
        lambda: tf.batch_to_space_nd(_IMAGES, _ints(None), _CROPS),
        ValueError,
        "known size",
    ),
    "space_to_batch_nd": (
        lambda: tf.space_to_batch_nd(_IMAGES, _ints(None), _CROPS),
        ValueError,
        "known size",
    ),
    "add_n of a number": (lambda: tf.add_n(3), TypeError, "not iterable"),
    "add_n of a tensor": (lambda: tf.add_n(_ints(2)), TypeError, "iterating over"),
    "add_n of nothing": (lambda: tf.add_n(None), ValueError, "must be a list"),
    "add_n of a generator": (
        lambda: tf.add_n(x for x in [tf.constant(1)]),
        ValueError,
        "must be a list",
    ),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_refused(case: str) -> None:
    make, error, message = _REFUSED[case]
    with pytest.raises(error, match=message):
        make()
