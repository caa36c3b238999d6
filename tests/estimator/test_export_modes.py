"""Modes under both of their names, Estimator's and Keras's."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.estimator.export import modes


@pytest.mark.parametrize(
    ("mode", "tags", "key"),
    [
        ("infer", ["serve"], "serving_default"),
        ("predict", ["serve"], "serving_default"),
        ("train", ["train"], "train"),
        ("eval", ["eval"], "eval"),
        ("test", ["eval"], "eval"),
    ],
)
def test_both_names(mode: str, tags: list[str], key: str) -> None:
    assert modes.EXPORT_TAG_MAP[mode] == tags
    assert modes.SIGNATURE_KEY_MAP[mode] == key
    x = tf.constant(1.0)
    outputs = modes.export_outputs_for_mode(mode, None, {"x": x}, x, {})
    assert list(outputs) == [key]


def test_other_names() -> None:
    with pytest.raises(ValueError, match="Invalid mode key: serve"):
        modes.export_outputs_for_mode("serve")
