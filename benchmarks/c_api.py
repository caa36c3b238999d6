"""Steps through the C API: one program in C, with this library and TensorFlow's."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.fresh_processes import ProcessWorkload
from benchmarks.processes import OURS, REPOSITORY, WorkloadError, python_of

_SOURCE = Path(__file__).with_suffix(".c")
_PACKAGE = (
    "import importlib.util as u; "
    "print(u.find_spec('tensorflow').submodule_search_locations[0])"
)

# Builds the perceptron of the row of Python; writes its graph, or times its steps.
_PERCEPTRON = """
import sys, time
import tensorloom as tf
from benchmarks.workloads import models
step = next(steps := models.mlp(tf, 32))
if sys.argv[1]:
    with open(sys.argv[1], "wb") as file:
        file.write(tf.get_default_graph().as_graph_def().SerializeToString())
else:
    for i in range(-100, 500):
        if i == 0:
            start = time.perf_counter()
        step()
    print((time.perf_counter() - start) / 500)
"""


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the programs are; it goes with this process."""
    return tempfile.TemporaryDirectory()


def _ours() -> tuple[Path, list[str]]:
    """Headers and linker flags of this library, which is built first."""
    output = Path(_folder().name) / "capi"
    builder = str(REPOSITORY / "tools" / "build_capi.py")
    _checked([sys.executable, builder, "--output", str(output)])
    lib = output / "lib"
    return output / "include", [f"-L{lib}", "-ltensorloom", f"-Wl,-rpath,{lib}"]


def _tensorflow(system: str) -> tuple[Path, list[str]]:
    """Headers and linker flags of TensorFlow's library in its wheel."""
    package = Path(_checked([str(python_of(system)), "-c", _PACKAGE]).strip())
    names = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")
    links = [str(package / name) for name in names]
    return package / "include", [*links, f"-Wl,-rpath,{package}"]


@functools.cache
def _program(system: str) -> str:
    include, link = _ours() if system == OURS else _tensorflow(system)
    program = str(Path(_folder().name) / f"c_api_{system}")
    command = ["cc", "-std=gnu11", "-O2", "-w", f"-I{include}", str(_SOURCE)]
    _checked([*command, "-o", program, *link, "-lpthread"])
    return program


def _checked(command: list[str]) -> str:
    """Runs a program that must end well; what it prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TENSORLOOM_PYTHON": sys.executable,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300
    )
    if done.returncode:
        raise WorkloadError(f"{command[0]}: {done.stderr}")
    return done.stdout


def _seconds_of(row: str) -> Callable[[str], float]:
    """What one step takes, by the program's own clock."""
    return lambda system: float(_checked([_program(system), row]))


@functools.cache
def _perceptron() -> str:
    """A file with the graph of the perceptron, of this library's Python."""
    path = str(Path(_folder().name) / "mlp.pb")
    _checked([sys.executable, "-c", _PERCEPTRON, path])
    return path


def _perceptron_seconds(system: str) -> float:
    return float(_checked([_program(system), "mlp", _perceptron()]))


def _perceptron_of_python(system: str) -> float:
    """The step from C in times of the step from Python, both of this library."""
    from_c, from_python = [], []
    for _ in range(3):  # in turns: the machine changes meanwhile
        from_c.append(_perceptron_seconds(system))
        step = _checked([sys.executable, "-c", _PERCEPTRON, ""])
        from_python.append(float(step))
    return min(from_c) / min(from_python)


def _first_result(system: str) -> float:
    """From the start of the process to its end, after one step."""
    program = _program(system)
    start = time.perf_counter()
    _checked([program, "first"])
    return time.perf_counter() - start


C_API_WORKLOADS = {
    workload.name: workload
    for workload in (
        ProcessWorkload("C API: null step", 0.3, _seconds_of("null")),
        ProcessWorkload("C API: scalar feed and fetch", 0.3, _seconds_of("scalar")),
        ProcessWorkload("C API: 100 MB fed", 1.0, _seconds_of("large")),
        ProcessWorkload("C API: 8 threads, a session", 1.0, _seconds_of("threads")),
        ProcessWorkload("C API: an op without a graph", None, _seconds_of("eager")),
        ProcessWorkload(
            "C API: MLP 784-128-128-10, Adam step", 0.9, _perceptron_seconds
        ),
        ProcessWorkload(
            "figure: C API, MLP step in times of Python's",
            None,
            _perceptron_of_python,
            "times",
            0.9,
        ),
        ProcessWorkload("C API: process to first result", 1.0, _first_result),
    )
}
