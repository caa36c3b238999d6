"""Estimators here and in TensorFlow 1.15 go on with each other's models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tests.peer import runner
from tests.peer.peers import Peer, Tolerance, python_of, value_differences

# `folder` is set before it: the directory of the model.
_MODEL = """
data = np.random.RandomState(1).rand(30, 4).astype(np.float32)
labels = (data.sum(1) > 2).astype(np.int64)


def model_fn(features, labels, mode):
    constant = tf.constant_initializer
    dense = tf.layers.dense
    net = dense(features["x"], 5, tf.nn.relu, kernel_initializer=constant(0.2))
    # Not equal rows: the gradient would be rounding alone, which Adam scales up.
    start = [[0.1, -0.2], [0.3, 0.1], [-0.1, 0.2], [0.2, 0.4], [-0.3, 0.1]]
    logits = dense(net, 2, kernel_initializer=constant(start))
    if mode == "infer":
        predictions = {"p": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def input_fn():
    data_set = tf.data.Dataset.from_tensor_slices(({"x": data}, labels))
    return data_set.repeat().batch(10)


def serving():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


model = tf.estimator.Estimator(model_fn, folder)
"""
_TRAIN = """
model.train(input_fn, steps=5)
result = [(n, model.get_variable_value(n)) for n in model.get_variable_names()]
"""
_EXPORT = "result = model.export_saved_model(folder + '/export', serving).decode()\n"
_SERVE = """
with tf.Session(graph=tf.Graph()) as session:
    loaded = tf.saved_model.loader.load(session, ["serve"], path)
    signature = loaded.signature_def["serving_default"]
    x = signature.inputs["x"].name
    result = session.run(signature.outputs["p"].name, {x: data})
"""


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    """A process with TensorFlow 1.15; later ones have no Estimator."""
    if python_of("1.15") is None:
        pytest.skip("no TensorFlow 1.15 is here (make peer)")
    found = Peer("1.15")
    yield found
    found.close()


def _result(outcome: dict[str, Any]) -> Any:
    assert outcome["error"] is None, outcome["error"][2]
    return outcome["result"]


def test_one_goes_on_where_the_other_was(tmp_path: Path, peer: Peer) -> None:
    def train(folder: str, who: str) -> Any:
        for turn, is_ours in enumerate(letter == "o" for letter in who):
            place = f"folder = {str(tmp_path / folder)!r}  # {turn}\n"
            source = place + _MODEL + _TRAIN
            done = runner.execute(tf, source) if is_ours else peer.execute(source)
            values = _result(done)
        return values

    expected = train("a", "tt")
    for who in ("ot", "to", "oo"):
        assert not value_differences(train(who, who), expected, Tolerance())


def test_exports_are_served_by_the_other(tmp_path: Path, peer: Peer) -> None:
    begin = f"folder = {str(tmp_path)!r}\n" + _MODEL
    _result(runner.execute(tf, begin + _TRAIN))
    paths = [
        _result(runner.execute(tf, begin + _EXPORT)),
        _result(peer.execute(begin + _EXPORT.replace("/export", "/other"))),
    ]
    served = []
    for path in paths:
        source = begin + f"path = {path!r}\n" + _SERVE
        served += [runner.execute(tf, source), peer.execute(source)]
    first, *others = map(_result, served)
    for values in others:
        assert not value_differences(values, first, Tolerance())
