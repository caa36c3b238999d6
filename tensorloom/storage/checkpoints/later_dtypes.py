"""Dtypes that only TensorFlow 2 has: checkpoints may hold tensors of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FIRST: Final = 24  # number of TensorFlow's first dtype that does not exist here
_LAST: Final = 63  # what is above is no number of a dtype at all
_NAMES: Final = (
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "float4_e2m1fn",
)


@dataclass(frozen=True, slots=True)
class LaterDType:
    """A dtype whose tensors can be listed and copied, but not read."""

    as_datatype_enum: int

    @property
    def name(self) -> str:
        """TensorFlow's name."""
        index = self.as_datatype_enum - _FIRST
        return _NAMES[index] if index < len(_NAMES) else f"dtype{_FIRST + index}"

    def __repr__(self) -> str:
        return f"tf.{self.name}"


def later_dtype(number: int) -> LaterDType | None:
    """The dtype of a number, None if it is no number of such a dtype."""
    return LaterDType(number) if _FIRST <= number <= _LAST else None
