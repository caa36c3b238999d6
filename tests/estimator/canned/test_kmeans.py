"""`KMeans` finds clusters, keeps TensorFlow's names, and refuses what it cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_RANDOM = np.random.RandomState(0)
_CENTERS = np.array([[0, 5], [5, 0], [-5, -5]], np.float32)
_POINTS = (np.repeat(_CENTERS, 20, 0) + 0.1 * _RANDOM.randn(60, 2)).astype(np.float32)
_POINTS = _POINTS[_RANDOM.permutation(60)]


def _read(batch_size: int = 60, num_epochs: int | None = None) -> Any:
    return tf.estimator.inputs.numpy_input_fn(
        _POINTS, batch_size=batch_size, num_epochs=num_epochs, shuffle=False
    )


def _model(**options: Any) -> Any:
    config = tf.estimator.RunConfig(tf_random_seed=1)
    return tf.estimator.experimental.KMeans(3, config=config, **options)


def _ordered(centers: Any) -> Any:
    return centers[np.argsort(centers[:, 0])]


def _means() -> Any:
    nearest = np.square(_POINTS[:, None] - _CENTERS).sum(2).argmin(1)
    return np.array([_POINTS[nearest == i].mean(0) for i in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["kmeans_plus_plus", _CENTERS + 1])
def test_whole_data_ends_at_the_means(initial: Any) -> None:
    model = _model(initial_clusters=initial, use_mini_batch=False, seed=3)
    model.train(_read(), steps=5)
    found = _ordered(model.cluster_centers())
    np.testing.assert_allclose(found, _ordered(_means()), atol=1e-5)
    once = _read(num_epochs=1)
    indices = np.array(list(model.predict_cluster_index(once)))
    distances = np.array(list(model.transform(once)))
    np.testing.assert_array_equal(distances.argmin(1), indices)
    score = np.square(distances.min(1)).sum()
    np.testing.assert_allclose(model.score(once), score, rtol=1e-3)


@pytest.mark.slow
def test_small_batches_with_delay_keep_their_state() -> None:
    model = _model(initial_clusters=_CENTERS + 1, mini_batch_steps_per_iteration=3)
    model.train(_read(20), steps=7)
    found = _ordered(model.cluster_centers())
    np.testing.assert_allclose(found, _ordered(_means()), atol=0.3)
    assert model.get_variable_names() == [
        "Variable",
        "clusters",
        "clusters_updated",
        "global_step",
        "initialized",
        "update_in_steps",
    ]


@pytest.mark.slow
def test_centers_are_chosen_from_several_batches() -> None:
    model = _model(seed=2)
    model.train(_read(2), steps=1)
    assert model.cluster_centers().shape == (3, 2)


@pytest.mark.slow
def test_training_ends_when_the_loss_stays() -> None:
    model = _model(
        initial_clusters=_CENTERS, use_mini_batch=False, relative_tolerance=1e-3
    )
    model.train(_read(), steps=50)
    assert model.get_variable_value("global_step") < 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"initial_clusters": "best"}, "Unsupported initialization algorithm 'best'"),
        ({"distance_metric": "taxi"}, "Unsupported distance metric 'taxi'"),
    ],
)
def test_unknown_choices_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _model(**options)
