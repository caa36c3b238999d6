"""Docstrings with notices, and which names of a module its documentation says."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log

_HIDDEN: dict[str, dict[str, Any]] = {}
_MENTIONED = re.compile(r"@@([A-Za-z_]\w*)")


def get_qualified_name(function: Any) -> str:
    """`Class.method` of a function."""
    name: str = getattr(function, "__qualname__", function.__name__)
    return name


def validate_callable(func: Any, decorator_name: str) -> None:
    """Raises ValueError if a decorator is put on what cannot be called."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property "
            f"appears before @{decorator_name} in your source code"
        )


def add_notice_to_docstring(
    doc: str | None,
    instructions: str,
    no_doc_str: str,
    suffix_str: str,
    notice: list[str],
) -> str:
    """A docstring with a suffix to its first line and a notice below it.

    Args:
      doc: the docstring.
      instructions: what to do instead.
      no_doc_str: what stands for a docstring where there is none.
      suffix_str: what the first line gets at its end.
      notice: the lines of the notice.

    Raises:
      ValueError: there is no notice.
    """
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    lines = inspect.cleandoc(doc).splitlines() if doc else []
    first = f"{lines[0]} {suffix_str}" if lines else no_doc_str
    told = ["", f"Warning: {notice[0]}", *notice[1:]]
    told += [instructions] if instructions else []
    if len(lines) > 1 and lines[1].strip():
        told.append("")
    return "\n".join([first, *told, *lines[1:]])


def experimental(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as experimental: its docstring and a warning at each call."""
    validate_callable(func, "experimental")
    what = "experimental and may change or be removed at any time, and without warning."

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        name = get_qualified_name(func)
        program_log.warning(f"%s (from %s) is {what}", name, func.__module__)
        return func(*args, **kwargs)

    notice = (
        "THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and "
        "without warning."
    )
    call.__doc__ = add_notice_to_docstring(
        func.__doc__, "", "EXPERIMENTAL FUNCTION", "(experimental)", [notice]
    )
    return call


class classproperty:
    """A property of a class: a method without arguments, read as an attribute."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._func = func

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._func(owner)


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The names of a module that docstrings mention as `@@name`."""
    module = sys.modules[module_name]
    modules = [module] if doc_string_modules is None else doc_string_modules
    return [
        name
        for known in modules
        for name in _MENTIONED.findall(known.__doc__ or "")
        if hasattr(module, name)
    ]


def remove_undocumented(
    module_name: str,
    allowed_exception_list: list[str] | None = None,
    doc_string_modules: Any = None,
) -> None:
    """Takes the names away that no docstring mentions."""
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or [])}
    for name in list(vars(module)):
        if name not in kept and not name.startswith("_"):
            _HIDDEN.setdefault(module_name, {})[name] = vars(module)[name]
            delattr(module, name)


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Gives one of the names back that were taken away.

    Raises:
      LookupError: none of that name was.
    """
    module_name, _, name = symbol_name.rpartition(".")
    if name not in _HIDDEN.get(module_name, {}):
        raise LookupError(f"{symbol_name} is not a hidden symbol")
    setattr(target_module or sys.modules[module_name], name, _HIDDEN[module_name][name])
