"""The C API, built for the tests, and programs in C compiled against it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
TIMEOUT_S = 300


@dataclass(frozen=True)
class Library:
    """A library with the C API, and the headers to compile programs against."""

    name: str
    include: Path
    link: tuple[str, ...]

    def compile(self, program: str, folder: Path, *flags: str) -> Path:
        """Compiles a program of `programs/`; returns its executable."""
        executable = folder / f"{program}_{self.name}"
        command = [
            os.environ.get("CC", "cc"),
            "-std=gnu11",
            "-g",
            *flags,
            f"-I{self.include}",
            f"-I{PROGRAMS}",
            str(PROGRAMS / f"{program}.c"),
            "-o",
            str(executable),
            *self.link,
            "-lpthread",
            "-lm",
        ]
        subprocess.run(command, check=True, timeout=TIMEOUT_S)
        return executable

    def output(self, program: str, folder: Path, *arguments: str) -> str:
        """Compiles and runs a program; what it prints."""
        executable = self.compile(program, folder, *self.flags)
        return run([str(executable), *arguments])

    @property
    def flags(self) -> tuple[str, ...]:
        """TensorFlow's headers warn; ours do not."""
        return WARNINGS if self.name == "ours" else ("-w",)


def run(command: list[str], **variables: str) -> str:
    """Runs a program that must end well; what it prints."""
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TENSORLOOM_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def build(output: Path, *options: str) -> Path:
    """Builds the library into a folder."""
    builder = [sys.executable, str(ROOT / "tools" / "build_capi.py")]
    command = [*builder, "--output", str(output), *options]
    subprocess.run(command, check=True, timeout=TIMEOUT_S, capture_output=True)
    return output


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the library."""
    return build(tmp_path_factory.mktemp("capi"))


@pytest.fixture(scope="session")
def ours(built: Path) -> Library:
    """This library."""
    lib = built / "lib"
    link = (f"-L{lib}", "-ltensorloom", f"-Wl,-rpath,{lib}")
    return Library("ours", built / "include", link)


def _peer(variable: str, default: str) -> Path:
    folder = ROOT / os.environ.get(variable, default)
    python = folder / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no TensorFlow at {folder}: make peer")
    return python


def _ask(python: Path, code: str) -> str:
    done = subprocess.run(
        [str(python), "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
        cwd="/tmp",
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    return done.stdout.strip().splitlines()[-1]


_WHERE = "import importlib.util; print(importlib.util.find_spec({!r}).origin)"


@pytest.fixture(scope="session")
def tensorflow_221() -> Library:
    """TensorFlow 2.21."""
    python = _peer("PEER221", ".venv-tf221")
    folder = Path(_ask(python, _WHERE.format("tensorflow"))).parent
    names = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")
    link = (*(str(folder / name) for name in names), f"-Wl,-rpath,{folder}")
    return Library("tensorflow221", folder / "include", link)


@pytest.fixture(scope="session")
def tensorflow_115(built: Path) -> Library:
    """TensorFlow 1.15, whose wheel has no headers: ours are its."""
    python = _peer("PEER115", ".venv-tf115")
    folder = Path(_ask(python, _WHERE.format("tensorflow_core"))).parent
    interpreter = Path(
        _ask(
            python,
            "import os, sysconfig as s; v = s.get_config_var; "
            "print(os.path.join(v('LIBDIR'), v('LDLIBRARY')))",
        )
    )
    if interpreter.suffix != ".so":
        pytest.skip(f"its Python has no shared library: {interpreter}")
    link = (
        str(folder / "python" / "_pywrap_tensorflow_internal.so"),
        str(folder / "libtensorflow_framework.so.1"),
        str(interpreter),
        f"-Wl,-rpath,{interpreter.parent}:{folder / 'python'}:{folder}",
    )
    return Library("tensorflow115", built / "include", link)
