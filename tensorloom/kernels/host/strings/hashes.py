"""The hash functions of strings: FarmHash, SipHash and TensorFlow's old one.

`fingerprint64` is the function of that name of FarmHash (farmhashna), which is fixed
for ever; `siphash` is SipHash-2-4 (Aumasson and Bernstein, 2012). They take one string:
`kernels/loops/strings/hashes.py` has them for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack_from
from typing import TypeAlias

# Sixty-four bits.
_Word: TypeAlias = int

_M = (1 << 64) - 1
HASH64_SEED = 0xDECAFCAFFE
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _rotate(x: _Word, n: int) -> _Word:
    return (x >> n | x << 64 - n) & _M


def _mix(u: _Word, v: _Word, mul: int) -> _Word:
    a = (u ^ v) * mul & _M
    a ^= a >> 47
    b = (v ^ a) * mul & _M
    b ^= b >> 47
    return b * mul & _M


def fingerprint64(text: bytes) -> int:
    """FarmHash's Fingerprint64, in 0 .. 2^64 - 1."""
    size = len(text)
    found: int
    if size <= 16:
        found = _to_16(text, size)
    elif size <= 32:
        found = _to_32(text, size)
    elif size <= 64:
        found = _to_64(text, size)
    else:
        found = _over_64(text, size)
    return found


def _to_16(s: bytes, size: int) -> int:
    if size >= 8:
        first = int.from_bytes(s[:8], "little")
        return mix_16(first, int.from_bytes(s[-8:], "little"), size)
    if size >= 4:
        first = int.from_bytes(s[:4], "little")
        return mix_8(first, int.from_bytes(s[-4:], "little"), size)
    return mix_3(s[0], s[size >> 1], s[-1], size) if size else _K2


def mix_3(first: _Word, middle: _Word, last: _Word, size: _Word) -> _Word:
    """Of one to three bytes."""
    y = first + (middle << 8)
    z = size + (last << 2)
    x = (y * _K2 ^ z * _K0) & _M
    return (x ^ x >> 47) * _K2 & _M


def mix_8(first: _Word, last: _Word, size: _Word) -> _Word:
    """Of four to seven bytes, by the first and the last four."""
    return _mix(size + (first << 3), last, _K2 + size * 2)


def mix_16(first: _Word, last: _Word, size: _Word) -> _Word:
    """Of eight to sixteen bytes, by the first and the last eight."""
    mul = _K2 + size * 2
    a = (first + _K2) & _M
    c = (_rotate(last, 37) * mul + a) & _M
    d = (_rotate(a, 25) + last) * mul & _M
    return _mix(c, d, mul)


def _to_32(s: bytes, size: int) -> int:
    words = unpack_from("<QQ", s) + unpack_from("<QQ", s, size - 16)
    return mix_32(words, size)


def mix_32(words: Sequence[_Word], size: _Word) -> _Word:
    """Of 17 to 32 bytes, by the first and the last two words."""
    mul = _K2 + size * 2
    a, b, c, d = words
    a, c, d = a * _K1 & _M, d * mul & _M, c * _K2 & _M
    return _mix(
        (_rotate((a + b) & _M, 43) + _rotate(c, 30) + d) & _M,
        (a + _rotate((b + _K2) & _M, 18) + c) & _M,
        mul,
    )


def _to_64(s: bytes, size: int) -> int:
    words = unpack_from("<QQQQ", s) + unpack_from("<QQQQ", s, size - 32)
    return mix_64(words, size)


def mix_64(words: Sequence[_Word], size: _Word) -> _Word:
    """Of 33 to 64 bytes, by the first and the last four words."""
    mul = _K2 + size * 2
    a, b, e, f, g0, h0, d0, c0 = words
    a, c, d = a * _K2 & _M, c0 * mul & _M, d0 * _K2 & _M
    y = (_rotate((a + b) & _M, 43) + _rotate(c, 30) + d) & _M
    z = _mix(y, (a + _rotate((b + _K2) & _M, 18) + c) & _M, mul)
    e = e * mul & _M
    g, h = (y + g0) * mul & _M, (z + h0) * mul & _M
    return _mix(
        (_rotate((e + f) & _M, 43) + _rotate(g, 30) + h) & _M,
        (e + _rotate((f + a) & _M, 18) + g) & _M,
        mul,
    )


def _weak(words: Sequence[_Word], a: _Word, b: _Word) -> tuple[_Word, _Word]:
    """FarmHash's WeakHashLen32WithSeeds of 32 bytes."""
    w, x, y, z = words
    a = (a + w) & _M
    b = _rotate((b + a + z) & _M, 21)
    c = a
    a = (a + x + y) & _M
    b = (b + _rotate(a, 44)) & _M
    return (a + z) & _M, (b + c) & _M


def _over_64(s: bytes, size: int) -> int:
    state = begin_more(int.from_bytes(s[:8], "little"))
    for at in range(0, size - 64, 64):
        state = mix_block(unpack_from("<QQQQQQQQ", s, at), state)
    return end_more(unpack_from("<QQQQQQQQ", s, size - 64), state, size)


def begin_more(first: _Word) -> Sequence[_Word]:
    """The state before the first block of more than 64 bytes, by their first word."""
    x, y = 81 * _K2 & _M, (81 * _K1 + 113) & _M
    z = (y * _K2 + 113) & _M
    z = (z ^ z >> 47) * _K2 & _M
    return (x + first) & _M, y, z, 0, 0, 0, 0


def mix_block(words: Sequence[_Word], state: Sequence[_Word]) -> Sequence[_Word]:
    """The state after a block of eight words, behind which there are more bytes."""
    x, y, z, v0, v1, w0, w1 = state
    x, y, z, v, w = _round(words, x, y, z, (v0, v1), (w0, w1), _K1, 1)
    return x, y, z, *v, *w


def end_more(last: Sequence[_Word], state: Sequence[_Word], size: _Word) -> _Word:
    """Of more than 64 bytes, by their last eight words and the state before those."""
    x, y, z, v0, v1, w0, w1 = state
    mul = (_K1 + ((z & 0xFF) << 1)) & _M
    w0 = (w0 + (size - 1 & 63)) & _M
    v0 = (v0 + w0) & _M
    w0 = (w0 + v0) & _M
    x, y, z, v, w = _round(last, x, y, z, (v0, v1), (w0, w1), mul, 9)
    return _mix(
        (_mix(v[0], w[0], mul) + (y ^ y >> 47) * _K0 + z) & _M,
        (_mix(v[1], w[1], mul) + x) & _M,
        mul,
    )


def _round(
    words: Sequence[_Word],
    x: _Word,
    y: _Word,
    z: _Word,
    v: tuple[_Word, _Word],
    w: tuple[_Word, _Word],
    mul: _Word,
    factor: int,
) -> tuple[_Word, _Word, _Word, tuple[_Word, _Word], tuple[_Word, _Word]]:
    """Sixty-four bytes into the state; `factor` is nine in the last round."""
    x = _rotate((x + y + v[0] + words[1]) & _M, 37) * mul & _M
    y = _rotate((y + v[1] + words[6]) & _M, 42) * mul & _M
    x ^= w[1] * factor & _M
    y = (y + v[0] * factor + words[5]) & _M
    z = _rotate((z + w[0]) & _M, 33) * mul & _M
    v = _weak(words[:4], v[1] * mul & _M, (x + w[0]) & _M)
    w = _weak(words[4:], (z + w[1]) & _M, (y + words[2]) & _M)
    return z, y, x, v, w


def hash64(text: bytes, seed: int = HASH64_SEED) -> int:
    """TensorFlow's Hash64, a MurmurHash64A."""
    whole = len(text) // 8
    found = murmur_begin(seed, len(text))
    for word in unpack_from(f"<{whole}Q", text):
        found = murmur_word(found, word)
    if len(text) % 8:
        found = murmur_rest(found, int.from_bytes(text[whole * 8 :], "little"))
    result: int = murmur_end(found)
    return result


_MURMUR = 0xC6A4A7935BD1E995


def murmur_begin(seed: _Word, size: _Word) -> _Word:
    """The state of Hash64 before the first word."""
    return seed ^ size * _MURMUR & _M


def murmur_word(h: _Word, k: _Word) -> _Word:
    """The state after a word of eight bytes."""
    k = k * _MURMUR & _M
    k = (k ^ k >> 47) * _MURMUR & _M
    return (h ^ k) * _MURMUR & _M


def murmur_rest(h: _Word, rest: _Word) -> _Word:
    """The state after the bytes behind the last whole word, as one word."""
    return (h ^ rest) * _MURMUR & _M


def murmur_end(h: _Word) -> _Word:
    """The hash."""
    h = (h ^ h >> 47) * _MURMUR & _M
    return h ^ h >> 47


def siphash(text: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 under two 64-bit words."""
    size = len(text)
    padded = text + b"\0" * (7 - size % 8) + bytes([size & 0xFF])
    v0, v1, v2, v3 = sip_begin(key)
    for word in unpack_from(f"<{len(padded) // 8}Q", padded):
        v0, v1, v2, v3 = _sip_round(*_sip_round(v0, v1, v2, v3 ^ word))
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def sip_begin(key: tuple[int, int]) -> tuple[int, int, int, int]:
    """The state v0, v1, v2 and v3 of SipHash before the first word."""
    k0, k1 = key[0] & _M, key[1] & _M
    return (
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    )


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _M
    v1 = _rotate(v1, 51) ^ v0
    v0 = _rotate(v0, 32)
    v2 = (v2 + v3) & _M
    v3 = _rotate(v3, 48) ^ v2
    v0 = (v0 + v3) & _M
    v3 = _rotate(v3, 43) ^ v0
    v2 = (v2 + v1) & _M
    v1 = _rotate(v1, 47) ^ v2
    v2 = _rotate(v2, 32)
    return v0, v1, v2, v3
