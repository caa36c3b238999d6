"""Protocol messages for comparison, with rounded numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor

if TYPE_CHECKING:
    import unittest

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


def normalize_number_fields(message: Any) -> Any:
    """Rounds the floats (six decimals) and doubles (seven) of a message itself."""
    _round_fields(message)
    return message


def messages_equal(a: Any, b: Any) -> bool:
    """Whether messages, lists, maps or numbers are equal, field by field.

    A field that is set counts, even if it has the default value.
    """
    first, second = _numbered(a), _numbered(b)
    if not isinstance(first, dict) or not isinstance(second, dict):
        return bool(first == second)
    return first.keys() == second.keys() and all(
        messages_equal(value, second[key]) for key, value in first.items()
    )


def _numbered(value: Any) -> Any:
    """The fields of a message by number, elements by index; others as they are."""
    if hasattr(value, "ListFields"):
        return {field.number: part for field, part in value.ListFields()}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return dict(enumerate(value))
    return value


def assert_proto_equal(
    self: unittest.TestCase,
    a: Any,
    b: Any,
    check_initialized: bool = True,
    normalize_numbers: bool = False,
    msg: str | None = None,
) -> None:
    """A test fails, showing what differs, unless two messages have the same text.

    Args:
      self: the test.
      a: a message, or the text of one.
      b: a message.
      check_initialized: fail if a required field is not set.
      normalize_numbers: round numbers first, in the messages themselves.
      msg: what a failure says.
    """
    from google.protobuf import text_format

    if isinstance(a, str):
        a = text_format.Merge(a, type(b)())
    for message in (a, b):
        errors = message.FindInitializationErrors() if check_initialized else ()
        if errors:
            self.fail(f"Initialization errors: {errors}\n{message}")
        if normalize_numbers:
            normalize_number_fields(message)
    self.assertMultiLineEqual(
        text_format.MessageToString(a), text_format.MessageToString(b), msg
    )


class ProtoAssertions:
    """`assert_proto_equal` as a method, for test cases."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        """See `assert_proto_equal`."""
        assert_proto_equal(self, *args, **kwargs)  # type: ignore[arg-type]
