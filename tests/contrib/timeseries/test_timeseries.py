"""`tf.contrib.timeseries`: series in and out, models against NumPy, whole Estimators.

Numbers are compared with TensorFlow 1.15's in tests/peer/programs/contrib.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.timeseries import matrices, statistics
from tensorloom.contrib.timeseries.numpy_series import canonical_series
from tensorloom.contrib.timeseries.state_space_models.cycles import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from tensorloom.contrib.timeseries.state_space_models.level_trend import (
    AdderStateSpaceModel,
)

ts = tf.contrib.timeseries


def _run(fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches)


def _series(length: int = 60) -> dict[str, Any]:
    times = np.arange(length)
    return {"times": times, "values": np.sin(times / 3.0)[:, None]}


def _read(features: Any) -> Any:
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        found = sess.run(features)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
    return found


def test_a_csv_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    path.write_text("\n".join(f"{t},{t * 0.5},{-t}" for t in range(5)) + "\n")
    reader = ts.CSVReader(str(path), ("times", "values", "values"))
    features, labels = ts.WholeDatasetInputFn(reader)()
    found = _read(features)
    assert labels is None
    assert found["times"].tolist() == [[0, 1, 2, 3, 4]]
    assert found["values"][0, 3].tolist() == [1.5, -3.0]


def test_windows_are_next_to_each_other() -> None:
    reader = ts.NumpyReader(_series())
    features, _ = ts.RandomWindowInputFn(reader, window_size=5, batch_size=3)()
    found = _read(features)
    assert found["values"].shape == (3, 5, 1)
    assert (np.diff(found["times"], axis=1) == 1).all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"times": [1, 2]}, "required features"),
        ({"times": [1, 2], "values": [1.0]}, "prefixed by the shape"),
        ({"times": [[1], [2]], "values": [[1.0], [2.0]]}, "unbatched input"),
        ({"times": [1], "values": [[[1.0]]]}, "unexpected number of dimensions"),
    ],
)
def test_refused_series(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        canonical_series(data, require_single_batch=True)


def test_a_series_may_lack_dimensions() -> None:
    found = canonical_series({"times": 3, "values": 2.0}, require_single_batch=False)
    assert found["values"].tolist() == [[[2.0]]]
    found = canonical_series({"times": [3, 4], "values": [2.0, 5.0]}, True)
    assert found["values"].shape == (1, 2, 1)


def test_predictions_come_after_an_evaluation() -> None:
    evaluation = {"times": np.array([[3, 4]]), "start_tuple": (np.zeros([1, 2]),)}
    features, _ = ts.predict_continuation_input_fn(evaluation, steps=3)()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        assert sess.run(features["times"]).tolist() == [[5, 6, 7]]
    with pytest.raises(ValueError, match="must be after"):
        ts.predict_continuation_input_fn(evaluation, times=[4, 5])
    with pytest.raises(ValueError, match="Only one of"):
        ts.predict_continuation_input_fn(evaluation, steps=1, times=[5])


def test_statistics_follow_the_windows() -> None:
    values = np.array([[[1.0], [2.0], [6.0]]])
    features = {"times": tf.constant([[0, 2, 4]]), "values": tf.constant(values)}
    make = statistics.InputStatisticsFromMiniBatch(1, tf.float64)
    found = make.initialize_graph(
        {"times": tf.cast(features["times"], tf.int64), "values": features["values"]}
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(found)
    assert found.overall_feature_moments.mean.tolist() == [3.0]
    np.testing.assert_allclose(found.overall_feature_moments.variance, [7.0])
    assert (found.start_time, found.total_observation_count) == (0, 2)


def test_matrices() -> None:
    a, b = np.array([[0.5, 0.2], [0.1, 0.3]]), np.eye(2)
    powers, sums, blocks = _run(
        [
            matrices.matrix_to_powers(a, [0, 1, 3]),
            matrices.power_sums_tensor(3, a, b),
            matrices.block_diagonal([tf.constant(a), [[7.0]]], tf.float64),
        ]
    )
    np.testing.assert_allclose(powers, [b, a, a @ a @ a])
    squares = a @ a @ (a @ a).T
    np.testing.assert_allclose(sums, [b * 0, b, b + a @ a.T, b + a @ a.T + squares])
    assert blocks[2].tolist() == [0.0, 0.0, 7.0]
    assert blocks.shape == (3, 3)


MODELS: dict[str, Callable[[], Any]] = {
    "level and slope": AdderStateSpaceModel,
    "cycle": lambda: CycleStateSpaceModel(4),
    "resolution": lambda: ResolutionCycleModel(3, 6),
}


@pytest.mark.parametrize("name", MODELS)
def test_powers_and_noise_have_closed_forms(name: str) -> None:
    """They are what the general formulas give."""
    model = MODELS[name]()
    model.initialize_graph()
    steps = tf.constant([0, 1, 2, 5])
    general = super(
        type(model) if name != "resolution" else CycleStateSpaceModel, model
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(
            [
                model.transition_power_noise_accumulator(steps),
                general.transition_power_noise_accumulator(steps),
                model.transition_to_powers(steps),
                general.transition_to_powers(steps),
            ]
        )
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)
    np.testing.assert_allclose(found[2], found[3], atol=1e-4)


def test_a_window_of_the_wrong_size_is_refused() -> None:
    model = ts.ARModel(5, input_window_size=3, output_window_size=2, num_features=1)
    model.initialize_graph()
    features = {"times": tf.constant([[1, 2]]), "values": tf.ones([1, 2, 1])}
    with pytest.raises(ValueError, match="set window_size=5"):
        model.define_loss(features, "train")
    with pytest.raises(ValueError, match="Unknown mode"):
        model.define_loss(features, "infer")
    with pytest.raises(ValueError, match="initialize_graph"):
        ts.ARModel(5, 3, 2, 1).define_loss(features, "train")


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "windows": lambda: ts.ARRegressor(
        periodicities=19, input_window_size=6, output_window_size=2, num_features=1
    ),
    "structure": lambda: ts.StructuralEnsembleRegressor(
        periodicities=19,
        num_features=1,
        cycle_num_latent_values=3,
        moving_average_order=1,
        anomaly_prior_probability=0.01,
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_train_evaluate_predict_and_serve(name: str, tmp_path: Path) -> None:
    estimator = ESTIMATORS[name]()
    reader = ts.NumpyReader(_series())
    windows = ts.RandomWindowInputFn(reader, window_size=8, batch_size=4)
    estimator.train(windows, steps=2)
    before = estimator.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    estimator.train(windows, steps=15)
    evaluation = estimator.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    assert evaluation["loss"] < before["loss"]
    following = ts.predict_continuation_input_fn(evaluation, steps=7)
    (predicted,) = estimator.predict(following)
    assert predicted["mean"].shape == (7, 1)
    exported = estimator.export_saved_model(
        str(tmp_path), estimator.build_raw_serving_input_receiver_fn()
    )
    utils = ts.saved_model_utils
    with tf.Graph().as_default(), tf.Session() as sess:
        signatures = tf.saved_model.loader.load(
            sess, [tf.saved_model.tag_constants.SERVING], exported.decode()
        )
        served = utils.predict_continuation(evaluation, signatures, sess, steps=7)
        state = utils.cold_start_filter(signatures, sess, _series())
        state = utils.filter_continuation(
            state, signatures, sess, {"times": [60], "values": [[0.5]]}
        )
    np.testing.assert_allclose(served["mean"][0], predicted["mean"], rtol=1e-4)
    assert state["times"].tolist() == [[60]]
