"""`tf.contrib.factorization`: clusters, mixtures and factors of known data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

factorization = tf.contrib.factorization
_RANDOM = np.random.RandomState(0)
_MIDDLES: Any = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], np.float32)
_POINTS: Any = np.concatenate(
    [m + 0.5 * _RANDOM.randn(30, 2).astype(np.float32) for m in _MIDDLES]
)[_RANDOM.permutation(90)]


def _sorted(rows: Any) -> Any:
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize("initial", ["kmeans_plus_plus", "kmc2", _MIDDLES])
@pytest.mark.parametrize("mini_batch", [True, False])
def test_kmeans_finds_the_middles(initial: Any, mini_batch: bool) -> None:
    with tf.Graph().as_default():
        parts = [tf.constant(_POINTS[:50]), tf.constant(_POINTS[50:])]
        distances, indices, nearest, known, init, train = factorization.KMeans(
            parts,
            3,
            initial_clusters=initial,
            use_mini_batch=mini_batch,
            random_seed=1,
            kmc2_chain_length=20,
        ).training_graph()
        centers = tf.global_variables()[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            while not session.run(known):
                session.run(init)
            for _ in range(20):
                session.run(train)
            found = session.run(centers)
            if not isinstance(initial, str) or initial == "kmeans_plus_plus":
                np.testing.assert_allclose(_sorted(found), _sorted(_MIDDLES), atol=0.5)
            got = session.run([distances[1], indices[1], nearest[1]])
    expected = ((_POINTS[50:, None] - found[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(got[0], expected, atol=1e-3)
    np.testing.assert_array_equal(got[1], expected.argmin(axis=1))
    np.testing.assert_allclose(got[2], expected.min(axis=1), atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"initial_clusters": "best"}, "Unsupported initialization algorithm 'best'"),
        ({"distance_metric": "taxi"}, "Unsupported distance metric 'taxi'"),
    ],
)
def test_unknown_choices_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        factorization.KMeans(_POINTS, 3, **arguments)


@pytest.mark.slow
def test_an_input_that_ends_with_the_choice_of_centers_counts_a_step(
    tmp_path: Any,
) -> None:
    def once() -> Any:
        return tf.train.limit_epochs(tf.constant(_POINTS), num_epochs=1)

    model = factorization.KMeansClustering(3, str(tmp_path), use_mini_batch=False)
    model.train(once)
    assert model.get_variable_value("global_step") == 1
    first = model.score(once)
    model.train(once)
    assert model.score(once) <= first
    squared = np.array(list(model.transform(once)))
    centers = model.cluster_centers()
    expected = ((_POINTS[:, None] - centers[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, expected, atol=1e-3)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_a_mixture_learns_means_weights_and_variances(kind: str) -> None:
    with tf.Graph().as_default():
        likelihood, scores, assigned, train, init, known = factorization.gmm(
            tf.constant(_POINTS), _POINTS[:6], 6, 0, kind
        )
        del scores
        weights, means = (
            tf.global_variables()[2],
            tf.global_variables()[0],
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(init)
            assert session.run(known)
            before = session.run(likelihood)
            for _ in range(10):
                session.run(train)
            assert session.run(likelihood) > before
            np.testing.assert_allclose(session.run(weights).sum(), 1.0, rtol=1e-5)
            (classes,) = session.run(assigned[0])
            nearest = session.run(means)[classes, 0]
    assert np.abs(nearest - _POINTS).max() < 4.0


def test_an_unknown_covariance_is_refused() -> None:
    with pytest.raises(Exception, match="Invalid covariance type: round"):
        factorization.gmm(tf.constant(_POINTS), "random", 3, 0, "round")


def _matrix(dense: Any) -> Any:
    places = np.argwhere(np.ones_like(dense))
    return tf.SparseTensor(places, dense.ravel(), dense.shape)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_matrix_of_low_rank_is_found_again(shards: int) -> None:
    dense = (_RANDOM.randn(9, 2) @ _RANDOM.randn(2, 7)).astype(np.float32)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        model = factorization.WALSModel(
            9, 7, 2, num_row_shards=shards, num_col_shards=shards, regularization=1e-4
        )
        rows = model.update_row_factors(_matrix(dense))
        cols = model.update_col_factors(_matrix(dense))
        with tf.Session() as session:
            session.run([model.initialize_op, tf.local_variables_initializer()])
            session.run(model.worker_init)
            for _ in range(12):
                session.run(model.row_update_prep_gramian_op)
                session.run(model.initialize_row_update_op)
                session.run(rows[1])
                session.run(model.col_update_prep_gramian_op)
                session.run(model.initialize_col_update_op)
                loss = session.run([cols[1], cols[2]])[1]
            factors = session.run([model.row_factors, model.col_factors])
    u, v = (np.concatenate(side) for side in factors)
    np.testing.assert_allclose(u @ v.T, dense, atol=0.02)
    assert loss < 0.01


def test_weights_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="Invalid weight initialization argument"):
        factorization.WALSModel(3, 3, 2, row_weights=-1.0)


@pytest.mark.slow
def test_an_estimator_of_mixtures_predicts_classes() -> None:
    model = factorization.GMM(3, initial_clusters=_MIDDLES)
    model.fit(input_fn=lambda: (tf.constant(_POINTS), None), steps=5)
    np.testing.assert_allclose(model.clusters(), _MIDDLES, atol=0.5)
    once = tf.train.limit_epochs

    def points() -> Any:
        return once(tf.constant(_POINTS), num_epochs=1), None

    nearest = ((_POINTS[:, None] - _MIDDLES) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(list(model.predict_assignments(points)), nearest)


@pytest.mark.slow
def test_an_estimator_of_factors_stops_after_its_sweeps() -> None:
    dense = (_RANDOM.randn(5, 2) @ _RANDOM.randn(2, 4)).astype(np.float32)
    kind = factorization.WALSMatrixFactorization

    def matrix(project: bool | None = None) -> Any:
        found = {kind.INPUT_ROWS: _matrix(dense), kind.INPUT_COLS: _matrix(dense.T)}
        if project is not None:
            found[kind.PROJECT_ROW] = tf.constant(project)
        return found, None

    model = kind(5, 4, 2, regularization_coeff=1e-4, max_sweeps=20)
    model.fit(input_fn=matrix)
    assert model.get_variable_value(kind.COMPLETED_SWEEPS) == 20
    factors = model.get_row_factors()[0], model.get_col_factors()[0]
    np.testing.assert_allclose(factors[0] @ factors[1].T, dense, atol=0.05)
    projected = model.get_projections(lambda: matrix(True))
    rows = np.array([next(projected) for _ in range(5)])
    np.testing.assert_allclose(rows @ factors[1].T, dense, atol=0.05)
