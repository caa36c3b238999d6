"""FileWriter: what is in the files, when, and what happens when they cannot be."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.storage.records import event_files


def _scalar(value: float, tag: str = "x", metadata: Any = None) -> Any:
    return tf.Summary(
        value=[tf.Summary.Value(tag=tag, simple_value=value, metadata=metadata)]
    )


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*tfevents*"))


def _events(path: Path) -> list[Any]:
    return list(tf.train.summary_iterator(str(path)))


def _values(path: Path) -> list[tuple[int, float]]:
    return [
        (event.step, value.simple_value)
        for event in _events(path)
        for value in event.summary.value
    ]


def _writer_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.name == "tensorloom_events"}


def test_first_event_and_name(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    writer = tf.summary.FileWriter(str(directory))
    assert writer.get_logdir() == str(directory)
    assert _files(directory) == []  # as in TensorFlow, the first event makes it
    writer.add_summary(_scalar(1.0), 3)
    writer.add_summary(_scalar(2.0).SerializeToString(), global_step=np.int64(4))
    writer.close()
    (path,) = _files(directory)
    events = _events(path)
    name = path.name.split(".")
    assert name[:3] == ["events", "out", "tfevents"]
    assert len(name[3]) == 10
    assert events[0].file_version == "brain.Event:2"
    assert abs(int(name[3]) - events[0].wall_time) <= 1
    assert _values(path) == [(3, 1.0), (4, 2.0)]


def test_suffix_makes_the_file_at_once(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path), filename_suffix=".x"):
        (path,) = _files(tmp_path)
        assert path.name.endswith(".x")
        assert len(_events(path)) == 1


def test_graph_and_meta_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="one")
    tf.summary.FileWriter(str(tmp_path), graph).close()
    events = _events(_files(tmp_path)[0])
    assert [e.WhichOneof("what") for e in events] == [
        "file_version",
        "graph_def",
        "meta_graph_def",
    ]
    graph_def = tf.GraphDef.FromString(events[1].graph_def)
    assert graph_def == graph.as_graph_def(add_shapes=True)
    assert "_output_shapes" in graph_def.node[0].attr
    assert tf.MetaGraphDef.FromString(events[2].meta_graph_def).graph_def == graph_def


def test_every_kind_of_event(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        one = tf.constant(1.0)
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        session.run(one, options=options, run_metadata=metadata)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_graph(graph.as_graph_def(), 1)
        writer.add_meta_graph(tf.MetaGraphDef(), 2)
        writer.add_run_metadata(metadata, "first", 3)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 4)
        writer.add_event(tf.Event(step=5, wall_time=6.0))
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(metadata, "first", 3)
        with pytest.raises(ValueError, match="not both"):
            writer.add_graph(graph, graph_def=graph.as_graph_def())
        with pytest.raises(TypeError, match="instance of `Graph`"):
            writer.add_graph("graph")
        with pytest.raises(TypeError, match="must be type MetaGraphDef"):
            writer.add_meta_graph(graph)
    events = _events(_files(tmp_path)[0])
    assert [(e.step, e.WhichOneof("what")) for e in events] == [
        (0, "file_version"),
        (1, "graph_def"),
        (2, "meta_graph_def"),
        (3, "tagged_run_metadata"),
        (4, "session_log"),
        (5, None),
    ]
    tagged = events[3].tagged_run_metadata
    assert tagged.tag == "first"
    assert tf.RunMetadata.FromString(tagged.run_metadata) == metadata


def test_metadata_is_written_once_and_the_callers_stays(tmp_path: Path) -> None:
    summary = _scalar(1.0, metadata=tf.SummaryMetadata(display_name="shown"))
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary, 1)
        writer.add_summary(summary, 2)
    events = _events(_files(tmp_path)[0])[1:]
    assert [e.summary.value[0].HasField("metadata") for e in events] == [True, False]
    assert summary.value[0].HasField("metadata")


def test_an_event_is_written_as_it_was_when_it_was_added(tmp_path: Path) -> None:
    event = tf.Event(step=1)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_event(event)
        event.step = 2
        writer.add_event(event)
    assert [e.step for e in _events(_files(tmp_path)[0])] == [0, 1, 2]


def test_reopening_rotates_even_within_a_second(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    for i in range(3):
        writer.add_summary(_scalar(i), i)
        writer.close()
        writer.close()
        writer.reopen()
    writer.close()
    assert [_values(p) for p in _files(tmp_path)] == [[(i, float(i))] for i in range(3)]


def test_closed_writers_warn_and_write_nothing(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(_scalar(1.0))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(_scalar(2.0))
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.flush()
    assert len(_events(_files(tmp_path)[0])) == 2


def test_flushed_events_can_be_read_while_the_file_is_open(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for i in range(30):
            writer.add_summary(_scalar(i), i)
            writer.flush()
            assert len(_values(_files(tmp_path)[0])) == i + 1


def test_an_event_does_not_wait_longer_than_flush_secs(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path), flush_secs=0.05) as writer:
        writer.add_summary(_scalar(0.0), 0)
        writer.add_summary(_scalar(1.0), 1)
        deadline = threading.Event()
        for _ in range(3000):
            if _files(tmp_path) and len(_values(_files(tmp_path)[0])) == 2:
                break
            deadline.wait(0.02)
        assert len(_values(_files(tmp_path)[0])) == 2


def test_two_writers_of_one_directory(tmp_path: Path) -> None:
    writers = [tf.summary.FileWriter(str(tmp_path)) for _ in range(4)]
    for i, writer in enumerate(writers):
        for step in range(5):
            writer.add_summary(_scalar(i), step)
    for writer in writers:
        writer.close()
    found = [_values(path) for path in _files(tmp_path)]
    expected = [[(step, float(i)) for step in range(5)] for i in range(4)]
    assert sorted(found, key=lambda values: values[0][1]) == expected


def test_the_thread_ends(tmp_path: Path) -> None:
    others = _writer_threads()  # of other tests, which may end at any time
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(_scalar(1.0))
    assert len(_writer_threads() - others) == 1
    writer.close()
    assert not _writer_threads() - others
    dropped = tf.summary.FileWriter(str(tmp_path / "dropped"))
    dropped.add_summary(_scalar(1.0))
    del dropped
    gc.collect()
    assert not _writer_threads() - others
    assert len(_values(_files(tmp_path / "dropped")[0])) == 1


PROGRAM = """
import os, signal, sys
import tensorloom as tf
writer = tf.summary.FileWriter(sys.argv[1], max_queue=0)
for step in range(1000):
    value = tf.Summary.Value(tag="x", simple_value=step)
    writer.add_summary(tf.Summary(value=[value]), step)
if sys.argv[2] == "kill":
    writer.flush()
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "fork":
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["kill", "exit", "fork"])
def test_nothing_is_lost_when_the_process_ends(tmp_path: Path, end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), end], timeout=60
    )
    assert done.returncode == (-signal.SIGKILL if end == "kill" else 0)
    (path,) = _files(tmp_path)
    assert _values(path) == [(i, float(i)) for i in range(1000)]


def test_a_full_disk_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is written to /dev/full fails as on a full disk.
    class FullFile:
        closed = False

        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr(event_files, "create_growing_file", lambda path: FullFile())
    others = _writer_threads()
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(_scalar(1.0))
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"tfevents.*No space"):
        writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
        writer.add_summary(_scalar(2.0))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
        writer.close()
    assert not _writer_threads() - others


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.summary.FileWriter(str(tmp_path / "below"))


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        tf.summary.FileWriter(str(tmp_path / "file"))


def test_other_file_systems() -> None:
    directory = "memory://events_of_test"
    with tf.summary.FileWriter(directory, max_queue=2) as writer:
        for step in range(5):
            writer.add_summary(_scalar(step), step)
        writer.flush()
        (path,) = tf.gfile.Glob(directory + "/*")
        assert len(list(tf.train.summary_iterator(path))) == 6
        writer.add_summary(_scalar(5), 5)
    assert len(list(tf.train.summary_iterator(path))) == 7


def test_cache(tmp_path: Path) -> None:
    cache = tf.summary.FileWriterCache
    writer = cache.get(str(tmp_path))
    assert cache.get(str(tmp_path)) is writer
    cache.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer.add_summary(_scalar(1.0))
    assert len(_events(_files(tmp_path)[0])) == 3  # version, graph, MetaGraph
    assert cache.get(str(tmp_path)) is not writer
    cache.clear()


def test_damaged_event_files(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(_scalar(1.0), 7)
    (path,) = _files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    events = tf.train.summary_iterator(str(path))
    assert next(events).step == 0
    with pytest.raises(tf.errors.DataLossError, match=f"truncated record.*{path.name}"):
        next(events)
    with tf.python_io.TFRecordWriter(str(path)) as records:
        records.write(b"")
        records.write(b"\xff")
    with pytest.raises(tf.errors.DataLossError, match="no event in record at 16"):
        list(tf.train.summary_iterator(str(path)))
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.train.summary_iterator(str(tmp_path / "missing")))


def test_descriptions() -> None:
    node = tf.NodeDef(op="TensorSummary")
    node.attr["description"].s = b'{"typeHint": "scalar"}'
    assert tf.summary.get_summary_description(node).type_hint == "scalar"
    with pytest.raises(ValueError, match="on Add"):
        tf.summary.get_summary_description(tf.NodeDef(op="Add"))


def test_message_names() -> None:
    assert tf.summary.Event is tf.Event
    assert tf.summary.Summary is tf.Summary
    assert tf.summary.SessionLog is tf.SessionLog
    assert tf.summary.TaggedRunMetadata.DESCRIPTOR.name == "TaggedRunMetadata"
    assert tf.summary.SummaryDescription.DESCRIPTOR.name == "SummaryDescription"


def test_a_directory_that_goes_away(tmp_path: Path) -> None:
    directory = tmp_path / "gone"
    writer = tf.summary.FileWriter(str(directory))
    directory.rmdir()
    writer.add_summary(_scalar(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="tfevents"):
        writer.flush()
    with pytest.raises(tf.errors.NotFoundError):
        writer.close()
    directory.mkdir()
    writer.reopen()
    writer.add_summary(_scalar(2.0), 2)
    writer.close()
    assert _values(_files(directory)[0]) == [(2, 2.0)]


def test_importing_loads_no_messages() -> None:
    program = (
        "import sys, tensorloom as tf; tf.summary.FileWriter; "
        "assert 'tensorloom.protos.event_pb2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
