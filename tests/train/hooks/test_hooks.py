"""Session hooks one by one; tests/peer compares whole lives with TensorFlow."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.session.timeline import Timeline


def counting() -> Any:
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def run_steps(fetches: Any, hooks: Any, count: int) -> int:
    """Runs steps until a hook stops; how many."""
    done = 0
    with tf.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop() and done < count:
            session.run(fetches)
            done += 1
    return done


def events_of(directory: Path) -> list[Any]:
    tf.summary.FileWriterCache.clear()
    return [
        event
        for path in sorted(directory.glob("events*"))
        for event in tf.train.summary_iterator(str(path))
    ]


@pytest.mark.parametrize(
    ("options", "steps"), [({"num_steps": 3}, 3), ({"last_step": 5}, 5)]
)
def test_stop_at_step(options: dict[str, int], steps: int) -> None:
    assert run_steps(counting(), [tf.train.StopAtStepHook(**options)], 100) == steps


def test_logged_values(caplog: pytest.LogCaptureFixture) -> None:
    tf.train.get_or_create_global_step()
    a, b = tf.constant(1.5, name="a"), tf.constant([1.0, 2e-9], name="b")
    hooks = [
        tf.train.LoggingTensorHook({"y": b, "x": "a"}, every_n_iter=2, at_end=True),
        tf.train.LoggingTensorHook([a], every_n_iter=9, formatter=lambda v: f"<{v}>"),
    ]
    with caplog.at_level(logging.INFO, "tensorflow"):
        run_steps(a, hooks, 4)
    lines = [record.getMessage() for record in caplog.records]
    logged = [line.partition(" (")[0] for line in lines if "x = " in line]
    assert logged == ["x = 1.5, y = [1. 0.]"] * 3
    assert sum(" sec)" in line for line in lines if "x = " in line) == 2
    assert sum(line.startswith("<{") for line in lines) == 1


def test_name_of_several_outputs_is_ambiguous() -> None:
    tf.unique([1, 2], name="u")
    with pytest.raises(ValueError, match="u:0 for the first"):
        tf.train.LoggingTensorHook(["u"], 1).begin()


@pytest.mark.parametrize("fails", [True, False])
def test_nan(fails: bool) -> None:
    step = counting()
    loss = tf.where(step > 2, np.float32(np.nan), 1.0)
    hook = tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)
    if fails:
        with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss"):
            run_steps(loss, [hook], 9)
    else:
        assert run_steps(loss, [hook], 9) == 3


def test_checkpoints_and_listeners(tmp_path: Path) -> None:
    calls: list[Any] = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self) -> None:
            calls.append("begin")

        def before_save(self, session: Any, global_step_value: int) -> None:
            calls.append(("before", int(global_step_value)))

        def after_save(self, session: Any, global_step_value: int) -> bool:
            calls.append(("after", int(global_step_value)))
            return global_step_value >= 4

        def end(self, session: Any, global_step_value: int) -> None:
            calls.append(("end", int(global_step_value)))

    train = counting()
    scaffold = tf.train.Scaffold()
    hook = tf.train.CheckpointSaverHook(
        str(tmp_path), save_steps=2, scaffold=scaffold, listeners=[Listener()]
    )
    with tf.train.MonitoredSession(
        tf.train.ChiefSessionCreator(scaffold), hooks=[hook]
    ) as session:
        while not session.should_stop():
            session.run(train)
    saves = [0, 2, 4]
    expected = [(when, step) for step in saves for when in ("before", "after")]
    assert calls == ["begin", *expected, ("end", 4)]
    names = [event.WhichOneof("what") for event in events_of(tmp_path)]
    assert names.count("session_log") == 3
    assert {"graph_def", "meta_graph_def"} <= set(names)


@pytest.mark.parametrize("count", [0, 2])
def test_saver_of_the_collection(tmp_path: Path, count: int) -> None:
    counting()
    for _ in range(count):
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    with pytest.raises(RuntimeError, match="collection"):
        hook._get_saver()


def test_objects_saved_by_a_scaffold(tmp_path: Path) -> None:
    train = counting()
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    checkpoint = tf.train.Checkpoint(v=v, step=tf.train.get_global_step())
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), scaffold=tf.train.Scaffold(saver=checkpoint)
    ) as session:
        session.run(train)
    path = tf.train.latest_checkpoint(str(tmp_path))
    assert "v/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    with tf.Session() as sess:
        checkpoint.restore(path).run_restore_ops(sess)
        assert sess.run(v).tolist() == [1.0, 2.0]


def test_steps_per_second(tmp_path: Path) -> None:
    hook = tf.train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path))
    run_steps(counting(), [hook], 6)
    rates = [
        (event.step, value.tag)
        for event in events_of(tmp_path)
        for value in event.summary.value
    ]
    assert rates == [(3, "global_step/sec"), (5, "global_step/sec")]


def test_step_that_does_not_count_is_told(caplog: pytest.LogCaptureFixture) -> None:
    tf.train.get_or_create_global_step()
    run_steps(tf.constant(1), [tf.train.StepCounterHook()], 4)
    assert "global step (tf.train.get_global_step) has not been increased" in (
        caplog.text
    )


def test_summaries(tmp_path: Path) -> None:
    train = counting()
    summary = tf.summary.scalar("s", tf.train.get_global_step())
    hook = tf.train.SummarySaverHook(
        save_steps=2, output_dir=str(tmp_path), summary_op=summary
    )
    run_steps(train, [hook], 5)
    steps = [event.step for event in events_of(tmp_path) if event.summary.value]
    assert steps == [1, 3, 5]


def test_wait_for_step() -> None:
    step = tf.train.get_or_create_global_step()
    hook = tf.train.GlobalStepWaiterHook(wait_until_step=3)
    hook.begin()
    with tf.Session() as sess:
        sess.run(step.assign(3))
        context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), sess)
        assert hook.before_run(context) is None


def test_final_values_and_input_that_is_used_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hook = tf.train.FinalOpsHook({"a": tf.constant(3)})
    run_steps(tf.no_op(), [hook], 1)
    assert hook.final_ops_values == {"a": 3}
    empty = tf.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.OutOfRangeError):
        tf.train.FinalOpsHook(empty).end(sess)
    assert "dependency back to some input source" in caplog.text


def test_profile(tmp_path: Path) -> None:
    x = tf.ones([4, 4])
    train = [counting(), tf.matmul(x, tf.random_normal([4, 4]))]
    hook = tf.train.ProfilerHook(
        save_steps=2, output_dir=str(tmp_path), show_memory=True
    )
    run_steps(train, [hook], 5)
    files = sorted(path.name for path in tmp_path.glob("timeline*"))
    assert files == ["timeline-2.json", "timeline-4.json"]
    trace = json.loads((tmp_path / files[0]).read_text())["traceEvents"]
    assert {"M", "X", "C"} <= {event["ph"] for event in trace}
    assert any(event["name"] == "MatMul" for event in trace)
    tags = [event.tagged_run_metadata.tag for event in events_of(tmp_path)]
    assert [tag for tag in tags if tag] == ["step_2", "step_4"]


def test_timeline_of_a_step() -> None:
    from tensorloom.protos.step_stats_pb2 import StepStats

    stats = StepStats()
    for name, start, label in (("a", 10, "a = Const()"), ("b", 20, "b = Neg(a)")):
        device = stats.dev_stats.add(device=f"/device:CPU:{len(stats.dev_stats)}")
        node = device.node_stats.add(
            node_name=name,
            all_start_micros=start,
            all_end_rel_micros=5,
            timeline_label=label,
        )
        allocation = node.output.add().tensor_description.allocation_description
        allocation.requested_bytes = 100
        allocation.allocator_name = "cpu"
    analysis = Timeline(stats).analyze_step_stats()
    assert analysis.allocator_maximums["cpu"].num_bytes == 200
    events = json.loads(analysis.chrome_trace.format_to_string())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ["Const", "Neg"]
    assert [event["ph"] for event in events if event.get("cat") == "DataFlow"] == [
        "s",
        "t",
    ]
