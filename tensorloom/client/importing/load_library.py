"""`tf.load_op_library` and its like: shared libraries of kernels.

A library brings ops whose kernels are in C by the table of `tensorloom/kernel.h`
(docs/c-api.md). Any other is loaded as well, so that what is wrong with its file is
said as TensorFlow says it; ops that it registers with TensorFlow's C++ registry have
nobody here who would hear of them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.registry import c_kernels, op_def_proto, raw_ops
from tensorloom.framework.registry.op_def_library import apply_op

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import OpDef


@export("load_op_library")
def load_op_library(library_filename: str) -> types.ModuleType:
    """Loads a shared library and returns a module with the ops that it brings.

    Each op is a function of the module, under its name with underscores: of the inputs,
    the attrs that they do not tell, and `name`. To load a library again gives the same
    module.

    Raises:
      NotFoundError: there is no such library, or it cannot be loaded.
      AlreadyExistsError: an op of it has the name of another.
      InvalidArgumentError: the signature of an op is malformed.
    """
    with _loading:
        library = _load(library_filename)
        module = _MODULES.get(library._handle)
        if module is None:
            module = types.ModuleType(os.path.basename(library_filename))
            op_defs = c_kernels.register(library)
            for op_def in op_defs:
                function = _op_function(op_def)
                setattr(module, function.__name__, function)
            op_list = op_def_proto.to_op_list(op_defs)
            module.__dict__.update(LIB_FILENAME=library_filename, OP_LIST=op_list)
            _MODULES[library._handle] = module
    return module


# By the handle of the library: the same file has the same.
_MODULES: dict[int, types.ModuleType] = {}
_loading = threading.Lock()


def _op_function(op_def: OpDef) -> Callable[..., Any]:
    parameters = [called for called, _ in raw_ops.op_parameters(op_def).items()]

    def op(*values: Any, name: str | None = None, **arguments: Any) -> Any:
        if len(values) > len(parameters):
            raise TypeError(f"{op.__name__}() takes {len(parameters)} arguments")
        given = dict(zip(parameters, values, strict=False))
        for argument in arguments:
            if argument in given or argument not in parameters:
                raise TypeError(
                    f"{op.__name__}() got an argument '{argument}' it "
                    "has already, or does not take"
                )
        return apply_op(op_def.name, name, **given, **arguments)

    op.__name__ = op.__qualname__ = _WORD.sub("_", op_def.name).lower()
    op.__doc__ = op_def.doc
    return op


# Between the words of a name in camel case.
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


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
        load_op_library(library_location)
        return
    for path in sorted(Path(library_location).iterdir()):
        if path.suffix in (".so", ".dylib"):
            load_op_library(str(path))


def _load(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise errors.NotFoundError(None, None, str(error)) from None
