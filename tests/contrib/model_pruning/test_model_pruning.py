"""`tf.contrib.model_pruning`: which weights are set to zero, and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

pruning = tf.contrib.model_pruning
_WEIGHTS: Any = np.arange(1.0, 9.0, dtype=np.float32).reshape(2, 4)


def _masks(settings: str, steps: int, weights: Any = _WEIGHTS) -> list[Any]:
    """The mask after each step."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        pruning.apply_mask(tf.get_variable("w", initializer=weights))
        spec = pruning.get_pruning_hparams().parse(settings)
        update = pruning.Pruning(spec).conditional_mask_update_op()
        count = tf.assign_add(step, 1)
        found = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(update)
                found.append(session.run(pruning.get_masks()[0]))
                session.run(count)
    return found


def test_the_smallest_weights_go_first() -> None:
    masks = _masks("sparsity_function_end_step=2,pruning_frequency=1", 3)
    np.testing.assert_array_equal(masks[0], np.ones_like(_WEIGHTS))
    np.testing.assert_array_equal(masks[2], _WEIGHTS > 4)


def test_masks_are_updated_when_it_is_time() -> None:
    settings = "sparsity_function_end_step=1,pruning_frequency=3,begin_pruning_step=2"
    zeros = [int(np.sum(mask == 0)) for mask in _masks(settings, 5)]
    assert zeros == [0, 0, 0, 4, 4]


def test_blocks_go_together() -> None:
    settings = "block_height=2,block_width=1,sparsity_function_end_step=1"
    (_, mask) = _masks(f"{settings},pruning_frequency=1", 2)
    np.testing.assert_array_equal(mask, [[0, 0, 1, 1], [0, 0, 1, 1]])


def test_weights_are_in_collections_once() -> None:
    with tf.Graph().as_default():
        weights = tf.get_variable("w", initializer=_WEIGHTS)
        with tf.variable_scope("m", reuse=tf.AUTO_REUSE) as scope:
            for _ in range(2):
                masked = pruning.apply_mask(weights, scope)
        assert pruning.get_weights() == [weights]
        assert len(pruning.get_masks()) == len(pruning.get_masked_weights()) == 1
        assert masked.shape == (2, 4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("begin_pruning_step=-1", "begin_pruning_step"),
        ("target_sparsity=1.0", r"target_sparsity must be in range"),
        ("weight_sparsity_map=[w:1.5]", "can not exceed 1.0"),
        ("block_dims_map=[w:3]", "Expected 2 values for block dim"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _masks(settings, 1)


def test_training_updates_masks() -> None:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        weights = tf.get_variable("w", initializer=_WEIGHTS)
        loss = tf.reduce_sum(tf.square(pruning.apply_mask(weights)))
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer)
        spec = pruning.get_pruning_hparams().parse(
            "sparsity_function_end_step=2,pruning_frequency=1"
        )
        update = pruning.Pruning(spec).conditional_mask_update_op()
        first = float(np.sum(_WEIGHTS**2))
        last = pruning.train(train_op, None, update, number_of_steps=4)
    assert last < first / 1.1
