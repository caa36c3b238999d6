"""Reports of `tf.profiler`: numbers, texts, and files. Counts are TensorFlow 1.15's."""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos.pprof_profile_pb2 import Profile
from tensorloom.protos.tfprof_log_pb2 import OpLogProto, ProfileProto

_Builder = tf.profiler.ProfileOptionBuilder
_FULL_TRACE = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    """A small network: 448 + 1,610 parameters."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [2, 6, 6, 3], name="images")
        with tf.variable_scope("net"):
            y = tf.layers.conv2d(images, 16, 3, activation=tf.nn.relu, name="conv")
            y = tf.layers.max_pooling2d(y, 2, 2, name="pool")
            y = tf.layers.dense(tf.layers.flatten(y), 10, name="fc")
        tf.nn.l2_loss(y, name="loss")
        yield graph


def _traced(graph: tf.Graph, profiler: Any, steps: int) -> None:
    with tf.Session(graph=graph) as sess:
        for variable in tf.global_variables():
            sess.run(variable.initializer)
        for step in range(steps):
            traced = tf.RunMetadata()
            feed = {"images:0": np.ones([2, 6, 6, 3])}
            sess.run("loss:0", feed, _FULL_TRACE, traced)
            profiler.add_step(step, traced)


def _shown(node: Any) -> list[str]:
    return [node.name, *(name for child in node.children for name in _shown(child))]


def test_parameters_of_trainable_variables(
    graph: tf.Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tf.profiler.profile(graph)
    assert found.total_parameters == 448 + 650
    printed = capsys.readouterr().out
    assert "  net (--/1.10k params)\n" in printed
    assert "      net/conv/kernel (3x3x3x16, 432/432 params)\n" in printed
    assert "-select                     params\n" in printed


# 2*4*4*16 outputs of 27 products each, a bias, a maximum of four for 2*2*2*16 outputs,
# 64 products for 20 outputs, a bias, and the squares of 20.
_CONVOLUTION, _DENSE = 2 * 27 * 512, 2 * 64 * 20
_ALL = _CONVOLUTION + 512 + 4 * 128 + _DENSE + 20 + 59
# The initializers' random numbers are scaled and shifted.
_INITIAL = 2 * (432 + 640) + 2


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_float_operations_are_the_same_in_all_views(graph: tf.Graph, view: str) -> None:
    options = _Builder(_Builder.float_operation()).with_empty_output()
    found = tf.profiler.profile(graph, cmd=view, options=options.build())
    assert found.total_float_ops == _ALL + _INITIAL == 33457


def test_names_choose_what_is_shown(graph: tf.Graph) -> None:
    builder = _Builder().select(["params"]).with_empty_output()
    builder.with_node_names(["net"], [".*"], ["net/fc/.*"], ["net/conv"])
    found = tf.profiler.profile(graph, options=builder.with_max_depth(3).build())
    names = _shown(found)
    assert names[:2] == ["_TFProfRoot", "net"]
    assert "net/conv" in names
    assert not [name for name in names if name.startswith(("net/conv/", "net/fc/"))]
    assert "images" not in names


def test_types_of_the_user_are_counted(graph: tf.Graph) -> None:
    log = OpLogProto()
    log.log_entries.add(name="net/fc/MatMul", types=["mine"], float_ops=7)
    builder = _Builder(_Builder.float_operation()).with_empty_output()
    options = builder.with_accounted_types(["mine"]).build()
    assert tf.profiler.profile(graph, op_log=log, options=options).total_float_ops == 7


def test_steps_have_times_and_memory(
    graph: tf.Graph, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    profiler = tf.profiler.Profiler(graph)
    _traced(graph, profiler, 2)
    options = _Builder(_Builder.time_and_memory())
    found = profiler.profile_operations(options.with_step(1).build())
    assert found.total_requested_bytes >= 2 * 4 * 4 * 16 * 4 + 2 * 10 * 4
    assert found.total_exec_micros > 0
    assert "L2Loss" in capsys.readouterr().out

    path = tmp_path / "report"
    options.with_file_output(str(path))
    profiler.profile_name_scope(options.build())
    assert "node name | requested bytes | total execution time" in path.read_text()

    assert not profiler.profile_name_scope(options.with_step(9).build()).children
    assert "Options -step=9 not found.\nAvailable steps: 0 1" in capsys.readouterr().err

    saved = ProfileProto.FromString(profiler.serialize_to_string())
    assert list(saved.steps) == [0, 1]
    assert "net/fc/MatMul" in {node.name for node in saved.nodes.values()}


def test_timelines_and_code_are_written(graph: tf.Graph, tmp_path: Path) -> None:
    profiler = tf.profiler.Profiler(graph)
    _traced(graph, profiler, 2)
    builder = _Builder(_Builder.time_and_memory(min_bytes=0))
    path = tmp_path / "timeline"
    builder.with_timeline_output(str(path))
    profiler.profile_graph(builder.build())
    for step in (0, 1):
        events = json.loads(Path(f"{path}_{step}").read_text())["traceEvents"]
        assert "net/fc/BiasAdd" in {event["name"] for event in events}
    profiler.profile_name_scope(builder.with_step(1).build())
    events = json.loads(Path(f"{path}_1").read_text())["traceEvents"]
    assert {
        "name": "process_name",
        "ph": "M",
        "pid": 0,
        "args": {"name": "Scope:0"},
    } in (events)

    code = tmp_path / "code.gz"
    builder.with_pprof_output(str(code)).select(["micros"])
    profiler.profile_python(builder.build())
    profile = Profile.FromString(gzip.decompress(code.read_bytes()))
    assert any("test_profiles:graph" in text for text in profile.string_table)
    assert sum(sample.value[1] for sample in profile.sample) > 0


def test_a_deep_graph_has_a_report() -> None:
    with tf.Graph().as_default() as graph:
        y = tf.placeholder(tf.float32, [3], name="x")
        for _ in range(1500):
            y = tf.negative(y)
        options = _Builder(_Builder.float_operation()).with_empty_output().build()
        found = tf.profiler.profile(graph, cmd="graph", options=options)
    assert found.total_float_ops == 4500


def test_wrong_options_are_said_and_give_nothing(
    graph: tf.Graph, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for output, message in [
        ("what", "Unknown output type: what, Valid types: file,none,pprof"),
        ("file:where=x", "Unrecognized options where for output_type: file"),
        ("file", "Missing required output_options for file"),
        ("pprof:outfile=x", "Only 'code' view supports pprof output now."),
        (f"file:outfile={tmp_path}/none/x", "none/x; No such file or directory"),
    ]:
        options = dict(_Builder.float_operation(), output=output)
        tf.profiler.profile(graph, options=options)
        assert message in capsys.readouterr().err
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: what"):
        tf.profiler.profile(graph, cmd="what")


def test_advice_names_dear_operations(
    graph: tf.Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    profiler = tf.profiler.Profiler(graph)
    _traced(graph, profiler, 1)
    found = profiler.advise({"ExpensiveOperationChecker": {}, "OperationChecker": {}})
    reports = found.checkers["ExpensiveOperationChecker"].reports
    assert reports[0].startswith("top 1 operation type: ")
    assert "ExpensiveOperationChecker:\ntop 1 operation" in capsys.readouterr().out


def test_the_log_is_a_file(graph: tf.Graph, tmp_path: Path) -> None:
    tf.profiler.write_op_log(graph, str(tmp_path), add_trace=True)
    log = OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert entries["net/fc/kernel"].types == ["_trainable_variables"]
    assert entries["net/fc/MatMul"].float_ops == _DENSE
    assert entries["net/fc/MatMul"].code_def.traces


def test_a_context_traces_chosen_steps(graph: tf.Graph, tmp_path: Path) -> None:
    feed = {"images:0": np.ones([2, 6, 6, 3])}
    folder = tmp_path / "profiles"
    context = tf.contrib.tfprof.ProfileContext(str(folder), [1], [3])
    options = _Builder(_Builder.time_and_memory()).with_empty_output().build()
    context.add_auto_profiling("op", options, [2])
    with tf.Session(graph=graph) as sess:
        with context:
            for _ in range(2):
                sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run("loss:0", feed)
        assert list(context.get_profiles("op")) == [2]
        assert list(context.profiler._data.steps) == [1, 2]
        assert [path.name for path in folder.iterdir()] == ["profile_3"]
        sess.run("loss:0", feed)
    assert list(context.profiler._data.steps) == [1, 2]
    with pytest.raises(ValueError, match="Must have a directory"):
        tf.contrib.tfprof.ProfileContext("")


def test_a_profile_in_a_file_gives_the_same_reports(
    graph: tf.Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lib = importlib.import_module(
        "tensorloom.python.profiler.internal.model_analyzer_testlib"
    )
    profiler = tf.profiler.Profiler(graph)
    _traced(graph, profiler, 2)
    path = tmp_path / "profile_2"
    path.write_bytes(profiler.serialize_to_string())
    views = {
        "profile_operations": _Builder.time_and_memory(),
        "profile_name_scope": _Builder.trainable_variables_parameter(),
        "profile_graph": _Builder(_Builder.float_operation()).build(),
        "profile_python": _Builder.time_and_memory(),
    }
    with lib.ProfilerFromFile(str(path)) as saved:
        for name, options in views.items():
            told = []
            for one in (profiler, saved):
                message = getattr(one, name)(options)
                told.append((message, capsys.readouterr().out))
            assert told[0] == told[1]
            assert told[0][1]
        assert saved.advise({}) == profiler.advise({})
        before = ProfileProto.FromString(profiler.serialize_to_string())
        assert ProfileProto.FromString(saved.serialize_to_string()) == before
    path.write_bytes(b"\xff\xff")
    with (
        pytest.raises(tf.errors.DataLossError, match="holds no ProfileProto"),
        lib.ProfilerFromFile(str(path)),
    ):
        pass
