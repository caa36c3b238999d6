"""Notices that a function or an argument will go.

A notice is logged as a warning once for each place that calls, or each time.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.compat.internals.docstrings import (
    add_notice_to_docstring,
    validate_callable,
)
from tensorloom.framework.decorators import make_decorator

_DATE = re.compile(r"20\d\d-[01]\d-[0-3]\d")
_told: set[tuple[str, ...]] = set()
_loud = True

DeprecatedArgSpec = namedtuple(
    "DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"]
)


class DeprecatedNamesAlreadySet(Exception):
    """Deprecated names of one object were given twice."""


@contextmanager
def silence() -> Iterator[None]:
    """No notices within."""
    global _loud
    before, _loud = _loud, False
    try:
        yield
    finally:
        _loud = before


def _check(date: str | None, instructions: str) -> None:
    if date is not None and not _DATE.fullmatch(date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _caller() -> str:
    """Where the decorated function was called."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "unknown"


def _tell(key: tuple[str, ...], warn_once: bool, text: str, *args: Any) -> None:
    if not _loud or (warn_once and key in _told):
        return
    _told.add(key)
    program_log.warning(f"From %s: {text}", _caller(), *args)


_GONE = "is deprecated and will be removed %s.\nInstructions for updating:\n%s"


def deprecated(
    date: str | None, instructions: str, warn_once: bool = True
) -> Callable[[Any], Any]:
    """Calls of the function are told that it will go.

    Args:
      date: YYYY-MM-DD, the day after which it may be gone; None for "some time".
      instructions: what to use instead.
      warn_once: tell it once for each function, not at every call.

    Raises:
      ValueError: there are no instructions, or the date is none.
    """
    _check(date, instructions)

    def decorate(func: Any) -> Any:
        validate_callable(func, "deprecated")
        name = getattr(func, "__qualname__", repr(func))
        home = func.__module__

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            what = (name, home, _when(date), instructions)
            _tell(("function", name, home), warn_once, f"%s (from %s) {_GONE}", *what)
            return func(*args, **kwargs)

        doc = add_notice_to_docstring(
            func.__doc__,
            instructions,
            "DEPRECATED FUNCTION",
            "(deprecated)",
            [
                f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(date)}.",
                "Instructions for updating:",
            ],
        )
        made = make_decorator(func, decorated, "deprecated", doc)
        made.__doc__ = doc
        return made

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *names_or_tuples: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """Calls that give certain arguments are told that these will go.

    Args:
      date, instructions: as for `deprecated`.
      names_or_tuples: names, or `(name, value)` where that value needs no notice.
      kwargs: `warn_once`.

    Raises:
      ValueError: as for `deprecated`; or the function has no such argument.
    """
    _check(date, instructions)
    if not names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {sorted(kwargs)}")
    told_about = dict(
        (item[0], item[1:]) if isinstance(item, tuple) else (item, ())
        for item in names_or_tuples
    )
    return functools.partial(
        _decorate_arguments, date, instructions, told_about, warn_once, True
    )


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **values: Any
) -> Callable[[Any], Any]:
    """Calls that give an argument a certain value are told that this will go.

    Args:
      date, instructions: as for `deprecated`.
      values: by argument, the value that is told about.

    Raises:
      ValueError: as for `deprecated`.
    """
    _check(date, instructions)
    if not values:
        raise ValueError("Specify which argument values are deprecated.")
    told_about = {name: (value,) for name, value in values.items()}
    return functools.partial(
        _decorate_arguments, date, instructions, told_about, warn_once, False
    )


def _decorate_arguments(
    date: str | None,
    instructions: str,
    told_about: dict[str, tuple[Any, ...]],
    warn_once: bool,
    values_are_fine: bool,
    func: Any,
) -> Any:
    """Decorates `func`; `told_about` has, by argument, values that are fine, or those
    that are told about."""
    signature = inspect.signature(func)
    takes_any = {p.kind: p.name for p in signature.parameters.values()}
    rest = (
        takes_any.get(inspect.Parameter.VAR_POSITIONAL),
        takes_any.get(inspect.Parameter.VAR_KEYWORD),
    )
    for name in told_about:
        if name not in signature.parameters and rest[1] is None:
            raise ValueError(
                f"The following deprecated arguments are not present in the function "
                f"signature: [{name!r}]. Found: {list(signature.parameters)}."
            )

    def is_told(name: str, given: dict[str, Any]) -> bool:
        if name not in given or (name in rest and not given[name]):
            return False
        listed = any(
            given[name] is v or _equal(given[name], v) for v in told_about[name]
        )
        return not listed if values_are_fine else listed

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if _loud:
            try:
                bound = signature.bind(*args, **kwargs)
                if not values_are_fine:
                    bound.apply_defaults()  # a default may be such a value
                given = dict(bound.arguments)
            except TypeError:
                return func(*args, **kwargs)  # which raises, as without a decorator
            given |= given.get(rest[1] or "", {}) if rest[1] else {}
            for name in filter(lambda name: is_told(name, given), told_about):
                what = name if values_are_fine else f"{name}={given[name]}"
                called = (func.__qualname__, func.__module__, what)
                _tell(
                    ("argument", *called),
                    warn_once,
                    f"calling %s (from %s) with %s {_GONE}",
                    *called,
                    _when(date),
                    instructions,
                )
        return func(*args, **kwargs)

    kind = "arguments" if values_are_fine else "argument values"
    listed = [
        name if values_are_fine else f"{name}={values[0]}"
        for name, values in sorted(told_about.items())
    ]
    doc = add_notice_to_docstring(
        func.__doc__,
        instructions,
        f"DEPRECATED FUNCTION {kind.upper()}",
        f"(deprecated {kind})",
        [
            f"SOME {kind.upper()} ARE DEPRECATED: `({', '.join(listed)})`. "
            f"They will be removed {_when(date)}.",
            "Instructions for updating:",
        ],
    )
    made = make_decorator(func, decorated, "deprecated_args", doc)
    made.__doc__ = doc
    return made


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # arrays and tensors do not say yes or no
        return False


def deprecated_argument_lookup(
    new_name: str, new_value: Any, old_name: str, old_value: Any
) -> Any:
    """The value of an argument that has a new name.

    Raises:
      ValueError: both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def rewrite_argument_docstring(
    old_doc: str, old_argument: str, new_argument: str
) -> str:
    """A docstring with an argument renamed."""
    marked = old_doc.replace(f"`{old_argument}`", f"`{new_argument}`")
    return marked.replace(f"{old_argument}:", f"{new_argument}:")


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """A function or class under a name that will go: calls are told the other name."""
    text = "The name %s is deprecated. Please use %s instead.\n"
    names = (deprecated_name, name)
    if inspect.isclass(func_or_class):
        return _alias_class(names, text, func_or_class, warn_once)

    @functools.wraps(func_or_class)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        _tell(("alias", deprecated_name), warn_once, text, *names)
        return func_or_class(*args, **kwargs)

    return make_decorator(func_or_class, renamed, "deprecated_alias")


def _alias_class(names: tuple[str, str], text: str, base: Any, warn_once: bool) -> Any:
    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        _tell(("alias", names[0]), warn_once, text, *names)
        base.__init__(self, *args, **kwargs)

    doc = add_notice_to_docstring(
        base.__doc__,
        f"Please use {names[1]} instead.",
        "DEPRECATED CLASS",
        "(deprecated)",
        ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "],
    )
    members = {"__init__": make, "__doc__": doc, "__module__": base.__module__}
    return type(base)(base.__name__, (base,), members)


def deprecated_endpoints(*names: str) -> Callable[[Any], Any]:
    """Says which public names of an object will go.

    Raises:
      DeprecatedNamesAlreadySet: it was said before.
    """

    def decorate(value: Any) -> Any:
        if "_tf_deprecated_api_names" in getattr(value, "__dict__", {}):
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {value.__name__} to {names}. "
                "Deprecated names are already set to "
                f"{value._tf_deprecated_api_names}."
            )
        value._tf_deprecated_api_names = names
        return value

    return decorate
