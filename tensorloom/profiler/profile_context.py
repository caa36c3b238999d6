"""`ProfileContext`: traces and reports on chosen steps of whatever sessions run."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorloom.client.session.base_session import BaseSession
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.profiler.profiler import Profiler
from tensorloom.protos.config_pb2 import RunMetadata, RunOptions
from tensorloom.storage.files import filesystem

WARMUP_STEPS: Final = 10
MAX_TRACED_STEPS: Final = 100


@export("contrib.tfprof.ProfileContext", "contrib.tfprof.model_analyzer.ProfileContext")
class ProfileContext:
    """Inside, sessions trace some of their steps, and write profiles.

    ```python
    with tf.contrib.tfprof.ProfileContext("/tmp/profiles") as context:
        options = tf.profiler.ProfileOptionBuilder.time_and_memory()
        context.add_auto_profiling("op", options, [150, 200])
        train()
    ```

    Args:
      profile_dir: the folder that profiles are written to.
      trace_steps: the calls of `Session.run` to trace, counted from 0, at most 100.
        None: each kind of step once after the first ten, and some more.
      dump_steps: the steps after which to write what is known; None: after step 100.
      enabled: whether it does anything.
      debug: whether to write each trace, too, and to say what it does.

    Raises:
      ValueError: no folder, or too many steps to trace.
    """

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Sequence[int] | None = None,
        dump_steps: Sequence[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._debug = debug
        self._folder = profile_dir
        self._chooses_steps = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = set([MAX_TRACED_STEPS] if dump_steps is None else dump_steps)
        self._random = random.Random(111)
        self._seen: set[str] = set()
        self._traces_next = self._dumps_next = False
        self._step = 0
        self._traced = 0
        self._reports: list[tuple[str, Mapping[str, Any], list[int]]] = []
        self._found: dict[str, dict[int, Any]] = {}
        self._profiler: Profiler | None = None
        self._lock = threading.Lock()
        self._plain_run: Callable[..., Any] | None = None

    @property
    def profiler(self) -> Profiler | None:
        """The Profiler that gets the traces; None if not enabled."""
        if not self._enabled:
            return None
        if self._profiler is None:
            self._profiler = Profiler()
        return self._profiler

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The reports of a kind that were made, by step.

        Raises:
          ValueError: there is none of that kind.
        """
        if cmd not in self._found:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._found[cmd]

    def add_auto_profiling(
        self, cmd: str, options: Mapping[str, Any], profile_steps: Sequence[int]
    ) -> None:
        """Makes reports after some steps, and traces those steps.

        Args:
          cmd: "scope", "graph", "op" or "code".
          options: see `tf.profiler.ProfileOptionBuilder`.
          profile_steps: the calls of `Session.run`, counted from 0.
        """
        if self._enabled:
            self._reports.append((cmd, options, list(profile_steps)))
            self._trace_steps.update(profile_steps)

    def trace_next_step(self) -> None:
        """Traces the next step."""
        self._traces_next = True

    def dump_next_step(self) -> None:
        """Writes what is known after the next step."""
        self._dumps_next = True

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            if getattr(BaseSession.run, "_is_profiled", False):
                raise errors.InternalError(
                    None, None, "Already in context or context not cleaned."
                )
            plain = self._plain_run = BaseSession.run

            def run(session: Any, *args: Any, **kwargs: Any) -> Any:
                return self._run(plain, session, *args, **kwargs)

            run._is_profiled = True  # type: ignore[attr-defined]
            BaseSession.run = run  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, exec_type: Any, exec_value: Any, exec_tb: Any) -> None:
        if self._enabled:
            BaseSession.run = self._plain_run  # type: ignore[method-assign,assignment]

    def _run(
        self,
        plain: Callable[..., Any],
        session: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        if not self._lock.acquire(blocking=False):
            # Another thread's step is being looked at.
            return plain(session, fetches, feed_dict, options, run_metadata)
        try:
            step = self._step
            if not self._is_to_be_traced(step, session, fetches):
                result = plain(session, fetches, feed_dict, options, run_metadata)
            else:
                self._say(f"tracing step: {step}")
                self._traced += 1
                traced = RunMetadata() if run_metadata is None else run_metadata
                asked = RunOptions()
                if options is not None:
                    asked.CopyFrom(options)
                asked.trace_level = RunOptions.FULL_TRACE
                result = plain(session, fetches, feed_dict, asked, traced)
                self._add(step, session, traced)
            if step in self._dump_steps or self._dumps_next:
                self._say(f"dumping file at step: {step}")
                self._write(f"profile_{step}", self._of(session).serialize_to_string())
            self._report(step, session)
            return result
        finally:
            self._step += 1
            self._traces_next = self._dumps_next = False
            self._lock.release()

    def _of(self, session: Any) -> Profiler:
        if self._profiler is None:
            self._profiler = Profiler(session.graph)
        return self._profiler

    def _is_to_be_traced(self, step: int, session: Any, fetches: Any) -> bool:
        if self._traced > MAX_TRACED_STEPS:
            return False
        if step in self._trace_steps or self._traces_next:
            return True
        if not self._chooses_steps or step <= WARMUP_STEPS:
            return False
        kind = "-".join(
            sorted(str(getattr(one, "name", one)) for one in nest.flatten(fetches))
        )
        if kind not in self._seen:
            self._seen.add(kind)
            return True
        return (
            self._of(session)._coverage < 0.5
            and step < MAX_TRACED_STEPS
            and self._random.randint(0, 10) < 2
        )

    def _add(self, step: int, session: Any, traced: Any) -> None:
        if self._debug:
            self._write(f"run_meta_{step}", str(traced).encode())
        profiler = self._of(session)
        profiler._graph = session.graph
        profiler.add_step(step, traced)

    def _report(self, step: int, session: Any) -> None:
        for view, options, steps in self._reports:
            if step in steps:
                profiler = self._of(session)
                make = {
                    "graph": profiler.profile_graph,
                    "scope": profiler.profile_name_scope,
                    "op": profiler.profile_operations,
                    "code": profiler.profile_python,
                }.get(view)
                if make is None:
                    raise ValueError(f"Unknown cmd: {view}\n")
                self._found.setdefault(view, {})[step] = make(options)

    def _write(self, name: str, data: bytes) -> None:
        filesystem.make_directories(self._folder)
        filesystem.write_file(filesystem.join(self._folder, name), data)

    def _say(self, text: str) -> None:
        if self._debug:
            print(f"debug: {text}", file=sys.stderr)
