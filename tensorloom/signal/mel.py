"""The mel scale of pitches."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.signal.framing import frame

_BREAK_HERTZ: Final = 700.0
_HIGH_Q: Final = 1127.0


def _hertz_to_mel(frequencies: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "hertz_to_mel", [frequencies]):
        frequencies = convert_to_tensor(frequencies)
        return _HIGH_Q * math_ops.log(1.0 + frequencies / _BREAK_HERTZ)


def _check(bins: int, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(
            f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}"
        )
    if upper > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency "
            f"(sample_rate / 2). Got: {upper} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@export("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A matrix [num_spectrogram_bins, num_mel_bins] from frequencies to mel bands.

    Raises:
      ValueError: bad numbers, or a sample rate that is not constant.
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            sample_rate = constant_value(sample_rate)
            if sample_rate is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float "
                    "or a constant Tensor."
                )
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lower = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        nyquist = rate / 2.0
        # The first bin, of no frequency, is left out.
        linear = math_ops.linspace(zero, nyquist, num_spectrogram_bins)[1:]
        bins = array_ops.expand_dims(_hertz_to_mel(linear), 1)
        edges = math_ops.linspace(
            _hertz_to_mel(lower), _hertz_to_mel(upper), num_mel_bins + 2
        )
        bands = frame(edges, frame_length=3, frame_step=1)
        start, center, end = (
            array_ops.reshape(edge, [1, num_mel_bins])
            for edge in array_ops.split(bands, 3, axis=1)
        )
        rising = (bins - start) / (center - start)
        falling = (end - bins) / (end - center)
        weights = math_ops.maximum(zero, math_ops.minimum(rising, falling))
        return array_ops.pad(weights, [[1, 0], [0, 0]], name=scope)
