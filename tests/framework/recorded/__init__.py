"""Expressions with what they evaluate to in TensorFlow 1.15.

A file holds lines `EXPRESSION  =>  OUTCOME`: the repr of the value, or the class and
message of the exception. `tests/peer/test_peer_framework.py` compares with TensorFlow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def read(name: str) -> list[tuple[str, str]]:
    """(expression, outcome) for each line of a file."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [(line.split("  =>  ")[0], line.split("  =>  ")[1]) for line in lines]


def outcome(expression: str, names: dict[str, Any]) -> str:
    """What an expression evaluates to, in the notation of the files."""
    try:
        value = eval(expression, names)
    except Exception as error:
        return f"{type(error).__name__} {error}".replace("\n", " ")
    text = value if type(value) is _Verbatim else repr(value)
    return text.replace("\n", " ")


class _Verbatim(str):
    """Text that is an outcome as it is."""


def describe_array(array: Any) -> _Verbatim:
    """Dtype, shape and values of an array."""
    from tensorloom.framework.types.dtypes import as_dtype

    name = as_dtype(array.dtype).name
    return _Verbatim(f"{name} {array.shape} {array.tolist()}")


def describe_message(message: Any) -> _Verbatim:
    """The serialized message in hexadecimal digits."""
    return _Verbatim(message.SerializeToString().hex())
