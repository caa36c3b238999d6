"""Writers that live in the graph: `tf.contrib.summary` and `FileWriter(session=)`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

cs = tf.contrib.summary


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _events(directory: Path) -> list[list[Any]]:
    return [
        list(tf.train.summary_iterator(str(path)))
        for path in sorted(directory.glob("*tfevents*"))
    ]


def _values(events: list[Any]) -> list[tuple[int, str, Any]]:
    return [
        (event.step, value.tag, value.WhichOneof("value"))
        for event in events
        for value in event.summary.value
    ]


def test_summaries_of_a_step(session: Any, tmp_path: Path) -> None:
    tf.train.create_global_step()
    writer = cs.create_file_writer(str(tmp_path))
    with writer.as_default(), cs.always_record_summaries():
        with tf.name_scope("outer"):
            cs.scalar("loss", 2.0)
            cs.histogram("h", [1.0, 2.0], family="f")
        cs.generic("tensor", [1, 2], step=5, metadata=tf.SummaryMetadata())
        cs.image("image", tf.zeros([1, 2, 2, 1]))
        cs.audio("audio", tf.zeros([1, 4, 1]), 100.0, 1)
        session.run(tf.global_variables_initializer())
        tf.summary.initialize(graph=session.graph)
        made = tf.summary.all_v2_summary_ops()
        assert session.run(made) == [True] * 5
        session.run(cs.flush())
    (events,) = _events(tmp_path)
    assert [e.WhichOneof("what") for e in events[:2]] == ["file_version", "graph_def"]
    assert sorted(_values(events)) == [
        (0, "audio/audio", "audio"),
        (0, "f/outer/f/h", "histo"),
        (0, "image/image/0", "image"),
        (0, "outer/loss", "simple_value"),
        (5, "tensor", "tensor"),
    ]


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda on, write: tf.cond(on, write, lambda: tf.constant(1.0)), "cond/inside"),
        (
            lambda on, write: tf.while_loop(
                lambda i: i < 2.0, lambda i: i + write(), [tf.to_float(on)]
            ),
            "while/inside",
        ),
        (lambda on, write: tf.case([(on, write)], write), "case/cond/inside"),
    ],
    ids=["cond", "while_loop", "case"],
)
def test_what_a_branch_or_body_writes_comes_with_its_result(
    session: Any, tmp_path: Path, build: Any, name: str
) -> None:
    tf.train.create_global_step()
    writer = cs.create_file_writer(str(tmp_path), max_queue=0)
    on = tf.placeholder(tf.bool, [])

    def write() -> Any:
        cs.scalar("inside", 2.0)
        return tf.constant(1.0)

    with writer.as_default(), cs.always_record_summaries():
        result = build(on, write)
    session.run(
        [tf.global_variables_initializer(), *cs.summary_writer_initializer_op()]
    )
    assert session.run(result, {on: True}) in (1.0, 2.0)
    (events,) = _events(tmp_path)
    assert _values(events) == [(0, name, "simple_value")]
    assert cs.all_summary_ops() == []


def test_recording_on_a_condition(session: Any, tmp_path: Path) -> None:
    step = tf.train.create_global_step()
    writer = cs.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert session.run(cs.scalar("not by default", 1.0)) is np.False_
        with cs.never_record_summaries():
            assert not session.run(cs.should_record_summaries())
        with cs.record_summaries_every_n_global_steps(3):
            written = cs.scalar("every third", 1.0)
    session.run([tf.global_variables_initializer(), writer.init()])
    advance = tf.assign_add(step, 1)
    found = []
    for _ in range(7):
        found.append(bool(session.run(written)))
        session.run(advance)
    session.run(writer.close())
    assert found == [True, False, False, True, False, False, True]
    assert [v[0] for v in _values(_events(tmp_path)[0])] == [0, 3, 6]


def test_without_a_writer(session: Any) -> None:
    assert cs.scalar("x", 1.0).type == "NoOp"
    assert cs.flush().type == "NoOp"
    with cs.create_file_writer(None).as_default():
        assert cs.scalar("x", 1.0).type == "NoOp"
    with pytest.raises(RuntimeError, match="No default"):
        tf.summary.initialize()
    assert cs.eval_dir("a/b", "z") == "a/b/eval_z"


def test_a_writer_is_opened_and_closed(session: Any, tmp_path: Path) -> None:
    handle = tf.raw_ops.SummaryWriter(shared_name="w")
    # The time between flushes is long: only the queue's length makes them.
    create = tf.raw_ops.CreateSummaryFileWriter(
        writer=handle,
        logdir=str(tmp_path / "a" / "b"),
        max_queue=2,
        flush_millis=1_000_000,
        filename_suffix=".z",
    )
    close = tf.raw_ops.CloseSummaryWriter(writer=handle)
    flush = tf.raw_ops.FlushSummaryWriter(writer=handle)
    write = tf.raw_ops.WriteScalarSummary(writer=handle, step=7, tag="x", value=1.5)
    for op in (write, flush, close):
        with pytest.raises(tf.errors.NotFoundError, match=r"localhost/w/.*not exist"):
            session.run(op)
    session.run([create])
    session.run(create)
    counts = []
    for _ in range(4):
        session.run(write)
        counts.append(len(_events(tmp_path / "a" / "b")[0]))
    assert counts == [1, 1, 4, 4]
    session.run(close)
    session.run(create)
    session.run(close)
    assert [len(events) for events in _events(tmp_path / "a" / "b")] == [5, 1]


# (op, its inputs but writer and step, the error): as TensorFlow 1.15's.
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("WriteHistogramSummary", {"tag": "h", "values": [np.nan]}, "Nan in .* for: h"),
    (
        "WriteImageSummary",
        {"tag": "i", "tensor": np.zeros([2, 3, 3], np.float32), "bad_color": [0] * 4},
        r"Tensor must be 4-D with last dim 1, 3, or 4, not \[2,3,3\]",
    ),
    (
        "WriteImageSummary",
        {"tag": "i", "tensor": np.zeros([1, 2, 2, 3], np.float32), "bad_color": [0]},
        "got depth = 3, bad_color.size = 1",
    ),
    ("WriteGraphSummary", {"tensor": "zz"}, "Bad tf.GraphDef binary proto"),
    ("WriteRawProtoSummary", {"tensor": ["", "zz"]}, "Bad .*Summary .* at index 1"),
    ("ImportEvent", {"event": "zz"}, "Bad tf.Event binary proto tensor string"),
]


@pytest.mark.parametrize(("op", "inputs", "message"), BAD)
def test_bad_input(
    session: Any, tmp_path: Path, op: str, inputs: dict[str, Any], message: str
) -> None:
    writer = cs.create_file_writer(str(tmp_path), name="w")
    session.run(writer.init())
    if op != "ImportEvent":
        inputs = {"step": 1, **inputs}
    made = getattr(tf.raw_ops, op)(writer=writer._resource, **inputs)
    errors = (tf.errors.InvalidArgumentError, tf.errors.DataLossError)
    with pytest.raises(errors, match=message):
        session.run(made)
    session.run(writer.close())
    assert len(_events(tmp_path)[0]) == 1


def test_file_writer_of_a_session(session: Any, tmp_path: Path) -> None:
    value = tf.Summary.Value(tag="x", simple_value=2.0)
    writer = tf.summary.FileWriter(str(tmp_path), session=session)
    other = tf.summary.FileWriter(str(tmp_path), session=session)
    writer.add_summary(tf.Summary(value=[value]), 4)
    other.add_summary(tf.Summary(value=[value]), 5)
    writer.flush()
    assert [len(events) for events in _events(tmp_path)] == [3]
    writer.close()
    writer.reopen()
    other.add_summary(tf.Summary(value=[value]), 6)
    writer.close()
    steps = [[event.step for event in events] for events in _events(tmp_path)]
    assert steps == [[0, 4, 5], [0, 6]]
    assert all(path.name.endswith(".v2") for path in tmp_path.iterdir())


def test_the_end_of_the_session_closes_the_file(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        writer = cs.create_file_writer(str(tmp_path))
        with writer.as_default(), cs.always_record_summaries():
            written = cs.scalar("x", 1.0, step=3)
        session.run(writer.init())
        session.run(written)
    assert _values(_events(tmp_path)[0]) == [(3, "x", "simple_value")]
