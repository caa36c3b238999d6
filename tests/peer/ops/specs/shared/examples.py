"""Parts of specs that several families use: drawn_example, drawn_examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def drawn_example(d: Draw) -> bytes:
    """A serialized tf.Example with features a (floats), b (integers), c (strings)."""
    from tensorloom.protos import example_pb2

    example = example_pb2.Example()
    features = example.features.feature
    features["a"].float_list.value.extend(d.rng.uniform(-1, 1, 2))
    features["r"].int64_list.value.extend(range(d.integer(0, 2)))
    features["b"].int64_list.value.extend(
        int(n) for n in d.rng.integers(-5, 5, d.integer(0, 3))
    )
    features["c"].bytes_list.value.extend([b"x", b"yz"][: d.integer(0, 2)])
    return bytes(example.SerializeToString(deterministic=True))


def drawn_examples(d: Draw) -> Any:
    return np.array([drawn_example(d) for _ in range(3)], object)
