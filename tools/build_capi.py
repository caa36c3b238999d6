"""Builds the C API (`make capi`): libtensorloom.so, its headers, a pkg-config file.

    build_capi.py [--output build/capi] [--cc cc] [--cflags "-O2 -g"]

In the output folder: `lib/libtensorloom.so`; `compat/` with the names that programs
look for, `libtensorflow.so` and `libtensorflow_framework.so`; `include/`;
`lib/pkgconfig/tensorloom.pc`.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[1]
PACKAGE = SOURCE_TREE / "tensorloom" / "capi"
ALIASES = (
    "libtensorloom.so",  # what a program that was linked to another name looks for
    "libtensorflow.so",
    "libtensorflow.so.1",
    "libtensorflow_framework.so",
    "libtensorflow_framework.so.1",
)
FLAGS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Werror",
)


def python_library() -> Path:
    """Python's shared library.

    Raises:
      SystemExit: this Python has none.
    """
    variables = sysconfig.get_config_vars()
    name, folder = variables.get("LDLIBRARY", ""), variables.get("LIBDIR", "")
    library: Path = Path(folder) / name
    if not variables.get("Py_ENABLE_SHARED") or not library.exists():
        raise SystemExit(
            f"make capi: {sys.executable} has no shared library of its own "
            f"({library}). A Python that was configured with --enable-shared is needed "
            "(Debian: libpython3-dev; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared)."
        )
    return library


def tensorflow_version() -> str:
    """What `tf.__version__` says."""
    sys.path.insert(0, str(SOURCE_TREE))
    import tensorloom

    return str(tensorloom.__version__)


def compile_library(output: Path, compiler: str, flags: list[str]) -> Path:
    """Compiles and links `lib/libtensorloom.so`."""
    python = python_library()
    library = output / "lib" / "libtensorloom.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    command = [
        compiler,
        *FLAGS,
        *flags,
        f'-DTL_VERSION="{tensorflow_version()}"',
        f'-DTL_BUILD_PYTHON="{sys.executable}"',
        f"-I{PACKAGE / 'include'}",
        f"-I{sysconfig.get_path('include')}",
        *map(str, sorted((PACKAGE / "src").glob("*.c"))),
        "-shared",
        # Python stays in the process, whatever the program does.
        "-Wl,-z,nodelete,-soname,libtensorloom.so",
        str(python),
        f"-Wl,-rpath,{python.parent}",
        "-ldl",
        "-lpthread",
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True)
    return library


def write_files(output: Path, library: Path) -> None:
    """Writes the other names of the library, the headers, and the pkg-config file."""
    aliases = output / "compat"
    aliases.mkdir(exist_ok=True)
    for name in ALIASES:
        link = aliases / name
        link.unlink(missing_ok=True)
        link.symlink_to(Path("..") / "lib" / library.name)
    shutil.rmtree(output / "include", ignore_errors=True)
    shutil.copytree(PACKAGE / "include", output / "include")
    description = output / "lib" / "pkgconfig" / "tensorloom.pc"
    description.parent.mkdir(exist_ok=True)
    description.write_text(
        "prefix=${pcfiledir}/../..\n"
        "\n"
        "Name: tensorloom\n"
        "Description: the TensorFlow 1 system; its C API\n"
        f"Version: {tensorflow_version()}\n"
        "Cflags: -I${prefix}/include\n"
        "Libs: -L${prefix}/lib -Wl,-rpath,${prefix}/lib -ltensorloom\n"
    )


def main() -> None:
    """Builds everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=SOURCE_TREE / "build" / "capi")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cflags", default="-O2 -g", type=shlex.split)
    options = parser.parse_args()
    output = options.output.absolute()
    write_files(output, compile_library(output, options.cc, options.cflags))
    print(f"built {output / 'lib' / 'libtensorloom.so'}")


if __name__ == "__main__":
    main()
