"""The small packages of `tf.contrib`, beside what is known of their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

image = tf.contrib.image
GRID = np.arange(12, dtype=np.float32).reshape(3, 4)


def _run(*tensors: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(list(tensors))


def test_images_are_turned_and_moved() -> None:
    turned, moved = _run(
        image.rotate(tf.constant(GRID[:, :3]), np.pi / 2),
        image.translate(tf.constant(GRID), [1, 0]),
    )
    assert turned.tolist() == np.rot90(GRID[:, :3]).tolist()
    assert moved[:, 1:].tolist() == GRID[:, :-1].tolist()
    assert not moved[:, 0].any()


def test_composed_transforms_are_one_after_the_other() -> None:
    first, second = [1, 0.1, -1, 0.2, 1, 0.5, 0, 0], [1, 0, 2, 0, 1, 1, 0, 0]
    both = image.compose_transforms(tf.constant(first), tf.constant(second, tf.float32))
    matrix = _run(image.flat_transforms_to_matrices(both))[0][0]
    expected = [np.reshape([*t, 1], [3, 3]) for t in (first, second)]
    np.testing.assert_allclose(matrix, expected[0] @ expected[1], rtol=1e-5)


def test_warps() -> None:
    pixels = tf.constant(GRID[None, :, :, None])
    still, shifted = _run(
        image.dense_image_warp(pixels, tf.zeros([1, 3, 4, 2])),
        image.dense_image_warp(pixels, tf.fill([1, 3, 4, 2], 0.5)),
    )
    assert still[0, :, :, 0].tolist() == GRID.tolist()
    assert shifted[0, 1, 1, 0] == np.mean(GRID[0:2, 0:2])
    points = tf.constant([[[0.0, 0.0], [1.0, 2.0], [2.0, 0.0], [0.0, 3.0]]])
    values = tf.constant([[[1.0], [2.0], [3.0], [5.0]]])
    (through,) = _run(image.interpolate_spline(points, values, points, 2))
    np.testing.assert_allclose(through.ravel(), [1, 2, 3, 5], atol=1e-3)
    moved, flows = _run(*image.sparse_image_warp(pixels, points, points))
    np.testing.assert_allclose(moved[0, :, :, 0], GRID, atol=1e-4)
    assert flows.shape == (1, 3, 4, 2)


def test_regions_are_counted_as_they_appear() -> None:
    (found,) = _run(image.connected_components([[0, 1, 0], [2, 0, 1], [2, 0, 1]]))
    assert found.tolist() == [[0, 1, 0], [2, 0, 3], [2, 0, 3]]
    with pytest.raises(TypeError, match="rank 2"):
        image.connected_components([1])


def test_equations_and_least_squares() -> None:
    solvers = tf.contrib.solvers
    a = np.random.RandomState(0).randn(6, 3)
    operator = solvers.util.create_operator(tf.constant(a))
    square = solvers.util.create_operator(tf.constant(a.T @ a))
    least, solved, basis = _run(
        solvers.least_squares.cgls(operator, tf.ones([6], tf.float64)).x,
        solvers.linear_equations.conjugate_gradient(
            square, tf.ones([3], tf.float64), tol=1e-10
        ).x,
        solvers.lanczos.lanczos_bidiag(operator, 3),
    )
    np.testing.assert_allclose(least, np.linalg.lstsq(a, np.ones(6), rcond=None)[0])
    np.testing.assert_allclose(solved, np.linalg.solve(a.T @ a, np.ones(3)))
    np.testing.assert_allclose(basis.u.T @ basis.u, np.eye(4), atol=1e-10)


def test_the_scale_of_a_loss_follows_the_steps() -> None:
    mp = tf.contrib.mixed_precision
    v = tf.get_variable("v", initializer=1.0)
    factor = tf.placeholder_with_default(1.0, [])
    manager = mp.ExponentialUpdateLossScaleManager(8.0, 2, 1)
    optimizer = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    train = optimizer.minimize(v * factor)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        sess.run(train)
        assert sess.run([v, manager.get_loss_scale()]) == [pytest.approx(0.8), 16.0]
        sess.run(train, {factor: np.inf})
        expected = [pytest.approx(0.8), pytest.approx(12.8)]
        assert sess.run([v, manager.get_loss_scale()]) == expected
    with pytest.raises(ValueError, match="at least 1"):
        mp.FixedLossScaleManager(0.5)


def test_neighbours_within_a_part_of_a_text() -> None:
    words = tf.constant(["foo", "the", "quick", "brown", "bar"])
    tokens, labels = tf.contrib.text.skip_gram_sample(words, 1, 1, start=1, limit=3)
    got = _run(tokens, labels)
    assert got[0].tolist() == [b"the", b"quick", b"quick", b"brown"]
    assert got[1].tolist() == [b"quick", b"the", b"brown", b"quick"]
    with pytest.raises(ValueError, match="without a vocab_freq_table"):
        tf.contrib.text.skip_gram_sample(words, vocab_min_count=2)


def test_the_projector_reads_its_file(tmp_path: Any) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="t", metadata_path="words.tsv")
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert 'tensor_name: "t"' in text


def test_summaries_keep_their_tags() -> None:
    old = tf.contrib.deprecated
    with tf.name_scope("scope"):
        old.scalar_summary("loss", 2.0)
    (text,) = _run(old.merge_all_summaries())
    assert [value.tag for value in tf.Summary.FromString(text).value] == ["loss"]


def test_expectations() -> None:
    mc = tf.contrib.bayesflow.monte_carlo
    normal, wide = tf.distributions.Normal(1.0, 1.0), tf.distributions.Normal(0.0, 3.0)
    mean = mc.expectation_importance_sampler(
        lambda x: x, normal.log_prob, wide, n=4000, seed=1
    )
    assert _run(mean)[0] == pytest.approx(1.0, abs=0.15)
    with pytest.raises(ValueError, match="exactly one"):
        mc.expectation_importance_sampler(lambda x: x, normal.log_prob, wide)


def test_memory_and_functions() -> None:
    x = tf.constant([3.0, 1.0, 2.0])
    most, second, kept = _run(
        tf.contrib.memory_stats.MaxBytesInUse(),
        tf.contrib.nn.nth_element(x, 1),
        tf.contrib.nn.alpha_dropout(x, 1.0),
    )
    assert most >= 0
    assert second == 2.0
    assert kept.tolist() == [3.0, 1.0, 2.0]
    assert tf.contrib.util.make_ndarray(tf.contrib.util.make_tensor_proto(3)) == 3


def test_stereograms_repeat_a_depth_in_their_rows() -> None:
    depths = tf.placeholder_with_default(np.zeros([2, 3], np.float32), [2, 3])
    draw = tf.contrib.image.single_image_random_dot_stereograms
    picture = draw(
        depths,
        eye_separation=0.2,
        convergence_dots_size=2,
        normalize=False,
        output_image_shape=[20, 6, 1],
        output_data_window=[20, 4],
    )
    (found,) = _run(picture)
    # Eyes 14 pixels apart see a far point seven pixels apart.
    assert found.shape == (6, 20, 1)
    assert (found[:4, 7:] == found[:4, :-7]).all()
    assert (found[-1] == 0).sum() >= 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="2-D"):
        _run(draw(tf.placeholder_with_default([1.0], None)))


def test_a_list_goes_round() -> None:
    from tensorloom.contrib.input_pipeline.round_robin import seek_next

    element = seek_next(["a", "b"], num_epochs=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run(element) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)


def test_slices_are_reduced() -> None:
    reduce = tf.contrib.reduce_slice_ops
    axis = tf.constant(0, tf.int64)
    total, least = _run(
        reduce.reduce_slice_sum(GRID, [[0, 2], [1, 3]], axis),
        reduce.reduce_slice_min(GRID, [0, 1, 3], axis),
    )
    assert total.tolist() == [GRID[:2].sum(0).tolist(), GRID[1:].sum(0).tolist()]
    assert least.tolist() == GRID[:2].tolist()
