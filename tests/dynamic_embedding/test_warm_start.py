"""Embedding variables that start with the rows of another model's checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de

KEYS = [1, 2, 5, -7]


def table(name: str, places: int, dim: int = 2) -> Any:
    return de.get_variable(
        name,
        dim=dim,
        partitioner=tf.fixed_size_partitioner(places),
        initializer=tf.zeros_initializer(),
    )


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """Of a table in two places, trained with slots, and a dense variable."""
    with tf.Graph().as_default(), tf.Session() as sess:
        old = table("old", 2)
        dense = tf.get_variable("dense", initializer=0.0)
        loss = tf.reduce_sum(old.lookup(KEYS)) + dense
        train = tf.train.AdagradOptimizer(0.5).minimize(loss)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        sess.run(old.upsert(KEYS, np.outer(KEYS, [1.0, 2.0]).astype(np.float32)))
        return str(tf.train.Saver().save(sess, str(tmp_path / "m")))


@pytest.mark.parametrize("places", [1, 2, 3])
def test_rows_of_a_checkpoint_of_any_number_of_places(
    checkpoint: str, places: int
) -> None:
    new = table("new", places)
    dense = tf.get_variable("dense", initializer=0.0)
    loss = tf.reduce_sum(new.lookup([1]))
    train = tf.train.AdagradOptimizer(0.5, 1.0).minimize(loss)
    tf.train.warm_start(
        checkpoint, var_name_to_prev_var_name={"new": "old"}, vars_to_warm_start=".*"
    )
    rows = new.lookup(KEYS)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found, size, value = sess.run([rows, new.size(), dense])
        np.testing.assert_array_equal(found, np.outer(KEYS, [1.0, 2.0]))
        assert (size, value) == (4, -0.5 / np.sqrt(np.float32(1.1)))
        # Slots begin anew: another sum of squares begins with 1.
        sess.run(train)
        np.testing.assert_allclose(
            sess.run(rows)[0], [1 - 0.5**0.5 / 2, 2 - 0.5**0.5 / 2]
        )


def test_a_list_of_shards_is_assigned_a_name(checkpoint: str) -> None:
    new = de.get_variable("new", dim=2, devices=["/cpu:0", "/cpu:0"], trainable=False)
    tf.train.init_from_checkpoint(checkpoint, {"old": new.shards})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(new.size()) == 4


@pytest.mark.slow
def test_an_estimator_starts_warm_once(checkpoint: str, tmp_path: Path) -> None:
    def model(features: Any, mode: Any) -> Any:
        new = table("old", 3)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(new.lookup(features))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    estimator = tf.estimator.Estimator(
        model,
        str(tmp_path / "model"),
        warm_start_from=tf.estimator.WarmStartSettings(checkpoint),
    )

    def dataset() -> Any:
        return tf.data.Dataset.from_tensors(tf.constant([2], tf.int64)).repeat()

    for until in (1, 3):
        estimator.train(dataset, max_steps=until)
        saved = tf.train.load_checkpoint(estimator.latest_checkpoint())
        keys = np.concatenate(
            [saved.get_tensor(f"old/part_{i}-keys") for i in range(3)]
        )
        rows = np.concatenate(
            [saved.get_tensor(f"old/part_{i}-values") for i in range(3)]
        )
        by_key = dict(zip(keys.tolist(), rows.tolist(), strict=True))
        # A second call goes on from its own checkpoint.
        assert by_key[2] == [2.0 - until, 4.0 - until]
        assert by_key[5] == [5.0, 10.0]


@pytest.mark.parametrize(
    ("name", "dim", "message"),
    [("other", 2, "Rows of other are not found"), ("old", 3, "doesn't match")],
)
def test_what_does_not_fit_is_refused(
    checkpoint: str, name: str, dim: int, message: str
) -> None:
    table(name, 1, dim)
    with pytest.raises(ValueError, match=message):
        tf.train.warm_start(checkpoint)


def test_rows_by_keys_have_no_vocabulary(checkpoint: str) -> None:
    table("old", 1)
    words = tf.train.VocabInfo("new", 2, 0, "old")
    with pytest.raises(ValueError, match="no vocabulary"):
        tf.train.warm_start(checkpoint, var_name_to_vocab_info={"old": words})
