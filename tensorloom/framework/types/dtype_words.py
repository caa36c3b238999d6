"""How TensorFlow's C++ code prints dtypes in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_WORDS: Final = {
    "float16": "half",
    "float32": "float",
    "float64": "double",
    "float16_ref": "half_ref",
    "float32_ref": "float_ref",
    "float64_ref": "double_ref",
}


def dtype_word(dtype: DType) -> str:
    """`float` for float32, `double`, `half`; other dtypes have their names."""
    return _WORDS.get(dtype.name, dtype.name)
