"""What is called as it is: the framework, libraries, generators, named tuples."""

from __future__ import annotations

import functools
import inspect
from types import MethodType
from typing import Any, Final

from tensorloom.autograph import logs

# Modules whose code, and that of modules below them, is not converted.
_LIBRARIES: Final = (
    *("collections", "copy", "cProfile", "inspect", "ipdb", "linecache", "mock"),
    *("pathlib", "pdb", "posixpath", "pstats", "re", "threading"),
    *("numpy", "tensorloom", "tensorflow", "tensorflow_probability"),
    "tensorflow_datasets.core",
)


def is_allowed(
    entity: Any, check_call: bool = True, allow_named_tuple_subclass: bool = False
) -> bool:
    """Whether a function, class or callable object is called without conversion.

    Args:
      check_call: whether an object counts as what its `__call__` is.
      allow_named_tuple_subclass: whether methods that a subclass of a named tuple adds
        are converted.
    """
    module = "functools" if _is_partial(entity) else getattr(entity, "__module__", None)
    if isinstance(module, str) and _is_of_a_library(module):
        return True
    if inspect.isgeneratorfunction(entity):
        logs.warn(
            "Entity %s appears to be a generator function. It will not be converted by "
            "AutoGraph.",
            described(entity),
        )
        return True
    if (
        check_call
        and not inspect.isclass(entity)
        and hasattr(entity, "__call__")  # noqa: B004
        and type(entity) is not type(entity.__call__)
        and is_allowed(entity.__call__)
    ):
        return True
    if inspect.ismethod(entity) and _is_of_an_allowed_class(entity):
        return True
    if not is_named_tuple(entity):
        return False
    return not allow_named_tuple_subclass or not any(
        map(is_named_tuple, entity.__bases__)
    )


def _is_of_a_library(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _LIBRARIES)


def _is_of_an_allowed_class(method: MethodType) -> bool:
    """Methods that a class has from a library's class are the library's."""
    owner = method.__self__
    owner = owner if inspect.isclass(owner) else type(owner)
    if any(base.__module__ == "unittest.case" for base in owner.__mro__):
        return True
    return is_allowed(
        defining_class(method, owner), check_call=False, allow_named_tuple_subclass=True
    )


def defining_class(method: Any, owner: type) -> type:
    """The class, among the bases of `owner`, that has the method first."""
    function = getattr(method, "__func__", method)
    name = getattr(method, "__name__", "")
    for base in reversed(owner.__mro__):
        found = getattr(base, name, None)
        if found is not None and getattr(found, "__func__", found) is function:
            return base
    return owner


def is_named_tuple(entity: Any) -> bool:
    """Whether it is a class made by `collections.namedtuple`, or below one."""
    if not inspect.isclass(entity) or not issubclass(entity, tuple):
        return False
    fields = getattr(entity, "_fields", None)
    return isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)


def _is_partial(entity: Any) -> bool:
    return isinstance(entity, functools.partial)


def described(entity: Any) -> str:
    """The entity and, if it has one, its line in the program."""
    code = getattr(entity, "__code__", None)
    if code is None:
        return str(entity)
    return f"{entity} ({code.co_filename}:{code.co_firstlineno})"
