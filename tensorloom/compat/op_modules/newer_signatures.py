"""Functions with TensorFlow 2's arguments over those of 1.15, made from a table.

`tables/newer_signatures.txt` says of each what it takes and which public function it
calls. `tf.compat.v2` and the `..._v2` functions of `tensorflow.python.ops` are these.
Those that do more than hand their arguments on are in `newer_functions.py`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from tensorloom.framework.types import dtypes

_TABLE: Final = "tables/newer_signatures.txt"
_ROOT: Final = "tensorloom"


@dataclass(frozen=True)
class _Entry:
    """One line of the table."""

    signature: inspect.Signature
    # The public function, "tf.argmax".
    target: str
    # Its parameters that are called otherwise here -> the parameter here.
    renamed: dict[str, str]
    # Its parameters that have a fixed value.
    fixed: dict[str, Any]


def __getattr__(name: str) -> Any:
    entry = _entries().get(name)
    if entry is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = globals()[name] = _function(name, entry)
    return function


def __dir__() -> list[str]:
    return sorted(_entries())


@functools.cache
def _entries() -> dict[str, _Entry]:
    text = (resources.files(__package__) / _TABLE).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return dict(_entry(line) for line in lines if line and not line.startswith("#"))


def _entry(line: str) -> tuple[str, _Entry]:
    head, _, call = line.partition(" -> ")
    definition = ast.parse(f"def {head}: pass").body[0]
    expression = ast.parse(call, mode="eval").body
    assert isinstance(definition, ast.FunctionDef), line
    assert isinstance(expression, ast.Call), line
    given = [(word.arg or "", word.value) for word in expression.keywords]
    return definition.name, _Entry(
        signature=_signature(definition.args),
        target=ast.unparse(expression.func),
        renamed={to: value.id for to, value in given if isinstance(value, ast.Name)},
        fixed={
            to: ast.literal_eval(value)
            for to, value in given
            if not isinstance(value, ast.Name)
        },
    )


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """The parameters; a default that is a name is a dtype."""
    without = len(arguments.args) - len(arguments.defaults)
    defaults = [inspect.Parameter.empty] * without + [
        getattr(dtypes, node.id)
        if isinstance(node, ast.Name)
        else ast.literal_eval(node)
        for node in arguments.defaults
    ]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(argument.arg, kind, default=default)
            for argument, default in zip(arguments.args, defaults, strict=True)
        ]
    )


def _function(name: str, entry: _Entry) -> Callable[..., Any]:
    def newer(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = entry.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}{entry.signature}: {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        named = {to: given.pop(here) for to, here in entry.renamed.items()}
        target = _public(entry.target)
        takes = inspect.signature(target).parameters
        # The older functions have defaults of their own for what is None here.
        known = {
            to: value
            for to, value in (given | named).items()
            if value is not None or _is_required(takes, to)
        }
        if "name" in known and "name" not in takes:
            with _public("tf.name_scope")(known.pop("name")):
                return target(**known, **entry.fixed)
        return target(**known, **entry.fixed)

    newer.__name__ = newer.__qualname__ = name
    newer.__doc__ = f"`{entry.target}` with TensorFlow 2's arguments."
    newer.__signature__ = entry.signature  # type: ignore[attr-defined]
    return newer


def _is_required(takes: Mapping[str, inspect.Parameter], name: str) -> bool:
    return name in takes and takes[name].default is inspect.Parameter.empty


@functools.cache
def _public(path: str) -> Any:
    value: Any = sys.modules[_ROOT]
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    return value
