"""Special functions at known places, and by their integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_NAN, _INF = np.nan, np.inf
# Of DLMF's and Abramowitz and Stegun's tables, and what TensorFlow says of the ends.
KNOWN = {
    "Dawsn": {
        0.0: 0.0,
        0.1: 0.09933599239785286,
        1.0: 0.5380795069127684,
        -2.0: -0.3013403889237920,
        10.0: 0.05025384718759853,
        100.0: 0.005000250037509378,
        _INF: 0.0,
        _NAN: _NAN,
    },
    "Expint": {
        0.0: -_INF,
        0.1: -1.6228128139692767,
        1.0: 1.8951178163559368,
        10.0: 2492.2289762418777,
        50.0: 1.0585636897131690e20,
        -1.0: _NAN,
        _INF: _INF,
        _NAN: _NAN,
    },
    "FresnelCos": {
        0.0: 0.0,
        0.5: 0.4923442258714464,
        1.0: 0.7798934003768228,
        -2.0: -0.4882534060753408,
        5.0: 0.5636311887040122,
        _INF: 0.5,
        _NAN: _NAN,
    },
    "FresnelSin": {
        0.0: 0.0,
        0.5: 0.06473243285999927,
        1.0: 0.4382591473903548,
        -2.0: -0.3434156783636982,
        5.0: 0.4991913819171169,
        -_INF: -0.5,
        _NAN: _NAN,
    },
    "Spence": {
        0.0: np.pi**2 / 6,
        0.5: np.pi**2 / 12 - np.log(2) ** 2 / 2,
        1.0: 0.0,
        2.0: -(np.pi**2) / 12,
        3.0: -1.4367463668836809,
        _INF: -_INF,
        -1.0: _NAN,
        _NAN: _NAN,
    },
}


def _values(op: str, x: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(x.dtype, [None])
        return session.run(getattr(tf.raw_ops, op)(x=fed), {fed: x})


@pytest.mark.parametrize("op", KNOWN)
def test_known_values(op: str) -> None:
    x, expected = (np.array(list(part)) for part in (KNOWN[op], KNOWN[op].values()))
    np.testing.assert_allclose(_values(op, x), expected, rtol=1e-13, atol=1e-15)
    short = _values(op, x.astype(np.float32))
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, expected, rtol=2e-6, atol=1e-7)


SLOPES: dict[str, Any] = {
    "Dawsn": lambda x, y: 1 - 2 * x * y,
    "Expint": lambda x, y: np.exp(x) / x,
    "FresnelCos": lambda x, y: np.cos(np.pi / 2 * x * x),
    "FresnelSin": lambda x, y: np.sin(np.pi / 2 * x * x),
    "Spence": lambda x, y: np.log(x) / (1 - x),
}


@pytest.mark.parametrize("op", SLOPES)
def test_slopes_across_the_seams_of_formulas(op: str) -> None:
    seams = np.array([0.25, 0.5, 1.5, 2.0, 6.0, 40.0, 60.0])
    x = (seams[:, None] * (1 + np.linspace(-0.013, 0.0127, 40))).reshape(-1)
    step = 1e-4 * x / (1 + x * x)  # Fresnel's waves are the shorter the larger x is
    ends = [_values(op, x + k * step) for k in (-2, -1, 1, 2)]
    slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
    expected = SLOPES[op](x, _values(op, x))
    rounding = 2e-14 * np.abs(ends[1]) / step
    assert np.all(np.abs(slope - expected) <= 1e-8 * np.abs(expected) + rounding)
