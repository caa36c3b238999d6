"""Single-precision log, sine and cosine with the C library's own roundings.

TensorFlow's normal distributions call `logf` and `sincosf`. Those evaluate short
polynomials in double precision and round once, with errors of up to 0.8 units in the
last place, so neither a correctly rounded function nor NumPy's vector loops give the
same bits. Repeating the published algorithm (Arm Optimized Routines, `math/logf.c`
and `math/sincosf.h`, which glibc >= 2.28 uses) on whole arrays does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]
LN2 = float.fromhex("0x1.62e42fefa39efp-1")
LOG_POLYNOMIAL = (
    float.fromhex("-0x1.00ea348b88334p-2"),
    float.fromhex("0x1.5575b0be00b6ap-2"),
    float.fromhex("-0x1.ffffef20a4123p-2"),
)
# 1/c and log(c) for a c near the centre of each of 16 subintervals.
LOG_TABLE = (
    ("0x1.661ec79f8f3bep+0", "-0x1.57bf7808caadep-2"),
    ("0x1.571ed4aaf883dp+0", "-0x1.2bef0a7c06ddbp-2"),
    ("0x1.49539f0f010bp+0", "-0x1.01eae7f513a67p-2"),
    ("0x1.3c995b0b80385p+0", "-0x1.b31d8a68224e9p-3"),
    ("0x1.30d190c8864a5p+0", "-0x1.6574f0ac07758p-3"),
    ("0x1.25e227b0b8eap+0", "-0x1.1aa2bc79c81p-3"),
    ("0x1.1bb4a4a1a343fp+0", "-0x1.a4e76ce8c0e5ep-4"),
    ("0x1.12358f08ae5bap+0", "-0x1.1973c5a611cccp-4"),
    ("0x1.0953f419900a7p+0", "-0x1.252f438e10c1ep-5"),
    ("0x1p+0", "0x0p+0"),
    ("0x1.e608cfd9a47acp-1", "0x1.aa5aa5df25984p-5"),
    ("0x1.ca4b31f026aap-1", "0x1.c5e53aa362eb4p-4"),
    ("0x1.b2036576afce6p-1", "0x1.526e57720db08p-3"),
    ("0x1.9c2d163a1aa2dp-1", "0x1.bc2860d22477p-3"),
    ("0x1.886e6037841edp-1", "0x1.1058bc8a07ee1p-2"),
    ("0x1.767dcf5534862p-1", "0x1.4043057b6ee09p-2"),
)
_LOG_OFFSET = np.int32(0x3F330000)
_LOG_SHIFT = 19  # 16 subintervals, four bits, lie in one power of two
_LOG_FIRST = 2048  # subintervals below 1.0's, more than floats have


def _log_tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """1 / c and log(c) for every subinterval of every power of two.

    Both are the library's own numbers: scaling by a power of two is exact, and the
    logarithm of the power is added as the library adds it.
    """
    inverses = np.array([float.fromhex(inverse) for inverse, _ in LOG_TABLE])
    logarithms = np.array([float.fromhex(log) for _, log in LOG_TABLE])
    exponents = np.arange(-_LOG_FIRST // 16, _LOG_FIRST // 16 + 1)[:, None]
    scaled = np.ldexp(inverses, -exponents)
    return scaled.reshape(-1), (logarithms + exponents * LN2).reshape(-1)


_LOG_INVC, _LOG_LOGC = _log_tables()

HALF_PI = float.fromhex("0x1.921FB54442D18p0")
HALF_PI_INVERSE = float.fromhex("0x1.45F306DC9C883p+23")  # 2 / pi, times 2^24
COSINE_POLYNOMIAL = (
    float.fromhex("-0x1.ffffffd0c621cp-2"),
    float.fromhex("0x1.55553e1068f19p-5"),
    float.fromhex("-0x1.6c087e89a359dp-10"),
    float.fromhex("0x1.99343027bf8c3p-16"),
)
SINE_POLYNOMIAL = (
    float.fromhex("-0x1.555545995a603p-3"),
    float.fromhex("0x1.1107605230bc4p-7"),
    float.fromhex("-0x1.994eb3774cf24p-13"),
)


def logf(x: Float32Array) -> Float32Array:
    """The natural logarithm of positive, normal, finite floats."""
    places = x.view(np.int32) - _LOG_OFFSET
    places >>= _LOG_SHIFT
    places += _LOG_FIRST
    index = places.astype(np.intp)
    r = x.astype(np.float64)
    r *= _LOG_INVC.take(index, mode="clip")
    r -= 1.0
    y0 = _LOG_LOGC.take(index, mode="clip")
    r2 = r * r
    y = r * LOG_POLYNOMIAL[1]
    y += LOG_POLYNOMIAL[2]
    y0 += r
    np.multiply(r2, LOG_POLYNOMIAL[0], out=r)
    y += r
    y *= r2
    y += y0
    return y.astype(np.float32)


def sincosf(x: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Sine and cosine of floats in [0, 120)."""
    reduced = x.astype(np.float64)
    turns = reduced * HALF_PI_INVERSE
    quadrant = turns.astype(np.int32)
    quadrant += 0x800000
    quadrant >>= 24
    np.multiply(quadrant, HALF_PI, out=turns)
    reduced -= turns
    sine, cosine = _polynomials(reduced)
    sine_bits, cosine_bits = sine.view(np.int32), cosine.view(np.int32)
    # In an odd quadrant sine and cosine change places.
    exchange = sine_bits ^ cosine_bits
    exchange &= -(quadrant & 1)
    sine_bits ^= exchange
    cosine_bits ^= exchange
    # Bit 1 of the quadrant is the sign of the sine, of the next one that of the cosine.
    sine_bits ^= (quadrant & 2) << 30
    quadrant += 1
    cosine_bits ^= (quadrant & 2) << 30
    return sine, cosine


def _polynomials(x: NDArray[np.float64]) -> tuple[Float32Array, Float32Array]:
    """Sine and cosine of x in [-pi/4, pi/4], in the library's order of operations."""
    x2 = x * x
    x3 = x2 * x
    x4 = x2 * x2
    part = x3 * SINE_POLYNOMIAL[0]
    x += part  # the argument is not needed any more
    x3 *= x2
    np.multiply(x2, SINE_POLYNOMIAL[2], out=part)
    part += SINE_POLYNOMIAL[1]
    part *= x3
    x += part
    np.multiply(x2, COSINE_POLYNOMIAL[0], out=x3)
    x3 += 1.0
    np.multiply(x4, COSINE_POLYNOMIAL[1], out=part)
    x3 += part
    x4 *= x2
    x2 *= COSINE_POLYNOMIAL[3]
    x2 += COSINE_POLYNOMIAL[2]
    x2 *= x4
    x3 += x2
    return x.astype(np.float32), x3.astype(np.float32)
