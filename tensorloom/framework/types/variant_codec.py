"""How variants cross tasks: what kernels register for the types of their values.

A variant is a Python object here; as a message it is the name of a type, some bytes,
and tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework.registry import late_modules


@dataclass(frozen=True, slots=True)
class VariantCodec:
    """Both ways for one type of variant."""

    #: As TensorFlow names the type.
    type_name: str
    #: A value as (bytes, tensors); the tensors are host values or variants.
    encode: Callable[[Any], tuple[bytes, Sequence[Any]]]
    #: The value again; raises ValueError for what is malformed.
    decode: Callable[[bytes, Sequence[Any]], Any]


_BY_CLASS: Final[dict[type, VariantCodec]] = {}
_BY_NAME: Final[dict[str, VariantCodec]] = {}


def register_variant(cls: type, codec: VariantCodec) -> None:
    """Lets values of a class cross tasks."""
    _BY_CLASS[cls] = codec
    _BY_NAME[codec.type_name] = codec


def codec_of(value: Any) -> VariantCodec | None:
    """The codec of a value; None if it cannot cross."""
    late_modules.load_kind("variant")
    return _BY_CLASS.get(type(value))


def codec_named(type_name: str) -> VariantCodec | None:
    """The codec of a type."""
    late_modules.load_kind("variant")
    return _BY_NAME.get(type_name)


# What a branch that was not taken gives in place of a variant or handle.
register_variant(type(None), VariantCodec("", lambda _: (b"", ()), lambda _, __: None))
