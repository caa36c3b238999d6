"""Command lines of a program's own, under TensorFlow's module paths."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.compat.module_paths import finder


def module(name: str) -> Any:
    return importlib.import_module(f"tensorloom.python.debug.{name}")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = str(tmp_path_factory.mktemp("dump"))
    with tf.Graph().as_default():
        y = tf.add(tf.constant([1.0, 2.0]), 40.0, name="y")
        options = tf.RunOptions()
        tf.debug.watch_graph(options, y.graph, debug_urls=f"file://{root}")
        tf.Session().run(y, options=options)
    return root


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_command_of_a_program(
    directory: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    common = module("cli.debugger_cli_common")
    dump = tf.debug.DebugDumpDir(directory)
    value = module("cli.evaluator").ExpressionEvaluator(dump).evaluate
    left: list[str] = []
    ui = module("cli.analyzer_cli").create_analyzer_ui(
        dump, ui_type="readline", on_ui_exit=lambda: left.append("left")
    )

    def norm(words: list[str], screen_info: Any = None) -> Any:
        if not words:
            raise common.CommandLineExit("enough")
        number = value(f"np.linalg.norm(`{words[0]}`)")
        return common.RichTextLines([f"norm {number:.2f}", f"{screen_info['cols']}"])

    ui.register_command_handler("norm", norm, "A norm.", prefix_aliases=["no"])
    with pytest.raises(ValueError, match="already registered"):
        ui.register_command_handler("no", norm, "again")
    ui.set_help_intro(common.RichTextLines("Welcome"))
    typed(monkeypatch, "no y:0\nnorm nowhere:0\nhelp\nnorm\n")
    assert ui.run_ui(init_command="pt y:0", title="a title") == "enough"
    told = capsys.readouterr().out
    for part in (
        "a title\n",
        "array([41., 42.]",
        "norm 58.69\n80\n",
        "ERROR: WatchKeyDoesNotExist",
        "Welcome\n",
        "A norm.",
    ):
        assert part in told
    assert left == ["left"]
    with pytest.raises(ValueError, match="Invalid ui_type"):
        module("cli.ui_factory").get_ui("mouse")


def test_a_dump_on_the_command_line(
    directory: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed(monkeypatch, "lt -f has_inf_or_nan\n")
    assert main(["debug", "--ui_type", "readline", directory]) == 0
    told = capsys.readouterr().out
    assert f"tfdbg offline @ {directory}" in told
    assert '0 dumped tensor(s) passing filter "has_inf_or_nan"' in told
    assert main(["debug", directory + "/nowhere"]) != 0


def test_source_lines_of_a_dump(directory: str, tmp_path: Path) -> None:
    lines = module("lib.source_utils")
    dump = tf.debug.DebugDumpDir(directory)
    with pytest.raises(ValueError, match="Python graph"):
        lines.annotate_source(dump, __file__)
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0, 2.0]), 40.0, name="y")
    dump.set_python_graph(graph)
    made = lines.annotate_source(dump, __file__)
    ((line, names),) = made.items()
    assert names == ["Const", "y/y", "y"]
    assert "tf.add" in lines.load_source(__file__)[0][line - 1]
    assert lines.annotate_source(dump, __file__, min_line=line + 1) == {}
    assert lines.annotate_source(dump, __file__, max_line=line) == {}
    assert lines.annotate_source(dump, __file__, True, True) == {
        line: ["Const:0", "y/y:0", "y:0"]
    }
    listed = {row[0]: row[1:] for row in lines.list_source_files_against_dump(dump)}
    assert listed[__file__] == (False, 3, 3, 3, line)
    assert lines.list_source_files_against_dump(dump, "nothing") == []
    assert lines.guess_is_tensorflow_py_library(tf.__file__)
    assert not lines.guess_is_tensorflow_py_library(__file__)
    with pytest.raises(ValueError, match="not a Python source file"):
        lines.guess_is_tensorflow_py_library("a.txt")


def test_profile_of_source_lines() -> None:
    profiling, lines = module("lib.profiling"), module("lib.source_utils")
    metadata = tf.RunMetadata()
    with tf.Graph().as_default():
        y = tf.matmul(np.ones([2, 2], np.float32), np.ones([2, 2], np.float32))
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session() as sess:
            sess.run(y, options=full, run_metadata=metadata)
    stats = [s for d in metadata.step_stats.dev_stats for s in d.node_stats]
    data = [
        profiling.ProfileDatum("cpu", s, __file__, 10 + n % 2, "f", "Op" * (n % 2))
        for n, s in enumerate([*stats, *stats])
    ]
    found = lines.annotate_source_against_profile(data, __file__)
    assert sum(line.node_exec_count for line in found.values()) == len(data)
    whole = sum(line.total_exec_time for line in found.values())
    assert whole == 2 * sum(s.all_end_rel_micros for s in stats)
    only = lines.annotate_source_against_profile(data, __file__, op_type_filter="Op")
    assert list(only) == [11]
    assert lines.annotate_source_against_profile(data, "other.py") == {}


def test_calls_of_event_listener() -> None:
    from concurrent import futures

    import grpc

    stubs = module("lib.debug_service_pb2_grpc")
    pb2 = importlib.import_module("tensorloom.protos.debug_service_pb2")
    told: list[Any] = []

    class Servicer(stubs.EventListenerServicer):
        def SendTracebacks(self, request: Any, context: Any) -> Any:
            told.append(request.call_key)
            return pb2.EventReply()

    server = grpc.server(futures.ThreadPoolExecutor(1))
    stubs.add_EventListenerServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        with grpc.insecure_channel(f"localhost:{port}") as channel:
            stub = stubs.EventListenerStub(channel)
            stub.SendTracebacks(pb2.CallTraceback(call_key="k"), timeout=60)
            files = importlib.import_module("tensorloom.protos.debug_pb2")
            with pytest.raises(grpc.RpcError, match="not implemented"):
                stub.SendSourceFiles(files.DebuggedSourceFiles(), timeout=60)
    finally:
        server.stop(None).wait()
    assert told == ["k"]


def test_programs_find_the_modules_by_tensorflows_paths() -> None:
    package = finder._module_named("python.debug.cli")
    assert package is not None
    # `from tensorflow.python.debug.cli import debugger_cli_common` asks for this name.
    common = importlib.import_module(f"{package.__name__}.debugger_cli_common")
    assert common.RichLine("text", "red").text == "text"


def test_answers_keep_their_colours() -> None:
    common = module("cli.debugger_cli_common")
    ui = module("cli.curses_ui").CursesUI()
    line = common.RichLine("red", "red")
    ui.register_command_handler(
        "colours",
        lambda words: common.rich_text_lines_from_rich_line_list(["plain", line]),
        "Colours.",
    )
    answer = ui.table.answer("colours")
    assert answer == "plain\nred"
    assert answer.styles == {1: [(0, 3, "red")]}


def test_answers_have_colours_and_links(directory: str) -> None:
    dump = tf.debug.DebugDumpDir(directory)
    ui = module("cli.analyzer_cli").create_analyzer_ui(dump, ui_type="readline")

    def segments(command: str) -> dict[str, Any]:
        """What has which attributes, by its text."""
        answer = ui.table.answer(command)
        rows = answer.split("\n")
        return {
            rows[row][begin:end]: [
                getattr(one, "content", one)
                for one in (what if isinstance(what, list) else [what])
            ]
            for row, found in answer.styles.items()
            for begin, end, what in found
        }

    listed = segments("lt -n y -s dump_size")
    assert listed["y:0"] == ["pt y:0"]
    assert listed["Size (B)"] == ["list_tensors -n y -s dump_size -r", "bold"]
    assert listed["Op type"] == ["list_tensors -n y -s op_type", "bold"]
    told = segments("ni y -t")
    assert told["y"] == ["bold"]
    assert told["Const"] == ["ni -a -d -t Const"]
    assert told["Traceback of node construction:"] == ["bold"]
    assert segments("li y")["Const"] == ["ni -a -d -t Const"]
    assert segments("pt y:0") == {"y:0": ["bold"], "DebugIdentity": ["yellow"]}
    assert segments("ni nowhere") == {
        'ERROR: Node "nowhere" does not exist in partition graphs': ["red"]
    }
