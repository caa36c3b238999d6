"""FarmHash's Fingerprint128: two 64-bit words for a string."""

from __future__ import annotations

from struct import unpack_from

from tensorloom.kernels.host.strings.hashes import (
    _K0,
    _K1,
    _M,
    _mix,
    _rotate,
    _round,
    _to_16,
    _weak,
)

_MUL = 0x9DDFEA08EB382D69


def _word(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _shift(x: int) -> int:
    return x ^ (x >> 47)


def _mix16(u: int, v: int) -> int:
    mixed: int = _mix(u & _M, v & _M, _MUL)
    return mixed


def fingerprint128(text: bytes) -> tuple[int, int]:
    """(lower, upper) word of the fingerprint."""
    if len(text) >= 16:
        seed = _word(text, 0), (_word(text, 8) + _K0) & _M
        text = text[16:]
    else:
        seed = _K0, _K1
    return (_short if len(text) < 128 else _long)(text, *seed)


def _short(s: bytes, a: int, b: int) -> tuple[int, int]:
    size = len(s)
    if size <= 16:
        a = _shift(a * _K1 & _M) * _K1 & _M
        c = (b * _K1 + _to_16(s, size)) & _M
        d = _shift((a + (_word(s, 0) if size >= 8 else c)) & _M)
    else:
        c = _mix16(_word(s, size - 8) + _K1, a)
        d = _mix16(b + size, c + _word(s, size - 16))
        a = (a + d) & _M
        at, left = 0, size - 16
        while True:
            a = (a ^ _shift(_word(s, at) * _K1 & _M) * _K1 & _M) * _K1 & _M
            b ^= a
            c = (c ^ _shift(_word(s, at + 8) * _K1 & _M) * _K1 & _M) * _K1 & _M
            d ^= c
            at, left = at + 16, left - 16
            if left <= 0:
                break
    a, b = _mix16(a, c), _mix16(d, b)
    return a ^ b, _mix16(b, a)


def _long(s: bytes, x: int, y: int) -> tuple[int, int]:
    left, at, z = len(s), 0, len(s) * _K1 & _M
    v0 = (_rotate(y ^ _K1, 49) * _K1 + _word(s, 0)) & _M
    v = v0, (_rotate(v0, 42) * _K1 + _word(s, 8)) & _M
    w0 = (_rotate((y + z) & _M, 35) * _K1 + x) & _M
    w = w0, _rotate((x + _word(s, 88)) & _M, 53) * _K1 & _M
    while left >= 128:
        for _ in range(2):
            x, y, z, v, w = _round(
                unpack_from("<QQQQQQQQ", s, at), x, y, z, v, w, _K1, 1
            )
            at += 64
        left -= 128
    (v0, v1), (w0, w1) = v, w
    x = (x + _rotate((v0 + z) & _M, 49) * _K0) & _M
    y = (y * _K0 + _rotate(w1, 37)) & _M
    z = (z * _K0 + _rotate(w0, 27)) & _M
    w0, v0 = w0 * 9 & _M, v0 * _K0 & _M
    done = 0
    while done < left:
        done += 32
        end = at + left - done
        y = (_rotate((x + y) & _M, 42) * _K0 + v1) & _M
        w0 = (w0 + _word(s, end + 16)) & _M
        x = (x * _K0 + w0) & _M
        z = (z + w1 + _word(s, end)) & _M
        w1 = (w1 + v0) & _M
        v0, v1 = _weak(unpack_from("<QQQQ", s, end), (v0 + z) & _M, v1)
        v0 = v0 * _K0 & _M
    x, y = _mix16(x, v0), _mix16(y + z, w0)
    return (_mix16(x + v1, w1) + y) & _M, _mix16(x + w1, y + v1)
