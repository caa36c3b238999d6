"""Options that a dataset is given twice."""

from __future__ import annotations

import pytest

import tensorloom as tf


def _autotuned(value: bool) -> tf.data.Options:
    options = tf.data.Options()
    options.experimental_optimization.autotune = value
    return options


def test_options_that_disagree_are_refused_at_once() -> None:
    dataset = tf.data.Dataset.range(1).with_options(_autotuned(True))
    dataset.with_options(_autotuned(True))
    with pytest.raises(ValueError, match="Cannot merge incompatible values"):
        dataset.with_options(_autotuned(False))
