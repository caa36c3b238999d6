"""Recurrent models: what they see of each sequence, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.estimator import recurrent_logits
from tensorloom.contrib.estimator.exports_at_steps import StepsExporter
from tensorloom.estimator.heads.sequential_head import SequentialHeadWrapper

ce: Any = tf.contrib.estimator
_COLUMN: Any = tf.contrib.feature_column.sequence_numeric_column("price")


def _features() -> dict[str, Any]:
    indices = [[0, 0], [0, 1], [1, 0]]
    return {"price": tf.SparseTensor(indices, [1.0, 2.0, 3.0], [2, 2])}


def test_the_last_step_of_each_sequence_counts() -> None:
    steps = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    context = np.array([[5.0], [6.0]], np.float32)
    last = recurrent_logits.select_last_activations(tf.constant(steps), [3, 1])
    full = recurrent_logits.select_last_activations(tf.constant(steps), None)
    beside = recurrent_logits.concatenate_context_input(
        tf.constant(steps), tf.constant(context)
    )
    with tf.Session() as session:
        found = session.run([last, full, beside])
    np.testing.assert_array_equal(found[0], [[4, 5], [6, 7]])
    np.testing.assert_array_equal(found[1], [[4, 5], [10, 11]])
    np.testing.assert_array_equal(found[2][:, :, 2], [[5, 5, 5], [6, 6, 6]])


@pytest.mark.slow
def test_a_classifier_predicts_what_its_weights_say(tmp_path: Any) -> None:
    model = ce.RNNClassifier([_COLUMN], num_units=[1], model_dir=str(tmp_path))
    model.train(lambda: (_features(), tf.constant([[0], [1]])), steps=1)
    weights = {name: model.get_variable_value(name) for name in _WEIGHTS}
    assert sorted(weights) == sorted(set(model.get_variable_names()) & set(_WEIGHTS))
    kernel, bias, out, offset = (weights[name] for name in _WEIGHTS)

    def logit(prices: list[float]) -> Any:
        state = 0.0
        for price in prices:
            state = np.tanh(price * kernel[0, 0] + state * kernel[1, 0] + bias[0])
        return state * out[0, 0] + offset[0]

    rows = model.predict(_features)
    for prices in ([1.0, 2.0], [3.0]):
        assert next(rows)["logits"] == pytest.approx([logit(prices)], rel=1e-5)


_WEIGHTS = (
    "rnn/rnn/basic_rnn_cell/kernel",
    "rnn/rnn/basic_rnn_cell/bias",
    "rnn/logits/dense/kernel",
    "rnn/logits/dense/bias",
)


@pytest.mark.slow
def test_a_head_of_sequences_counts_the_steps_that_are_there(tmp_path: Any) -> None:
    head = SequentialHeadWrapper(tf.estimator.RegressionHead(), "mask")
    mask = tf.constant([[True, True], [True, False]])
    logits = tf.constant([[[1.0], [2.0]], [[3.0], [9.0]]])
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.0, 0.0, 1.0], [2, 2])
    loss = head.loss(logits=logits, labels=labels, features={"mask": mask})
    spec = head.create_estimator_spec({"mask": mask}, "infer", logits)
    with tf.Session() as session:
        assert session.run(loss) == pytest.approx((1 + 4 + 4) / 3)
        assert session.run(spec.predictions["mask"]).tolist()[1] == [True, False]
    assert (head.name, head.logits_dimension) == (None, 1)
    with pytest.raises(ValueError, match="`mask` should be included"):
        head.loss(logits=logits, labels=labels, features={})
    model = ce.RNNEstimator(
        head, [_COLUMN], num_units=[2], return_sequences=True, model_dir=str(tmp_path)
    )
    model.train(lambda: (_features(), _labels()), steps=1)
    assert next(model.predict(_features))["predictions"].shape == (2, 1)


def _labels() -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.0, 0.0, 1.0], [2, 2])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: ce.RNNClassifier([], num_units=[1], rnn_cell_fn=str),
            ValueError,
            "must not be specified when using rnn_cell_fn",
        ),
        (
            lambda: ce.RNNEstimator(
                ce.regression_head(), [], num_units=[1], return_sequences=True
            ),
            ValueError,
            "must be a `_SequentialHead`",
        ),
        (
            lambda: recurrent_logits.make_rnn_cell_fn([1], int)("train"),
            ValueError,
            "Supported cell types are",
        ),
        (
            lambda: SequentialHeadWrapper(
                tf.estimator.MultiHead([tf.estimator.RegressionHead(name="a")])
            ),
            ValueError,
            "`MultiHead` is not supported",
        ),
        (
            lambda: SequentialHeadWrapper(tf.estimator.RegressionHead(), 1),  # type: ignore[arg-type]
            TypeError,
            "must be a string",
        ),
        (lambda: StepsExporter([0, -1]), ValueError, "at least one positive"),
    ],
)
def test_what_is_wrong_is_said(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_exports_are_made_at_the_next_evaluation_after_a_step(tmp_path: Any) -> None:
    class Model:
        model_dir = str(tmp_path)
        exported: list[Any] = []  # noqa: RUF012

        def export_saved_model(self, path: Any, *args: Any, **kwargs: Any) -> Any:
            self.exported.append(path)
            return path

    (tmp_path / "eval").mkdir()
    exporter = StepsExporter([1, 2, 3, 6, 7, 10, 12, 25])
    model = Model()
    made = [
        step
        for step in range(5, 31, 5)
        if exporter.export(model, step, "", {"global_step": step}, False)
    ]
    assert made == model.exported == [5, 10, 15, 25]
    with pytest.raises(ValueError, match="does not have global step"):
        exporter.export(model, 1, "", {}, False)
