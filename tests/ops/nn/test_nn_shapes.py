"""What the neural network and random builders make: names, shapes, dtypes, errors.

`recorded/nn_shapes.txt` holds pairs of lines: a call, and what TensorFlow 1.15.0 made
of it (name, static shape and dtype of each tensor) or the error that it raised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf

RECORDED = Path(__file__).parents[1] / "recorded" / "nn_shapes.txt"
_LINES = RECORDED.read_text().splitlines()
CASES = list(zip(_LINES[::2], _LINES[1::2], strict=True))


def ph(*shape: int | None, dt: str = "float32") -> Any:
    """A placeholder of known rank."""
    return tf.placeholder(dt, list(shape))


def un(dt: str = "float32") -> Any:
    """A placeholder of unknown rank."""
    return tf.placeholder(dt)


def conv(i: Any, f: Any, s: Any = 1, p: Any = "SAME", **more: Any) -> Any:
    """`conv2d` with one stride for both directions."""
    strides = s if isinstance(s, list) else [1, s, s, 1]
    return tf.nn.conv2d(i, f, strides, p, **more)


NAMES = {"tf": tf, "nn": tf.nn, "raw": tf.raw_ops, "ph": ph, "un": un, "conv": conv}


def _describe(call: str) -> str:
    try:
        made = eval(call, NAMES)
    except Exception as error:
        return f"!! {type(error).__name__} {error}"
    tensors = made if isinstance(made, (list, tuple)) else [made]
    return "; ".join(
        f"{t.name} {t.shape} {t.dtype.name}" for t in tensors if hasattr(t, "name")
    )


@pytest.mark.parametrize(("call", "expected"), CASES)
def test_call(call: str, expected: str) -> None:
    assert _describe(call) == expected.strip()


@pytest.mark.parametrize(
    "call",
    [
        "conv(ph(2, 8, 9, 3), ph(3, 3, 0, 5))",  # TensorFlow divides by zero
        "nn.avg_pool(ph(2, 1, 9, 3), [1, 2, 2, 1], [1, -1, 1, 1], 'VALID')",
        "nn.conv2d(ph(2, 8, 9, 3), ph(3, 3, 3, 5), 1, 'SAME', dilations=[1, 0, 1, 1])",
    ],
)
def test_bad_calls_are_refused(call: str) -> None:
    assert _describe(call).startswith("!! ValueError")
