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


def _fully_connected(images: Any) -> Any:
    flat = tf.reshape(images, [2, 36])
    return pruning.masked_fully_connected(flat, 3, activation_fn=None)


def _convolution(images: Any) -> Any:
    return pruning.masked_conv2d(images, 3, 3, activation_fn=None)


def _steps(cell: Any) -> Any:
    return lambda images: tf.nn.dynamic_rnn(cell(3), images[..., 0], dtype=tf.float32)


_LAYERS: Any = {
    "Conv": (_convolution, [3, 3, 1, 3]),
    "fully_connected": (_fully_connected, [36, 3]),
    "rnn/masked_basic_lstm_cell": (_steps(pruning.MaskedBasicLSTMCell), [9, 12]),
    "rnn/masked_lstm_cell": (_steps(pruning.MaskedLSTMCell), [9, 12]),
}


@pytest.mark.parametrize("scope", _LAYERS)
def test_layers_compute_with_masked_weights(scope: str) -> None:
    make, shape = _LAYERS[scope]
    images = np.random.RandomState(0).randn(2, 6, 6, 1).astype(np.float32)
    with tf.Graph().as_default():
        outputs = tf.nest.flatten(make(images))
        (mask,), (weights,) = pruning.get_masks(), pruning.get_weights()
        assert mask.op.name == f"{scope}/mask"
        assert mask.shape == weights.shape == shape
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(outputs)
            mask.load(np.zeros(shape), session)
            masked = session.run(outputs)
            mask.load(np.ones(shape), session)
            weights.load(np.zeros(shape), session)
            zeros = session.run(outputs)
    for values in zip(before, masked, zeros, strict=True):
        np.testing.assert_array_equal(values[1], values[2])
        assert np.any(values[0] != values[1])


def test_stripped_graphs_have_no_masks(tmp_path: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.identity(pruning.masked_fully_connected(_WEIGHTS, 3), "out")
        session.run(tf.global_variables_initializer())
        pruning.get_masks()[0].load(np.eye(4, 3), session)
        tf.train.Saver().save(session, str(tmp_path / "model"))
        want = session.run("out:0")
    with tf.Graph().as_default():
        frozen = pruning.graph_def_from_checkpoint(str(tmp_path), ["out"])
    stripped = pruning.strip_pruning_vars_fn(frozen, ["out"])
    names = {node.name for node in frozen.node} - {node.name for node in stripped.node}
    assert names >= {"fully_connected/mask", "fully_connected/weights"}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(stripped, name="")
        np.testing.assert_array_equal(session.run("out:0"), want)
    with pytest.raises(ValueError, match="Could not find a checkpoint"):
        pruning.graph_def_from_checkpoint(str(tmp_path / "no"), ["out"])


def test_masked_convolutions_are_of_images() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rank 2"):
        pruning.masked_conv2d(_WEIGHTS, 3, 3)
