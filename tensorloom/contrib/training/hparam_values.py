"""Hyperparameters in text: `learning_rate=0.1,layers=[64,32],name=x`."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.framework.export import export

# A name, perhaps an index, and a value or a list of values.
_CLAUSE: Final = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])($|,\s*)"
)


@export("contrib.training.parse_values")
def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Reads `name=value` pairs that commas separate.

    Args:
      values: the text. Lists stand in square brackets; `name[2]=value` is one element.
      type_map: the type of each name's value, or of the elements of its list.
      ignore_unknown: whether names without a type are left out.

    Returns:
      By name a value, a list, or a dict of elements by index.

    Raises:
      ValueError: the text cannot be read, a name has no type, or is there twice.
    """
    found: dict[str, Any] = {}
    place = 0
    while place < len(values):
        clause = _CLAUSE.match(values, place)
        if clause is None:
            raise ValueError(f"Malformed hyperparameter value: {values[place:]}")
        place = clause.end()
        name = clause["name"]
        if name in type_map:
            _add(found, name, clause, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _add(
    found: dict[str, Any], name: str, clause: re.Match[str], kind: type, text: str
) -> None:
    index = clause["index"]
    if clause["values"] is not None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        if name in found:
            raise _again(name, text)
        parts = filter(None, re.split("[ ,]", clause["values"]))
        found[name] = _converted(name, parts, kind, clause["values"], text)
        return
    (value,) = _converted(name, [clause["value"]], kind, clause["value"], text)
    if index is None:
        if name in found:
            raise _again(name, text)
        found[name] = value
        return
    elements = found.setdefault(name, {})
    if not isinstance(elements, dict):
        raise _again(name, text)
    if int(index) in elements:
        raise _again(f"{name}[{int(index)}]", text)
    elements[int(index)] = value


def _again(name: str, text: str) -> ValueError:
    return ValueError(f"Multiple assignments to variable '{name}' in {text}")


def _converted(name: str, parts: Any, kind: type, shown: str, text: str) -> list[Any]:
    convert: Callable[[str], Any] = _bool if kind is bool else kind
    try:
        return [convert(part) for part in parts]
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value "
            f"'{shown}' in {text}"
        ) from None


def _bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    return False if text in ("false", "False") else bool(int(text))


def as_type(name: str, kind: type, value: Any) -> Any:
    """A value as its parameter's type.

    An integer becomes a float, and nothing else another type.

    Raises:
      ValueError: the value is of another type.
    """
    if type(value) is kind or kind is type(None):
        return value
    if not _may_become(kind, value):
        raise ValueError(
            f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}"
        )
    return kind(value)


def _may_become(kind: type, value: Any) -> bool:
    if issubclass(kind, bool) != isinstance(value, bool):
        return False
    return all(
        isinstance(value, family)
        for family in ((str, bytes), numbers.Integral, numbers.Number)
        if issubclass(kind, family)
    )
