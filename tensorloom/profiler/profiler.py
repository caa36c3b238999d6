"""`tf.profiler.profile`, `advise` and `Profiler`: reports on a graph and its steps."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.profiler import advice
from tensorloom.profiler.op_log import complete_op_log
from tensorloom.profiler.option_builder import (
    ProfileOptionBuilder,
    advice_options_message,
    options_message,
)
from tensorloom.profiler.profile_data import ProfileData
from tensorloom.profiler.reports import pprof_file, report_text, timeline_file
from tensorloom.profiler.reports.op_report import OpReport
from tensorloom.profiler.reports.report_options import ReportOptions
from tensorloom.profiler.reports.tree_reports import (
    CodeReport,
    GraphReport,
    ScopeReport,
)
from tensorloom.protos.tfprof_log_pb2 import OpLogProto
from tensorloom.protos.tfprof_output_pb2 import (
    AdviceProto,
    GraphNodeProto,
    MultiGraphNodeProto,
)
from tensorloom.storage.files import filesystem

export_value(OpLogProto, "profiler.OpLogProto")
export_value(GraphNodeProto, "profiler.GraphNodeProto")
export_value(MultiGraphNodeProto, "profiler.MultiGraphNodeProto")
export_value(AdviceProto, "profiler.AdviceProto")

_REPORTS: Final[dict[str, Any]] = {
    "scope": ScopeReport,
    "graph": GraphReport,
    "code": CodeReport,
    "op": OpReport,
}
_MESSAGES: Final[dict[str, Any]] = {
    "scope": GraphNodeProto,
    "graph": GraphNodeProto,
    "code": MultiGraphNodeProto,
    "op": MultiGraphNodeProto,
}

# Scripts look for these lines of TensorFlow's.
_OPTIONS: Final = f"{'=' * 25}Options{'=' * 29}"
_BEGIN: Final = f"{'=' * 18}Model Analysis Report{'=' * 22}"
_END: Final = f"{'=' * 22}End of Report{'=' * 26}"


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Lets reports follow the inputs of nodes as far as they go."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1_000_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


def _report(data: ProfileData, view: str, message: Any) -> Any:
    """Makes a report, writes it where it is to go, and returns it as a message.

    As in TensorFlow, what is wrong with the options is said on standard error, and the
    message is empty then.
    """
    empty = _MESSAGES[view]()
    try:
        options = ReportOptions.from_proto(message)
    except errors.InvalidArgumentError as error:
        _complain(f"tf.profiler: {error.message}")
        return empty
    wrong = _refusal(data, view, options)
    with _deep_recursion():
        if options.output == "stdout":
            print(f"\n{_OPTIONS}\n{options.text()}\n{_BEGIN}")
        if wrong:
            _complain(wrong)
        else:
            try:
                _write(data, view, options, empty)
            except errors.OpError as error:  # the file cannot be written
                _complain(f"tf.profiler: {error.message}")
        if options.output == "stdout":
            print(f"\n{_END}", flush=True)
    return empty


def _refusal(data: ProfileData, view: str, options: ReportOptions) -> str:
    """Why there can be no such report; nothing if there can."""
    if options.step >= 0 and options.step not in data.steps:
        steps = " ".join(map(str, sorted(data.steps)))
        return f"Options -step={options.step} not found.\nAvailable steps: {steps}"
    if view == "code" and not data.has_code:
        return "No code trace information"
    if options.output == "pprof":
        if view != "code":
            return "Only 'code' view supports pprof output now."
        return pprof_file.complaint(options)
    if options.output == "timeline" and view == "op":
        return "op view doesn't support timeline yet. Consider graph/scope/code view."
    return ""


def _write(data: ProfileData, view: str, options: ReportOptions, message: Any) -> None:
    if view == "graph" and options.output == "timeline" and options.step < 0:
        # A timeline shows one step: of all, there is one file each.
        for step in sorted(data.steps):
            options.limits["step"] = step
            root = GraphReport(data).run(options)
            timeline_file.write_step(root, options.outfile, step)
        return
    report = _REPORTS[view](data)
    root = report.run(options)
    root.fill(message)
    if view == "code":
        if options.counts_shown_only:
            _complain("Note: code view ignores account_displayed_op_only")
        if report.unplaced:
            _complain(f"{report.unplaced} gradient nodes not accounted")
    heading = data.warning() + report_text.heading(view, sorted(options.select))
    if options.output == "stdout":
        print(heading + root.text, end="")
    elif options.output == "file":
        filesystem.write_file(options.outfile, (heading + root.text).encode())
    elif options.output == "pprof":
        pprof_file.write(root, options)
    elif options.output == "timeline":
        if view == "graph":
            timeline_file.write_step(root, options.outfile, options.step)
        else:
            timeline_file.write_costs(root, options.outfile, options.step)


def _advise(
    data: ProfileData, options: Mapping[str, Mapping[str, str]] | None
) -> AdviceProto:
    message = advice_options_message(options)
    with _deep_recursion():
        return advice.advise(data, message.checkers)


def _data_of(
    graph: Any, run_meta: Any, op_log: OpLogProto | None, add_trace: bool
) -> ProfileData:
    graph = get_default_graph() if graph is None else graph
    log = complete_op_log(graph, op_log, run_meta, add_trace)
    data = ProfileData()
    data.add_graph(graph.as_graph_def(add_shapes=True))
    if run_meta is not None and run_meta.HasField("step_stats"):
        data.add_step(0, run_meta)
    data.add_op_log(log)
    return data


@export("profiler.profile")
def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: OpLogProto | None = None,
    cmd: str = "scope",
    options: Any = 0,
) -> Any:
    """A report on a graph: its parameters, operations, and time and memory of a step.

    ```python
    builder = tf.profiler.ProfileOptionBuilder
    tf.profiler.profile(options=builder.float_operation()).total_float_ops
    ```

    Args:
      graph: a Graph; None for the default one.
      run_meta: the RunMetadata of a step that ran with
        `RunOptions(trace_level=RunOptions.FULL_TRACE)`; needed for time and memory.
      op_log: an OpLogProto, with types of the user's own for nodes.
      cmd: "scope" (by name scopes), "graph" (by inputs), "op" (by ops) or "code" (by
        lines of Python).
      options: what to count and show (see `ProfileOptionBuilder`); by default, the
        parameters of trainable variables.

    Returns:
      A GraphNodeProto for "scope" and "graph", a MultiGraphNodeProto for "op" and
      "code". The report is printed, or written to a file, as `options` say.

    Raises:
      InvalidArgumentError: another `cmd`.
    """
    if cmd not in _REPORTS:
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    if options == 0:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    data = _data_of(graph, run_meta, op_log, add_trace=cmd == "code")
    return _report(data, cmd, options_message(options))


@export("profiler.advise")
def advise(graph: Any = None, run_meta: Any = None, options: Any = 0) -> AdviceProto:
    """Looks for what is dear or used badly, and prints and returns what it finds.

    Args:
      graph: a Graph; None for the default one.
      run_meta: the RunMetadata of a traced step.
      options: which checkers to run, with their options: a dict of dicts. By default
        all: "ExpensiveOperationChecker", "AcceleratorUtilizationChecker",
        "OperationChecker".
    """
    if options == 0:
        options = {name: {} for name in advice.ALL_CHECKERS}
    return _advise(_data_of(graph, run_meta, None, add_trace=True), options)


@export("profiler.Profiler")
class Profiler:
    """Reports on several steps of a graph.

    ```python
    profiler = tf.profiler.Profiler(sess.graph)
    run_meta = tf.RunMetadata()
    sess.run(train_op, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_meta)
    profiler.add_step(1, run_meta)
    profiler.profile_operations(tf.profiler.ProfileOptionBuilder.time_and_memory())
    ```

    Args:
      graph: a Graph; None for the default one.
      op_log: an OpLogProto, with types of the user's own for nodes.
    """

    def __init__(self, graph: Any = None, op_log: OpLogProto | None = None) -> None:
        self._graph = get_default_graph() if graph is None else graph
        self._data = ProfileData()
        self._data.add_graph(self._graph.as_graph_def(add_shapes=True))
        self._data.add_op_log(complete_op_log(self._graph, op_log))
        self._coverage = 0.0

    @classmethod
    def of_data(cls, data: ProfileData) -> Profiler:
        """A profiler of what is known already, without a graph."""
        profiler = cls.__new__(cls)
        profiler._data, profiler._coverage = data, data.coverage
        return profiler

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the RunMetadata of a step; several of one step are taken together.

        Args:
          step: a number, by which reports can choose it.
          run_meta: what `Session.run` wrote, with a trace level of FULL_TRACE.
        """
        log = complete_op_log(self._graph, None, run_meta)
        self._data.add_graph(self._graph.as_graph_def(add_shapes=True))
        if run_meta.HasField("step_stats"):
            self._data.add_step(step, run_meta)
        else:
            _complain(f"Invalid RunMetadata for step {step}")
        self._data.add_op_log(log)
        self._coverage = self._data.coverage

    def profile_python(self, options: Mapping[str, Any]) -> MultiGraphNodeProto:
        """A report by lines of Python. Returns a MultiGraphNodeProto."""
        found: MultiGraphNodeProto = _report(
            self._data, "code", options_message(options)
        )
        return found

    def profile_operations(self, options: Mapping[str, Any]) -> MultiGraphNodeProto:
        """A report by ops. Returns a MultiGraphNodeProto."""
        found: MultiGraphNodeProto = _report(self._data, "op", options_message(options))
        return found

    def profile_name_scope(self, options: Mapping[str, Any]) -> GraphNodeProto:
        """A report by scopes of names. Returns a GraphNodeProto."""
        found: GraphNodeProto = _report(self._data, "scope", options_message(options))
        return found

    def profile_graph(self, options: Mapping[str, Any]) -> GraphNodeProto:
        """A report by what nodes take their inputs from. Returns a GraphNodeProto."""
        found: GraphNodeProto = _report(self._data, "graph", options_message(options))
        return found

    def advise(self, options: Mapping[str, Mapping[str, str]] | None) -> AdviceProto:
        """What could be better; see `tf.profiler.advise` for the options."""
        return _advise(self._data, options)

    def serialize_to_string(self) -> bytes:
        """All that is known, as a serialized ProfileProto."""
        return self._data.to_proto().SerializeToString()

    def _write_profile(self, filename: str) -> None:
        filesystem.write_file(filename, self.serialize_to_string())
