"""Packages of `tf.contrib` whose names are public elsewhere too."""

from __future__ import annotations

import pytest

import tensorloom as tf


@pytest.mark.parametrize(
    ("ours", "public"),
    [
        (lambda: tf.contrib.signal.stft, lambda: tf.signal.stft),
        (
            lambda: tf.contrib.stateless.stateless_random_normal,
            lambda: tf.random.stateless_normal,
        ),
        (
            lambda: tf.contrib.data.map_and_batch,
            lambda: tf.data.experimental.map_and_batch,
        ),
        (
            lambda: tf.contrib.distributions.Normal,
            lambda: tf.distributions.Normal,
        ),
        (
            lambda: tf.contrib.feature_column.sequence_categorical_column_with_identity,
            lambda: tf.feature_column.sequence_categorical_column_with_identity,
        ),
    ],
)
def test_they_are_the_same(ours: object, public: object) -> None:
    assert callable(ours)
    assert callable(public)
    assert ours() is public()


def test_a_module_of_contrib_is_imported_by_its_path() -> None:
    from tensorloom.contrib import signal
    from tensorloom.contrib.data import map_and_batch

    assert signal.frame is tf.signal.frame
    assert map_and_batch is tf.data.experimental.map_and_batch
