"""The thread that gets code for clusters, while steps run without it.

It looks on disk first. What is not there is compiled by a process of low priority
(`compiler_process.py`), one thing after the other: no step waits for it, nor for
Python's lock. The thread ends, and its process with it, when nothing more is asked for.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tensorloom.worker.compiled.comparison import difference
from tensorloom.worker.compiled.compiler_process import CompilerProcess
from tensorloom.worker.compiled.request import Request
from tensorloom.worker.compiled.timing import is_quicker

# Copies of the code that may run at a time; further callers wait for one.
_MOST_AT_ONCE: Final = 8
_STOP_S: Final = 30.0

_Code = Callable[[list[Any]], Sequence[Any]]
#: Compiles what is asked for into a file, or says why not.
Compile = Callable[[Request, Path], str | None]


class UncompiledWarning(RuntimeWarning):
    """What was to be compiled runs as if it was not."""


@dataclass(frozen=True, slots=True)
class _Task:
    request: Request
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    kernels: Callable[[], object]
    take: Callable[[_Code], None]
    what: str


class Background:
    """The thread, and what it is asked for.

    Args:
      make_compiler: gives what compiles, and what ends it.
    """

    def __init__(
        self, make_compiler: Callable[[], tuple[Compile, Callable[[], None]]]
    ) -> None:
        self._make_compiler = make_compiler
        self._tasks: deque[_Task] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._end: Callable[[], None] = _nothing
        self._is_over = False

    def ask(self, task: _Task) -> None:
        """Wants something compiled."""
        with self._lock:
            if self._is_over:
                return
            self._tasks.append(task)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="tensorloom-compile", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Waits until all that was asked for so far is done."""
        while (thread := self._thread) is not None:
            thread.join()

    def stop(self) -> None:
        """Ends what is under way; nothing is compiled any more."""
        with self._lock:
            self._is_over = True
            self._tasks.clear()
            thread, end = self._thread, self._end
        end()
        if thread is not None:
            thread.join(_STOP_S)

    def _work(self) -> None:
        compile_to, end = self._make_compiler()
        with self._lock:
            self._end = end
        try:
            while (task := self._next()) is not None:
                problem = _done(task, compile_to)
                if problem is not None and not self._is_over:
                    self._warn(f"{task.what} is not compiled: {problem}")
                del task  # it holds tensors
        finally:
            end()

    def _next(self) -> _Task | None:
        with self._lock:
            if self._tasks:
                return self._tasks.popleft()
            self._thread = None
            return None

    def _warn(self, message: str) -> None:
        # Where warnings are errors there is nobody to raise one for.
        with contextlib.suppress(UncompiledWarning):
            warnings.warn(message, UncompiledWarning, stacklevel=1)


def _nothing() -> None:
    pass


def _done(task: _Task, compile_to: Compile) -> str | None:
    """Does what was asked for; returns what is wrong, if something is."""
    try:
        path = task.request.path()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            problem = compile_to(task.request, path)
            if problem is not None:
                return problem
        code = load(path)
        # The first run of each, which takes longer, is this and the step's.
        problem = difference(task.outputs, code(list(task.inputs)))
        if problem is not None:
            return f"the machine code gives other results: {problem}"
        is_worth_it = is_quicker(lambda: code(list(task.inputs)), task.kernels)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if is_worth_it:
        task.take(code)
    return None


def load(path: Path) -> _Code:
    """Code from a file, as a function of tensors."""
    import torch

    # What `torch._inductor.aoti_load_package` holds; without the import of a compiler.
    loader = torch._C._aoti.AOTIModelPackageLoader(
        str(path), "model", False, min(_MOST_AT_ONCE, os.cpu_count() or 1), -1
    )
    run: _Code = loader.run
    return run


#: With "0" in it nothing is compiled.
SWITCH: Final = "TENSORLOOM_COMPILE"


def can_compile() -> bool:
    """Whether code is wanted, and there is a C++ compiler; warns once without one."""
    global _has_compiler
    if os.environ.get(SWITCH) == "0":
        return False
    if _has_compiler is None:
        name = os.environ.get("CXX") or "g++"
        _has_compiler = shutil.which(name) is not None
        if not _has_compiler:
            warnings.warn(
                f"there is no C++ compiler '{name}' (the variable CXX may name "
                "another): what is marked to be compiled runs uncompiled",
                UncompiledWarning,
                stacklevel=2,
            )
    return _has_compiler


_has_compiler: bool | None = None


def _process() -> tuple[Compile, Callable[[], None]]:
    process = CompilerProcess()
    return process.compile, process.end


_background = Background(_process)


def ask(
    request: Request,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    kernels: Callable[[], object],
    take: Callable[[_Code], None],
    what: str,
) -> None:
    """Wants code.

    Args:
      request: of what.
      inputs: tensors that nobody changes.
      outputs: what the code must make of them.
      kernels: makes them without code, which has to take longer.
      take: gets the code, once it does.
      what: what a warning calls it.
    """
    _background.ask(_Task(request, inputs, outputs, kernels, take, what))


def wait() -> None:
    """Waits until all that was asked for so far is compiled, or will not be."""
    _background.wait()


def _after_fork() -> None:
    global _background
    _background = Background(_process)


def _at_exit() -> None:
    _background.stop()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
