"""Scores of generated images: by classifiers, by Inception, by sliced distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.gan.sliced_distance import laplacian_pyramid

evaluation: Any = tf.contrib.gan.eval
_RANDOM = np.random.RandomState(0)
_REAL = _RANDOM.randn(12, 3).astype(np.float32)
_GENERATED = (_RANDOM.randn(12, 3) * [1.0, 2.0, 0.5] + 0.3).astype(np.float32)


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def _frechet(real: Any, generated: Any) -> float:
    """|m - m_w|^2 + Tr(C + C_w - 2 (C C_w)^(1/2)), by eigenvalues of the product."""
    covariances = [
        np.cov(x.astype(np.float64), rowvar=False) for x in (real, generated)
    ]
    roots = np.sqrt(np.linalg.eigvals(covariances[0] @ covariances[1]).real)
    means = real.mean(0) - generated.mean(0)
    return float(means @ means + np.trace(sum(covariances)) - 2 * roots.sum())


def test_frechet_distances() -> None:
    real, generated = tf.constant(_REAL), tf.constant(_GENERATED)
    from_images = evaluation.frechet_classifier_distance(
        real, generated, lambda images: images * 1.0, num_batches=3
    )
    full = evaluation.frechet_classifier_distance_from_activations(real, generated)
    means = evaluation.mean_only_frechet_classifier_distance_from_activations(
        real, generated
    )
    diagonal = evaluation.diagonal_only_frechet_classifier_distance_from_activations(
        real, generated
    )
    same = evaluation.frechet_classifier_distance_from_activations(real, real)
    found = _run([from_images, full, means, diagonal, same])
    difference = _REAL.mean(0) - _GENERATED.mean(0)
    spread = (_REAL.std(0) - _GENERATED.std(0)) ** 2
    squared = float((difference**2).sum())
    expected = _frechet(_REAL, _GENERATED)
    wanted = [expected, expected, squared, squared + float(spread.sum()), 0.0]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert full.dtype == tf.float32


def test_the_classifier_score() -> None:
    logits = _RANDOM.randn(8, 4)
    each = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    wanted = np.exp((each * np.log(each / each.mean(0))).sum(1).mean())
    score = evaluation.classifier_score(tf.constant(logits), tf.identity, num_batches=2)
    alike = evaluation.classifier_score_from_logits(tf.zeros([4, 3]))
    assert _run([score, alike]) == pytest.approx([wanted, 1.0])


@pytest.mark.parametrize("size", [1024, 4])
def test_kernel_distances_are_means_over_blocks(size: int) -> None:
    def kernel(x: Any, y: Any) -> Any:
        return (x @ y.T / 3 + 1) ** 3

    def distance(x: Any, y: Any) -> Any:
        count = len(x)
        within = [
            (kernel(z, z).sum() - np.trace(kernel(z, z))) / (count * (count - 1))
            for z in (x, y)
        ]
        return sum(within) - 2 * kernel(x, y).mean()

    found = _run(
        evaluation.kernel_classifier_distance_and_std_from_activations(
            tf.constant(_REAL), tf.constant(_GENERATED), size, tf.float64
        )
    )
    parts = max(12 // size, 1)
    blocks = [
        distance(x, y)
        for x, y in zip(
            np.split(_REAL.astype(np.float64), parts),
            np.split(_GENERATED.astype(np.float64), parts),
            strict=True,
        )
    ]
    error = np.std(blocks, ddof=1) / np.sqrt(parts) if parts > 1 else np.nan
    np.testing.assert_allclose(found, [np.mean(blocks), error], rtol=1e-6)


def _frozen() -> Any:
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, 4, 4, 3], name="Mul")
        tf.reduce_mean(images, axis=[1, 2], name="logits")
        tf.reduce_max(images, axis=[1, 2], keepdims=True, name="pool_3")
        return graph.as_graph_def()


def test_a_frozen_network_is_run(tmp_path: Any) -> None:
    path = tmp_path / "frozen.pb"
    path.write_bytes(_frozen().SerializeToString())
    graph_def = evaluation.get_graph_def_from_disk(str(path))
    pixels = _RANDOM.uniform(0, 255, [2, 8, 8, 3]).astype(np.float32)
    images = evaluation.preprocess_image(tf.constant(pixels), 4, 4)
    outputs = evaluation.run_inception(
        images, graph_def, image_size=4, output_tensor=["logits:0", "pool_3:0"]
    )
    values, logits, pool = _run([images, *outputs])
    np.testing.assert_allclose(values, (pixels[:, ::2, ::2] - 128) / 128, rtol=1e-5)
    np.testing.assert_allclose(logits, values.mean((1, 2)), rtol=1e-5)
    assert pool.shape == (2, 3)
    assert evaluation.INCEPTION_DEFAULT_IMAGE_SIZE == 299


def test_a_network_that_is_not_here_is_named(monkeypatch: Any, tmp_path: Any) -> None:
    def offline(*args: Any) -> None:
        raise OSError("no route")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("urllib.request.urlretrieve", offline)
    images = tf.zeros([2, 299, 299, 3])
    with pytest.raises(RuntimeError, match=r"frozen_inception_v1.*classifier_score"):
        evaluation.inception_score(images)
    with pytest.raises(ValueError, match="must provide `default_graph_def_fn`"):
        evaluation.run_inception(images, default_graph_def_fn=None)
    with pytest.raises(ValueError, match="are incompatible"):
        evaluation.run_inception(tf.zeros([2, 8, 8, 3]))


def test_a_pyramid_holds_the_image() -> None:
    images = tf.constant(_RANDOM.rand(2, 8, 8, 3).astype(np.float32))
    first, second = _run(laplacian_pyramid(images, 2))
    assert (first.shape, second.shape) == ((2, 8, 8, 3), (2, 4, 4, 3))
    # What is flat has no detail.
    flat, rest = _run(laplacian_pyramid(tf.ones([1, 8, 8, 3]), 2))
    np.testing.assert_allclose(flat, np.zeros([1, 8, 8, 3]), atol=1e-6)
    np.testing.assert_allclose(rest, np.ones([1, 4, 4, 3]), atol=1e-6)


@pytest.mark.parametrize("use_svd", [False, True])
def test_unlike_images_are_far_from_each_other(use_svd: bool) -> None:
    np.random.seed(0)
    tf.set_random_seed(1)
    smooth = np.cumsum(_RANDOM.randn(4, 32, 32, 3), axis=1).astype(np.float32)
    noise = _RANDOM.randn(4, 32, 32, 3).astype(np.float32)
    levels = evaluation.sliced_wasserstein_distance(
        tf.constant(smooth),
        tf.constant(noise),
        patches_per_image=8,
        random_projection_dim=8,
        use_svd=use_svd,
    )
    for among_real, to_fake in _run(levels):
        assert 0 <= among_real < to_fake
    assert len(levels) == 2
    with pytest.raises(ValueError, match="are incompatible"):
        evaluation.sliced_wasserstein_distance(tf.ones([1, 8, 8, 1]), tf.ones([1]))
