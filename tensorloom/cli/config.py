"""`tensorloom config`: what a compiler needs to build programs on the C API."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tensorloom.cli.actions import FINE, PROBLEMS
from tensorloom.cli.command import Command

_LIBRARY = Path("lib") / "libtensorloom.so"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cflags", action="store_true", help="for the compiler")
    parser.add_argument("--libs", action="store_true", help="for the linker")
    parser.add_argument(
        "--prefix", action="store_true", help="the folder of library and headers"
    )


def _find() -> Path | None:
    """The folder that `make capi` has built: beside the source, or as said."""
    said = os.environ.get("TENSORLOOM_CAPI")
    source_tree = Path(__file__).parents[2]
    folder = Path(said) if said else source_tree / "build" / "capi"
    return folder if (folder / _LIBRARY).exists() else None


def _execute(options: argparse.Namespace) -> int:
    folder = _find()
    if folder is None:
        print(
            "tensorloom config: the C API is not built. `make capi` in the source tree "
            "builds it; TENSORLOOM_CAPI names its folder where that is elsewhere.",
            file=sys.stderr,
        )
        return PROBLEMS
    lib = folder / _LIBRARY.parent
    flags = []
    if options.prefix:
        flags.append(str(folder))
    if options.cflags:
        flags.append(f"-I{folder / 'include'}")
    if options.libs:
        flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-ltensorloom"]
    print(*(flags or [str(folder)]))
    return FINE


COMMAND = Command(
    "config",
    "print compiler and linker flags of the C API",
    _add_arguments,
    _execute,
)
