"""The library reads and frees no memory that it must not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.capi.conftest import Library, build, run

pytestmark = pytest.mark.capi

_SANITIZERS = "-fsanitize=address,undefined"
# Python's own memory is not freed at the end of a process.
_WITH_PYTHON = (
    "dtypes",
    "strings",
    "graphs",
    "attrs",
    "imports",
    "functions",
    "loops",
    "sessions",
    "registry",
    "own",
    "refusals",
    "threads",
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library under AddressSanitizer and UndefinedBehaviorSanitizer."""
    folder = tmp_path_factory.mktemp("checked")
    built = build(folder, f"--cflags=-O1 -g {_SANITIZERS} -fno-omit-frame-pointer")
    lib = built / "lib"
    link = (_SANITIZERS, f"-L{lib}", "-ltensorloom", f"-Wl,-rpath,{lib}")
    return Library("ours", built / "include", link)


def test_nothing_leaks(checked: Library, tmp_path: Path) -> None:
    """Statuses, buffers and tensors."""
    executable = checked.compile("tensors", tmp_path, _SANITIZERS)
    assert run([str(executable)], ASAN_OPTIONS="detect_leaks=1").endswith("end\n")


@pytest.mark.parametrize("program", _WITH_PYTHON)
def test_no_invalid_access(program: str, checked: Library, tmp_path: Path) -> None:
    executable = checked.compile(program, tmp_path, _SANITIZERS)
    assert run([str(executable)], ASAN_OPTIONS="detect_leaks=0").endswith("end\n")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_valgrind(ours: Library, tmp_path: Path) -> None:
    executable = ours.compile("tensors", tmp_path)
    options = ["--error-exitcode=9", "--leak-check=full", "--quiet"]
    command = ["valgrind", *options, str(executable)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
