"""ReinterpretStringToFloat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 0xC6A4A7935BD1E995
_SEED: Final = 0xC70F6907


@host_kernel("ReinterpretStringToFloat", large=True)
def reinterpret(c: OpKernelConstruction) -> Compute:
    """The hash of each string."""

    def compute(strings: Any) -> Any:
        strings = np.asarray(strings, object)
        hashes = [_hash(text) for text in strings.reshape(-1)]
        return np.array(hashes, np.uint64).astype(np.float32).reshape(strings.shape)

    return compute


def _hash(text: bytes) -> int:
    """MurmurHash64A, as the C++ library hashes strings for TensorFlow's kernel."""
    whole = len(text) & ~7
    value = _SEED ^ (len(text) * _FACTOR & _MASK)
    for begin in range(0, whole, 8):
        word = int.from_bytes(text[begin : begin + 8], "little")
        value = (value ^ _mixed(word * _FACTOR) * _FACTOR & _MASK) * _FACTOR & _MASK
    if len(text) > whole:
        value = (value ^ int.from_bytes(text[whole:], "little")) * _FACTOR & _MASK
    return _mixed(_mixed(value) * _FACTOR)


def _mixed(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47
