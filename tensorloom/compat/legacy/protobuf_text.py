"""`google.protobuf.text_format` as it was: numbers in a format that callers give."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor

from tensorloom.compat.legacy.notices import tell


class _Printer(text_format._Printer):
    """Prints messages, with formats for `float` and `double` fields."""

    def __init__(self, formats: dict[int, str], **options: Any) -> None:
        super().__init__(**options)
        self._formats = formats

    def PrintFieldValue(self, field: Any, value: Any) -> None:
        """Prints one value of a field."""
        template = self._formats.get(field.cpp_type)
        if template is None:
            super().PrintFieldValue(field, value)
        else:
            self.out.write(format(value, template))


def MessageToString(
    message: Any,
    *args: Any,
    float_format: str | None = None,
    double_format: str | None = None,
    **options: Any,
) -> str:
    """`text_format.MessageToString`, which took formats of numbers.

    Args:
      message: what to print.
      args, options: as today's function.
      float_format: how to write `float` fields, such as ".3g"; `double` fields, too,
        unless they have a format of their own.
      double_format: how to write `double` fields.
    """
    if float_format is None and double_format is None:
        return text_format.MessageToString(message, *args, **options)
    tell(
        "text_format.MessageToString(float_format=) (gone since protobuf 6.30)",
        "numbers as they are written by default",
    )
    names = ("as_utf8", "as_one_line", "use_short_repeated_primitives")
    options.update(zip(names, args, strict=False))
    formats = {
        FieldDescriptor.CPPTYPE_FLOAT: float_format,
        FieldDescriptor.CPPTYPE_DOUBLE: double_format or float_format,
    }
    out = text_format.TextWriter(options.setdefault("as_utf8", True))
    printer = _Printer({k: v for k, v in formats.items() if v}, out=out, **options)
    printer.PrintMessage(message)
    text: str = out.getvalue()
    return text.rstrip() if options.get("as_one_line") else text
