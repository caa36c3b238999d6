"""The number of a loop's frame in rendezvous keys, as TensorFlow computes it.

Both ends of a tensor that crosses tasks inside a loop must compute the same number.
TensorFlow 1.15 hashes the whole path of a frame, 2.x combines the hashes of its steps.
Checked on the wire against both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MASK: Final = 0xFFFFFFFFFFFFFFFF
_SEED: Final = 0xDECAFCAFFE
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47


@dataclass(frozen=True, slots=True)
class FrameId:
    """A frame: its number, and what the numbers of frames inside derive from."""

    number: int
    path: bytes = b""


ROOT: Final = FrameId(0)

# (parent, its iteration in which the frame starts, the frame's name) -> the frame
FrameNumbering = Callable[[FrameId, int, bytes], FrameId]


def child_of_path(parent: FrameId, iteration: int, name: bytes) -> FrameId:
    """A frame as TensorFlow 1.15 numbers it."""
    path = parent.path + b";%d;" % iteration + name
    return FrameId(murmur_hash(path), path)


def child_of_number(parent: FrameId, iteration: int, name: bytes) -> FrameId:
    """A frame as TensorFlow 2 numbers it."""
    return FrameId(_combine(parent.number, _combine(iteration, murmur_hash(name))))


#: The numberings as messages name them; 0 is for graphs without frames over tasks.
NUMBERINGS: Final[dict[int, FrameNumbering]] = {1: child_of_path, 2: child_of_number}


def _combine(a: int, b: int) -> int:
    """TensorFlow's `Hash64Combine`."""
    return a ^ ((b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4)) & _MASK)


def murmur_hash(content: bytes) -> int:
    """MurmurHash64A with TensorFlow's default seed."""
    value = _SEED ^ (len(content) * _MULTIPLIER & _MASK)
    whole = len(content) & ~7
    for start in range(0, whole, 8):
        block = int.from_bytes(content[start : start + 8], "little")
        block = block * _MULTIPLIER & _MASK
        block ^= block >> _SHIFT
        value = (value ^ (block * _MULTIPLIER & _MASK)) * _MULTIPLIER & _MASK
    if whole < len(content):
        value ^= int.from_bytes(content[whole:], "little")
        value = value * _MULTIPLIER & _MASK
    value ^= value >> _SHIFT
    value = value * _MULTIPLIER & _MASK
    return value ^ (value >> _SHIFT)
