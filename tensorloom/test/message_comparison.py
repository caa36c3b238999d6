"""Protocol messages for comparison, with rounded numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

# Decimals that count, of each type of field: sums in another order may differ.
_DECIMALS: Final = {FieldDescriptor.TYPE_FLOAT: 6, FieldDescriptor.TYPE_DOUBLE: 7}


def rounded(message: Any) -> Any:
    """A copy of a message whose floats have six decimals, and doubles seven."""
    copy = type(message)()
    copy.CopyFrom(message)
    _round_fields(copy)
    return copy


def _round_fields(message: Any) -> None:
    for field, value in message.ListFields():
        decimals = _DECIMALS.get(field.type)
        many = hasattr(value, "extend")
        if decimals is not None and many:
            value[:] = [round(number, decimals) + 0.0 for number in value]
        elif decimals is not None:
            setattr(message, field.name, round(value, decimals) + 0.0)  # -0.0 is 0.0
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in _parts(value, many):
                _round_fields(part)


def _parts(value: Any, many: bool) -> Iterable[Any]:
    """The messages that a field of messages holds; a map may hold none."""
    if hasattr(value, "values"):
        return [part for part in value.values() if hasattr(part, "ListFields")]
    return value if many else [value]
