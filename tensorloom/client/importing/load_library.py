"""`tf.load_op_library` and its like: shared libraries of kernels.

Ops here are written in Python (`tensorloom.extend`). A library is loaded, so that what
is wrong with its file is said as TensorFlow says it; ops that it registers with
TensorFlow's C++ registry have nobody here who would hear of them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import types
from pathlib import Path

from tensorloom.framework import errors
from tensorloom.framework.export import export


@export("load_op_library")
def load_op_library(library_filename: str) -> types.ModuleType:
    """Loads a shared library and returns a module with the ops that it brings.

    Raises:
      NotFoundError: there is no such library, or it cannot be loaded.
    """
    _load(library_filename)
    module = types.ModuleType(os.path.basename(library_filename))
    module.__dict__.update(LIB_FILENAME=library_filename, OP_LIST=[])
    return module


@export("load_file_system_library")
def load_file_system_library(library_filename: str) -> None:
    """Loads a shared library with file systems.

    Raises:
      NotFoundError: there is no such library, or it cannot be loaded.
    """
    _load(library_filename)


@export("load_library")
def load_library(library_location: str) -> None:
    """Loads a shared library, or all `.so` and `.dylib` files of a folder.

    Raises:
      FileNotFoundError: there is no such file or folder.
      NotFoundError: a library cannot be loaded.
    """
    if not os.path.exists(library_location):
        raise FileNotFoundError(
            errno.ENOENT,
            "The file or folder to load kernel libraries from does not exist.",
            library_location,
        )
    if not os.path.isdir(library_location):
        _load(library_location)
        return
    for path in sorted(Path(library_location).iterdir()):
        if path.suffix in (".so", ".dylib"):
            _load(str(path))


def _load(path: str) -> None:
    try:
        ctypes.CDLL(path)
    except OSError as error:
        raise errors.NotFoundError(None, None, str(error)) from None
