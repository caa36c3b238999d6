"""`LocalCLIDebugWrapperSession`: asks at a terminal what is done with each run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from tensorloom.debug.console import profile_view, terminal
from tensorloom.debug.console.analyzer import (
    Analyzer,
    add_tensor_arguments,
    print_value,
)
from tensorloom.debug.console.commands import (
    Command,
    CommandError,
    CommandExit,
    CommandTable,
    parser,
)
from tensorloom.debug.console.stepping import StepCommands
from tensorloom.debug.console.tensor_text import parse_tensor_name_with_slicing
from tensorloom.debug.dumps.dump_dir import DebugDumpDir
from tensorloom.debug.dumps.event_files import has_inf_or_nan
from tensorloom.debug.run_keys import get_flattened_names, get_graph_element_name
from tensorloom.debug.sessions.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)
from tensorloom.debug.sessions.wrapper import BaseDebugWrapperSession
from tensorloom.debug.stepper import Stepper

TensorFilter = Callable[[Any, Any], bool]


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Stops before and after runs, and answers commands."""

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ) -> None:
        """Wraps a session.

        Args:
          sess: a `tf.Session` or `MonitoredSession`.
          dump_root: an empty directory for dumps, or one that is made; a temporary one
            if it is None. They are removed again.
          log_usage: no usage is logged.
          ui_type: "curses" takes the whole screen of a terminal; "readline", and
            "curses" where there is no terminal, are lines of text.
          thread_name_filter: as for `BaseDebugWrapperSession`.
          config_file_path: there is nothing to configure.

        Raises:
          ValueError: there is no such `ui_type`; `dump_root` is a file, or has
            something in it.
        """
        terminal.check_ui_type(ui_type)
        self._ui_type = ui_type
        super().__init__(sess, thread_name_filter)
        if dump_root:
            dump_root = os.path.expanduser(dump_root)
            if os.path.isfile(dump_root):
                raise ValueError(f"dump_root path points to a file: {dump_root}")
            if os.path.isdir(dump_root) and os.listdir(dump_root):
                raise ValueError(
                    f"dump_root path points to a non-empty directory: {dump_root}"
                )
        self._own_folder = None if dump_root else tempfile.mkdtemp(prefix="tfdbg_")
        self._dump_root = dump_root or os.path.join(str(self._own_folder), "run")
        self._filters: dict[str, TensorFilter] = {"has_inf_or_nan": has_inf_or_nan}
        self._request: OnRunStartRequest | None = None
        #: Whether runs are this object's own; a hook's are not.
        self.can_step = True
        # What the next runs are like: how many go unseen, and until which filter
        # passes; None where the next one is asked about.
        self._unseen = 0
        self._wanted_filter: tuple[str, str | None] | None = None
        self._response: OnRunStartResponse | None = None

    def close(self) -> None:
        """Closes the session, and removes what was dumped."""
        super().close()
        self._remove_dump()
        if self._own_folder is not None:
            shutil.rmtree(self._own_folder, ignore_errors=True)

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Adds a filter that `run -f` and `lt -f` can name.

        Args:
          filter_name: its name.
          tensor_filter: from (datum, value) to whether it passes.
        """
        self._filters[filter_name] = tensor_filter

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True

    # --- around a run ----------------------------------------------------------------

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Asks what is to be done, unless an earlier answer says it."""
        self._request = request
        if self._unseen > 0:
            self._unseen -= 1
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        if self._response is None:
            table = CommandTable()
            table.intro = self._run_text(request)
            self._add_run_commands(table, request)
            self._converse(table, f"run-start: {_described(request)}", "run_info", [])
        assert self._response is not None
        if self._response.action == OnRunStartAction.NON_DEBUG_RUN:
            response, self._response = self._response, None
            return response
        if self._unseen > 0:  # `run -t` said so just now
            self._unseen -= 1
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        self._remove_dump()
        return self._response

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Shows what came of a debugged run, and asks about the next one."""
        if request.performed_action == OnRunStartAction.PROFILE_RUN:
            table = CommandTable()
            profile_view.add_to(table, request.run_metadata.step_stats)
            self._after_run(table, " (profiler mode)", "list_profile", [])
        elif request.performed_action == OnRunStartAction.DEBUG_RUN:
            if request.tf_error is not None and not os.path.isdir(self._dump_root):
                raise request.tf_error  # it never ran
            self._show_dump(request)
        return OnRunEndResponse()

    def _show_dump(self, request: OnRunEndRequest) -> None:
        graphs = list(request.run_metadata.partition_graphs) or None
        dump = DebugDumpDir(self._dump_root, graphs, validate=request.tf_error is None)
        dump.set_python_graph(self._sess.graph)
        first = "list_tensors"
        wanted = self._wanted_filter
        if wanted is not None:
            name, left_out = wanted
            passed = dump.find(self._filters[name], 1, exclude_node_names=left_out)
            if not passed and request.tf_error is None:
                self._remove_dump()
                return
            self._wanted_filter = None
            if passed:
                first = f"list_tensors -f {name}"
                first += f" -fenn '{left_out}'" if left_out else ""
        table = CommandTable()
        if request.tf_error is not None:
            table.intro = _failure_text(request.tf_error)
            table.notice = table.intro
        analyzer = Analyzer(dump, self._filters)
        analyzer.add_to(table)
        self._after_run(table, "", first, analyzer.words)
        self._remove_dump()

    def _after_run(
        self, table: CommandTable, mode: str, first: str, words: list[str]
    ) -> None:
        assert self._request is not None
        self._response = None
        self._add_run_commands(table, self._request)
        title = f"run-end{mode}: {_described(self._request)}"
        self._converse(table, title, first, words)

    def _converse(
        self, table: CommandTable, title: str, first: str, words: list[str]
    ) -> None:
        token = terminal.converse(table, title, first, words, self._ui_type)
        if token == terminal.EXPLICIT_USER_EXIT:
            self._leave()
        self._response = token

    def _leave(self) -> None:
        self._remove_dump()
        print(
            "Note: user exited from debugger CLI: Calling sys.exit(1).",
            file=sys.stderr,
        )
        sys.exit(1)

    def _step_through(self, fetches: Any, feed_dict: Any) -> Any:
        """Runs a step node by node; its fetches, or its error."""
        assert self._request is not None
        self._response = None
        with Stepper(self._sess, fetches, feed_dict) as stepper:
            table = CommandTable()
            StepCommands(stepper, self._filters).add_to(table)
            title = f"stepping: {_described(self._request)}"
            result = terminal.converse(table, title, "step", [], self._ui_type)
        if isinstance(result, str) and result == terminal.EXPLICIT_USER_EXIT:
            self._leave()
        return result

    def _remove_dump(self) -> None:
        shutil.rmtree(self._dump_root, ignore_errors=True)

    # --- commands --------------------------------------------------------------------

    def _add_run_commands(
        self, table: CommandTable, request: OnRunStartRequest
    ) -> None:
        table.add(Command(_run_parser(), self._run_command, ("r",)))
        stepping = parser("invoke_stepper", "Execute the run() call node by node.")
        table.add(Command(stepping, self._stepping_command, ("s", "step")))
        info = parser("run_info", "Display information about this Session.run() call.")
        table.add(Command(info, lambda asked: self._run_text(request), ("ri",)))
        feed = parser("print_feed", "Print the value of a feed in feed_dict.")
        add_tensor_arguments(feed)
        table.add(Command(feed, self._feed_command, ("pf",)))

    def _run_command(self, asked: argparse.Namespace) -> str:
        if asked.filter_exclude_node_names and not asked.till_filter_pass:
            raise CommandError(
                "The --filter_exclude_node_names flag is valid only if the "
                "--till_filter_pass (or -f) flag is used."
            )
        if asked.times < 1:
            raise CommandError("There are no less runs than one")
        if asked.till_filter_pass and asked.till_filter_pass not in self._filters:
            raise CommandError(
                f'tensor filter "{asked.till_filter_pass}" does not exist.'
            )
        action = OnRunStartAction.DEBUG_RUN
        if asked.profile:
            action = OnRunStartAction.PROFILE_RUN
        elif asked.no_debug:
            action = OnRunStartAction.NON_DEBUG_RUN
        self._unseen = asked.times - 1
        self._wanted_filter = None
        if asked.till_filter_pass:
            self._wanted_filter = (
                asked.till_filter_pass,
                asked.filter_exclude_node_names,
            )
        urls = [f"file://{self._dump_root}"]
        raise CommandExit(
            OnRunStartResponse(
                action,
                urls if action == OnRunStartAction.DEBUG_RUN else [],
                node_name_regex_whitelist=asked.node_name_filter,
                op_type_regex_whitelist=asked.op_type_filter,
                tensor_dtype_regex_whitelist=asked.tensor_dtype_filter,
            )
        )

    def _stepping_command(self, asked: argparse.Namespace) -> str:
        if not self.can_step:
            raise CommandError(
                "A hook cannot run a step node by node: wrap the session instead"
            )
        raise CommandExit(OnRunStartResponse(OnRunStartAction.STEP_RUN, []))

    def _feed_command(self, asked: argparse.Namespace) -> str:
        feeds = self._request.feed_dict if self._request is not None else None
        if not feeds:
            raise CommandError("The feed_dict of the current run is None or empty.")
        name, slicing = parse_tensor_name_with_slicing(asked.tensor_name)
        for key, value in feeds.items():
            if get_graph_element_name(key) == name:
                return print_value(asked, value, f"{name} (feed)", slicing)
        raise CommandError(
            f"The feed_dict of the current run does not contain the key {name}"
        )

    def _run_text(self, request: OnRunStartRequest) -> str:
        filters = "\n".join(f"        * {name}" for name in self._filters)
        feeds = [f"  {get_graph_element_name(key)}" for key in request.feed_dict or ()]
        fetches = ["  from make_callable()"]
        if not request.is_callable_runner:
            fetches = [f"  {name}" for name in get_flattened_names(request.fetches)]
        return "\n".join(
            [
                _RULE,
                f"Session.run() call #{request.run_call_count}:",
                "",
                "Fetch(es):",
                *fetches,
                "",
                "Feed dict:",
                *(feeds or ["  (Empty)"]),
                _RULE,
                "",
                _CHOICES.format(filters=filters),
            ]
        )


_RULE = "=" * 38
_CHOICES = """Select one of the following commands to proceed ---->
  run:
    Execute the run() call with debug tensor-watching
  run -n:
    Execute the run() call without debug tensor-watching
  invoke_stepper (s):
    Execute the run() call node by node
  run -t <T>:
    Execute run() calls (T - 1) times without debugging, then execute run() once more \
with debugging and drop back to the CLI
  run -f <filter_name>:
    Keep executing run() calls until a dumped tensor passes a given, registered filter
    Registered filter(s):
{filters}

For more details, see help."""


def _run_parser() -> argparse.ArgumentParser:
    of = parser("run", "Run through, with or without debug tensor watching.")
    of.add_argument("-t", "--times", type=int, default=1, help="how many runs")
    of.add_argument("-n", "--no_debug", action="store_true", help="without watching")
    of.add_argument("-f", "--till_filter_pass", help="until a tensor passes a filter")
    of.add_argument(
        "-fenn",
        "--filter_exclude_node_names",
        help="with -f: without nodes whose names a regular expression says",
    )
    of.add_argument("--node_name_filter", help="watch nodes of these names only")
    of.add_argument("--op_type_filter", help="watch nodes of these ops only")
    of.add_argument("--tensor_dtype_filter", help="watch tensors of these dtypes only")
    of.add_argument("-p", "--profile", action="store_true", help="trace it instead")
    return of


def _described(request: OnRunStartRequest) -> str:
    """`run #1: 1 fetch (z:0); 1 feed (x:0)`."""
    head = f"run #{request.run_call_count}: "
    if request.is_callable_runner:
        return head + "runner from make_callable()"
    fetches = get_flattened_names(request.fetches)
    feeds = [get_graph_element_name(key) for key in request.feed_dict or ()]
    return (
        f"{head}{_counted('fetch', 'fetches', fetches)}; "
        f"{_counted('feed', 'feeds', feeds)}"
    )


def _counted(one: str, many: str, names: list[str]) -> str:
    if len(names) == 1:
        return f"1 {one} ({names[0]})"
    return f"{len(names)} {many}"


def _failure_text(error: Any) -> str:
    node = getattr(error.op, "name", None) if error.op is not None else None
    lines = [
        "--------------------------------------",
        "!!! An error occurred during the run !!!",
        "",
        f"{type(error).__name__}: {error}",
    ]
    if node is not None:
        lines += [
            "",
            f"Op name:  {node}",
            "You may use the following commands to debug:",
            f"  ni -a -d -t {node}",
            f"  li -r {node}",
            "  lt",
        ]
    return "\n".join([*lines, "--------------------------------------"])
