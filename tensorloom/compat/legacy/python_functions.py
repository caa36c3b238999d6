"""Functions of Python's library as they were."""

from __future__ import annotations

import inspect
import json
import platform
import random
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format

from tensorloom.compat.internals import signatures
from tensorloom.compat.legacy.notices import tell

ArgSpec = signatures.ArgSpec


def getargspec(func: Any) -> Any:
    """The arguments of a function, without those by keyword only."""
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs:
        raise ValueError(
            "Function has keyword-only parameters, use inspect.signature() API which "
            "can support them"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def formatargspec(
    args: Any,
    varargs: str | None = None,
    varkw: str | None = None,
    defaults: Any = None,
    *unused: Any,
) -> str:
    """Arguments as a program writes them: `(a, b=1, *args)`."""
    required = len(args) - len(defaults or ())
    parts = [
        name if i < required else f"{name}={defaults[i - required]!r}"
        for i, name in enumerate(args)
    ]
    parts += [f"*{varargs}"] if varargs else []
    parts += [f"**{varkw}"] if varkw else []
    return f"({', '.join(parts)})"


def linux_distribution(*unused: Any, **options: Any) -> tuple[str, str, str]:
    """Name, version and code name of the Linux distribution; empty where unknown."""
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    known = ("NAME", "VERSION_ID", "VERSION_CODENAME")
    name, version, code_name = (facts.get(key, "") for key in known)
    return name, version, code_name


dist = linux_distribution


def loads(s: Any, *args: Any, **kwargs: Any) -> Any:
    """`json.loads`, which had an argument `encoding` without effect."""
    return json.loads(s, *args, **_without_encoding(kwargs))


def load(fp: Any, *args: Any, **kwargs: Any) -> Any:
    """`json.load`, which had an argument `encoding` without effect."""
    return json.load(fp, *args, **_without_encoding(kwargs))


def MessageToDict(message: Any, *args: Any, **kwargs: Any) -> Any:
    """`json_format.MessageToDict`, with an argument under its older name."""
    return json_format.MessageToDict(message, *args, **_with_presence(kwargs))


def MessageToJson(message: Any, *args: Any, **kwargs: Any) -> str:
    """`json_format.MessageToJson`, with an argument under its older name."""
    return json_format.MessageToJson(message, *args, **_with_presence(kwargs))


def _with_presence(kwargs: dict[str, Any]) -> dict[str, Any]:
    old, new = "including_default_value_fields", "always_print_fields_with_no_presence"
    if old in kwargs:
        tell(f"json_format ({old}=) (gone since protobuf 5.26)", f"{new}=")
        kwargs[new] = kwargs.pop(old)
    return kwargs


def _without_encoding(kwargs: dict[str, Any]) -> dict[str, Any]:
    if "encoding" in kwargs:
        tell("json.loads(encoding=) (gone since Python 3.9)", "nothing: it did nothing")
        del kwargs["encoding"]
    return kwargs


def shuffle(x: Any, source: Callable[[], float] | None = None) -> None:
    """`random.shuffle`, which took a function of numbers from 0 to 1."""
    if source is None:
        random.shuffle(x)
        return
    tell("random.shuffle(x, function) (gone since Python 3.11)", "the same order")
    for i in reversed(range(1, len(x))):
        j = int(source() * (i + 1))
        x[i], x[j] = x[j], x[i]


def sample(population: Any, k: int, **options: Any) -> list[Any]:
    """`random.sample`, which took sets too."""
    if isinstance(population, set | frozenset):
        tell("random.sample of a set (gone since Python 3.11)", "its items as a tuple")
        population = tuple(population)
    return random.sample(population, k, **options)
