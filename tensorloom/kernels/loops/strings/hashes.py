"""Hashes of many strings: FarmHash's Fingerprint64, SipHash, TensorFlow's Hash64.

The same functions as those of `kernels/host/strings/hashes.py`, which take one string.

All take:
  blob: the bytes of all strings, uint8; eight can be read where the last one ends.
  starts, lengths: of the strings in the buffer, int64 [n], looked at by the caller.
  found: gets the hashes, uint64 [n].
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.strings.byte_words import word_at

_U = np.uint64
_ONE, _THREE, _EIGHT, _47 = _U(1), _U(3), _U(8), _U(47)
_BYTE, _LOW = _U(0xFF), _U(0xFFFFFFFF)
_K0: Final = _U(0xC3A5C85C97CB3127)
_K1: Final = _U(0xB492B66FBE98F273)
_K2: Final = _U(0x9AE16A3B2F90404F)


@loop
def _rotated(x: Any, n: int) -> Any:
    return (x >> _U(n)) | (x << _U(64 - n))


@loop
def _mixed(u: Any, v: Any, factor: Any) -> Any:
    a = (u ^ v) * factor
    a ^= a >> _47
    b = (v ^ a) * factor
    b ^= b >> _47
    return b * factor


# --- FarmHash -----------------------------------------------------------------------


@loop
def _to_16(blob: Any, at: int, size: int) -> Any:
    first, length = word_at(blob, at), _U(size)
    factor = _K2 + length * _U(2)
    if size >= 8:
        last = word_at(blob, at + size - 8)
        a = first + _K2
        c = _rotated(last, 37) * factor + a
        d = (_rotated(a, 25) + last) * factor
        return _mixed(c, d, factor)
    if size >= 4:
        return _mixed(
            length + ((first & _LOW) << _THREE),
            word_at(blob, at + size - 4) & _LOW,
            factor,
        )
    if size == 0:
        return _K2
    middle = first >> _U(8 * (size >> 1)) & _BYTE
    last = first >> _U(8 * (size - 1)) & _BYTE
    y = (first & _BYTE) + (middle << _EIGHT)
    x = y * _K2 ^ (length + (last << _U(2))) * _K0
    return (x ^ x >> _47) * _K2


@loop
def _to_32(blob: Any, at: int, size: int) -> Any:
    factor = _K2 + _U(size) * _U(2)
    a, b = word_at(blob, at) * _K1, word_at(blob, at + 8)
    c, d = word_at(blob, at + size - 8) * factor, word_at(blob, at + size - 16) * _K2
    return _mixed(
        _rotated(a + b, 43) + _rotated(c, 30) + d,
        a + _rotated(b + _K2, 18) + c,
        factor,
    )


@loop
def _to_64(blob: Any, at: int, size: int) -> Any:
    factor, end = _K2 + _U(size) * _U(2), at + size
    a, b = word_at(blob, at) * _K2, word_at(blob, at + 8)
    c, d = word_at(blob, end - 8) * factor, word_at(blob, end - 16) * _K2
    y = _rotated(a + b, 43) + _rotated(c, 30) + d
    z = _mixed(y, a + _rotated(b + _K2, 18) + c, factor)
    e, f = word_at(blob, at + 16) * factor, word_at(blob, at + 24)
    g, h = (
        (y + word_at(blob, end - 32)) * factor,
        (z + word_at(blob, end - 24)) * factor,
    )
    return _mixed(
        _rotated(e + f, 43) + _rotated(g, 30) + h,
        e + _rotated(f + a, 18) + g,
        factor,
    )


@loop
def _weak(blob: Any, at: int, a: Any, b: Any) -> Any:
    """WeakHashLen32WithSeeds of 32 bytes."""
    last = word_at(blob, at + 24)
    a += word_at(blob, at)
    b = _rotated(b + a + last, 21)
    c = a
    a += word_at(blob, at + 8) + word_at(blob, at + 16)
    return a + last, b + _rotated(a, 44) + c


@loop
def _block(blob: Any, at: int, state: Any, factor: Any, times: Any) -> Any:
    """Sixty-four bytes into the state; `times` is nine in the last round."""
    x, y, z, v0, v1, w0, w1 = state
    x = _rotated(x + y + v0 + word_at(blob, at + 8), 37) * factor
    y = _rotated(y + v1 + word_at(blob, at + 48), 42) * factor
    x ^= w1 * times
    y += v0 * times + word_at(blob, at + 40)
    z = _rotated(z + w0, 33) * factor
    v0, v1 = _weak(blob, at, v1 * factor, x + w0)
    w0, w1 = _weak(blob, at + 32, z + w1, y + word_at(blob, at + 16))
    return z, y, x, v0, v1, w0, w1


@loop
def _over_64(blob: Any, at: int, size: int) -> Any:
    none = _U(0)
    y = _U(81) * _K1 + _U(113)
    z = y * _K2 + _U(113)
    z = (z ^ z >> _47) * _K2
    state = _U(81) * _K2 + word_at(blob, at), y, z, none, none, none, none
    for place in range(at, at + size - 64, 64):
        state = _block(blob, place, state, _K1, _ONE)
    x, y, z, v0, v1, w0, w1 = state
    factor = _K1 + ((z & _BYTE) << _ONE)
    w0 += _U((size - 1) & 63)
    v0 += w0
    w0 += v0
    state = x, y, z, v0, v1, w0, w1
    x, y, z, v0, v1, w0, w1 = _block(blob, at + size - 64, state, factor, _U(9))
    return _mixed(
        _mixed(v0, w0, factor) + (y ^ y >> _47) * _K0 + z,
        _mixed(v1, w1, factor) + x,
        factor,
    )


@loop
def fingerprints(blob: Any, starts: Any, lengths: Any, found: Any) -> None:
    """FarmHash's Fingerprint64 of each."""
    for i in range(len(starts)):
        at, size = starts[i], lengths[i]
        if size <= 16:
            found[i] = _to_16(blob, at, size)
        elif size <= 32:
            found[i] = _to_32(blob, at, size)
        elif size <= 64:
            found[i] = _to_64(blob, at, size)
        else:
            found[i] = _over_64(blob, at, size)


# --- Hash64 -------------------------------------------------------------------------

_MURMUR: Final = _U(0xC6A4A7935BD1E995)


@loop
def _rest(blob: Any, at: int, size: int) -> Any:
    """The fewer than eight bytes behind the last whole word."""
    return word_at(blob, at + (size & ~7)) & ((_ONE << _U(8 * (size & 7))) - _ONE)


@loop
def murmurs(blob: Any, starts: Any, lengths: Any, seed: Any, found: Any) -> None:
    """TensorFlow's Hash64, a MurmurHash64A, of each; `seed` is uint64."""
    for i in range(len(starts)):
        at, size = starts[i], lengths[i]
        h = seed ^ _U(size) * _MURMUR
        for place in range(at, at + (size & ~7), 8):
            k = word_at(blob, place) * _MURMUR
            h = (h ^ (k ^ k >> _47) * _MURMUR) * _MURMUR
        if size & 7:
            h = (h ^ _rest(blob, at, size)) * _MURMUR
        h = (h ^ h >> _47) * _MURMUR
        found[i] = h ^ h >> _47


# --- SipHash ------------------------------------------------------------------------


@loop
def _sip_round(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v0 += v1
    v1 = _rotated(v1, 51) ^ v0
    v0 = _rotated(v0, 32)
    v2 += v3
    v3 = _rotated(v3, 48) ^ v2
    v0 += v3
    v3 = _rotated(v3, 43) ^ v0
    v2 += v1
    v1 = _rotated(v1, 47) ^ v2
    return v0, v1, _rotated(v2, 32), v3


@loop
def siphashes(blob: Any, starts: Any, lengths: Any, key: Any, found: Any) -> None:
    """SipHash-2-4 of each; `key` is uint64 [2]."""
    for i in range(len(starts)):
        at, size = starts[i], lengths[i]
        v0, v1 = key[0] ^ _U(0x736F6D6570736575), key[1] ^ _U(0x646F72616E646F6D)
        v2, v3 = key[0] ^ _U(0x6C7967656E657261), key[1] ^ _U(0x7465646279746573)
        last = at + (size & ~7)
        for place in range(at, last + 8, 8):
            word = word_at(blob, place)
            if place == last:
                word = _rest(blob, at, size) | _U(size) << _U(56)
            v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3 ^ word)
            v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
            v0 ^= word
        v2 ^= _BYTE
        for _ in range(4):
            v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
        found[i] = v0 ^ v1 ^ v2 ^ v3
