"""Windows of raised cosines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops


@export("signal.hann_window")
def hann_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A Hann window [window_length]; periodic ones fit spectra, others filters.

    Raises:
      ValueError: the dtype is not of floats.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window")
def hamming_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A Hamming window [window_length]; periodic ones fit spectra, others filters.

    Raises:
      ValueError: the dtype is not of floats.
    """
    return _raised_cosine(
        name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46
    )


def _raised_cosine(
    name: str | None,
    default_name: str,
    window_length: Any,
    periodic: Any,
    dtype: Any,
    a: float,
    b: float,
) -> Tensor:
    """a - b * cos(2 pi i / n), 1 for a window of one."""
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default_name, [window_length, periodic]):
        length = convert_to_tensor(
            window_length, dtype=dtypes.int32, name="window_length"
        )
        length.shape.assert_has_rank(0)
        static = constant_value(length)
        if static == 1:
            return array_ops.ones([1], dtype=dtype)
        periodic = convert_to_tensor(periodic, dtype=dtypes.bool, name="periodic")
        periodic = math_ops.cast(periodic, dtypes.int32)
        periodic.shape.assert_has_rank(0)
        even = 1 - math_ops.mod(length, 2)
        n = math_ops.cast(length + periodic * even - 1, dtype=dtype)
        places = math_ops.cast(math_ops.range(length), dtype)
        angles = constant_op.constant(2 * np.pi, dtype=dtype) * places / n

        def window() -> Tensor:
            return math_ops.cast(a - b * math_ops.cos(angles), dtype=dtype)  # type: ignore[no-any-return]

        if static is not None:
            return window()
        result: Tensor = cond(
            math_ops.equal(length, 1), lambda: array_ops.ones([1], dtype=dtype), window
        )
        return result
