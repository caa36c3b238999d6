"""Objects that are saved, as `tensorflow.python.training.tracking.util` sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.compat.internals import tracking_functions
from tensorloom.framework.types.trackable_structures import AutoTrackable

if TYPE_CHECKING:
    from pathlib import Path


def test_variables_of_an_object_are_made_found_and_restored(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        root: Any = AutoTrackable()
        part: Any = AutoTrackable()
        root.part = part
        with tf.variable_scope("scope", initializer=tf.ones_initializer()):
            weights = tracking_functions.add_variable(part, "weights", shape=[2])
            steps = tracking_functions.add_variable(
                root, "steps", initializer=5, dtype=tf.int64
            )
        assert tracking_functions.list_objects(root) == [root, part, steps, weights]
        session.run(tracking_functions.gather_initializers(root))
        assert session.run(steps) == 5
        saved = session.run(weights)
        assert steps.dtype.base_dtype == tf.int64
        path = tf.train.Checkpoint(root=root).save(str(tmp_path / "model"))
        with pytest.raises(ValueError, match="A variable named 'steps' already"):
            tracking_functions.add_variable(root, "steps", shape=[])
    with tf.Graph().as_default(), tf.Session() as session:
        root = AutoTrackable()
        status = tf.train.Checkpoint(root=root).restore(path)
        root.part = AutoTrackable()
        later = tracking_functions.add_variable(root.part, "weights", shape=[2])
        status.initialize_or_restore(session)
        assert session.run(later).tolist() == saved.tolist()
