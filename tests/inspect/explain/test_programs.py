"""Whole programs and models, explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain.models import explain_model
from tensorloom.inspect.explain.programs import watched_runs


def test_the_steps_of_a_program_and_its_results() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.Variable(0.0)
    add = v.assign_add(tf.reduce_sum(x), name="add")
    with watched_runs() as steps, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sums = [sess.run(add, {x: np.ones([n])}) for n in (1, 2, 3, 4)]
        assert sess.run(["add:0", x], {x: [1.0]})[0] == 11.0
    assert sums == [1.0, 3.0, 6.0, 10.0]  # each ran once
    # What is fed and fetched is no part of a step.
    assert [step.runs for step in steps.steps] == [1, 5]
    assert steps.steps[1].explanation.signature.feeds == ("x:0",)
    assert steps.longest in steps.steps
    assert tf.Session.run.__qualname__ == "BaseSession.run"  # as it was


def test_metadata_that_the_program_asks_for_is_filled() -> None:
    y = tf.exp(tf.constant([1.0, 2.0]), name="y")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with watched_runs(), tf.Session() as sess:
        sess.run(y, options=options, run_metadata=metadata)
    assert metadata.step_stats.dev_stats


def test_a_step_that_cannot_end_fails_when_its_time_is_over() -> None:
    get = tf.FIFOQueue(1, tf.float32).dequeue()
    soon = tf.RunOptions(timeout_in_ms=20)
    sess = tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20))
    with sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.explain(get)
    sess = tf.Session()
    with sess, watched_runs(), pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(get, options=soon)


def test_a_step_that_fails_is_explained_and_its_error_is_as_ever() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    checked = tf.check_numerics(tf.log(x), "bad", name="checked")
    total = tf.reduce_sum(checked, name="total")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as plain:
        sess.run(checked, {x: [-1.0]})
    with tf.Session() as sess, watched_runs() as steps:
        with pytest.raises(tf.errors.InvalidArgumentError) as first:
            sess.run(checked, {x: [-1.0]})
        for value, bad in ((1.0, -1.0), (2.0, -2.0), (3.0, -3.0)):
            sess.run(total, {x: [value]})
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(total, {x: [bad]})
    assert first.value.op is checked.op
    assert first.value.message == plain.value.message
    alone, often = (step.explanation for step in steps.steps)
    assert alone.fates["checked"].way == "kept"
    assert alone.times is None
    (note,) = alone.notes
    assert note.startswith("Run 1 of this step failed: InvalidArgumentError: bad : ")
    assert "values [[node checked (defined at" in note
    # What an earlier run told stays: the failed one has no times.
    assert [step.runs for step in steps.steps] == [1, 6]
    assert often.times is not None
    assert [note[:6] for note in often.notes] == ["Run 2 ", "Run 4 ", "Run 6 "]


def test_runs_of_callables_are_seen() -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.reduce_sum(x)
    with tf.Session() as sess, watched_runs() as steps:
        call = sess.make_callable(y, [x])
        assert [call([n, n, n]) for n in range(4)] == [0.0, 3.0, 6.0, 9.0]
    assert [step.runs for step in steps.steps] == [4]


def model() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.tanh(tf.matmul(x, tf.constant([[1.0], [2.0]], name="w")), name="y")
    return x, y


@pytest.mark.parametrize("name", ["graph.pb", "graph.pbtxt"])
def test_a_graph_in_a_file(tmp_path: Path, name: str) -> None:
    model()
    path = tf.train.write_graph(
        tf.get_default_graph(), str(tmp_path), name, name.endswith("txt")
    )
    without = explain_model(path)
    assert without.signature.targets == ("y",)
    assert without.times is None
    fed = explain_model(path, ["y:0"], {"x": np.ones([3, 2], np.float32)})
    np.testing.assert_allclose(fed.results[0], np.tanh(3.0) * np.ones([3, 1]))


def test_a_saved_model(tmp_path: Path) -> None:
    x, y = model()
    path = str(tmp_path / "model")
    with tf.Session() as sess:
        tf.saved_model.simple_save(sess, path, {"in": x}, {"out": y})
    e = explain_model(path, inputs={"in": [[1.0, 1.0]]})
    assert e.signature.fetches == ("y:0",)
    assert e.times is not None
    with pytest.raises(tf.errors.NotFoundError, match="there are serving_default"):
        explain_model(path, signature="other")


def test_a_step_that_cannot_be_prepared_is_explained() -> None:
    with tf.device("/gpu:7"):
        far = tf.negative(tf.random_uniform([1]), name="far")
    tf.exp(far, name="other")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as plain:
        sess.run(far)
    with tf.Session() as sess, watched_runs() as steps:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as watched:
                sess.run(far)
        assert watched.value.message == plain.value.message
    (step,) = steps.steps
    assert step.runs == 2
    told = step.explanation
    assert told.fates["other"].way == "pruned"
    assert told.fates["far"].way == "not known"
    assert told.fates["far"].detail.startswith("the step failed after ")
    text = str(told)
    assert "This step failed before its nodes were told, after: prune" in text
    assert (
        "Run 2 of this step failed: InvalidArgumentError: Cannot assign a dev" in text
    )
    assert told.times is None
    assert json.loads(json.dumps(told.as_dict()))["notes"] == told.notes


def test_a_partial_run_is_explained() -> None:
    x, y = (tf.placeholder(tf.float32, [2], name=name) for name in "xy")
    first = tf.square(x, name="first")
    second = tf.add(first, y, name="second")
    tf.exp(second, name="other")
    with tf.Session() as sess, watched_runs() as steps:
        for _ in range(2):
            handle = sess.partial_run_setup([first, second], [x, y])
            assert sess.partial_run(handle, first, {x: [1.0, 2.0]}).tolist() == [1, 4]
            assert sess.partial_run(handle, second, {y: [1.0, 1.0]}).tolist() == [2, 5]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, second)
        assert sess.run(second, {x: [1.0, 2.0], y: [1.0, 1.0]}).tolist() == [2, 5]
    partial, whole = steps.steps
    assert (partial.runs, whole.runs) == (5, 1)
    told = partial.explanation
    assert told.signature.fetches == ("first:0", "second:0")
    assert told.fates["second"].way in ("kept", "changed", "fused")
    assert told.fates["other"].way == "pruned"
    assert told.fates["x"].way == "fed"
    assert told.notes[0].startswith("This is a partial run")
    assert told.notes[1].startswith("Run 5 of this step failed")
    assert "partial run" in str(told)
