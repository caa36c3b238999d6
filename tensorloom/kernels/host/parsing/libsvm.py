"""DecodeLibsvm in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing.number_texts import number_of

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


def _feature(text: bytes, dtype: DType) -> tuple[int, int | float]:
    """(index, value) of "index:value"."""
    index, colon, value = text.partition(b":")
    if not colon:
        raise invalid_argument(f'Invalid feature "{_shown(text)}"')
    try:
        place, number = int(number_of(index, dtypes.int64)), number_of(value, dtype)
    except ValueError:
        raise invalid_argument(f"Feature format incorrect: {_shown(text)}") from None
    if place < 0:
        raise invalid_argument(f"Feature index should be >= 0, got {place}")
    return place, number


@host_kernel("DecodeLibsvm", large=True)
def decode_libsvm(c: OpKernelConstruction) -> Compute:
    """Labels, and features as a sparse tensor."""
    label_type, dtype, features = c["label_dtype"], c["dtype"], c["num_features"]

    def compute(lines: Any) -> tuple[Any, ...]:
        lines = np.asarray(lines, object)
        labels: list[int | float] = []
        counts: list[int] = []
        found: list[tuple[int, int | float]] = []
        for number, line in enumerate(lines.reshape(-1).tolist()):
            words = line.split()
            if not words:
                raise invalid_argument(
                    f'No label found for input[{number}]: "{_shown(line)}"'
                )
            try:
                labels.append(number_of(words[0], label_type))
            except ValueError:
                raise invalid_argument(
                    f"Label format incorrect: {_shown(words[0])}"
                ) from None
            found += [_feature(word, dtype) for word in words[1:]]
            counts.append(len(words) - 1)
        rows = np.repeat(np.arange(lines.size), counts)
        places = np.unravel_index(rows, lines.shape) if lines.ndim else ()
        indices = np.empty((len(found), lines.ndim + 1), np.int64)
        for axis, place in enumerate(places):
            indices[:, axis] = place
        indices[:, -1] = [index for index, _ in found]
        values = np.array([value for _, value in found], dtype.as_numpy_dtype)
        label = np.array(labels, label_type.as_numpy_dtype).reshape(lines.shape)
        shape = np.array([*lines.shape, features], np.int64)
        return label if lines.ndim else label[()], indices, values, shape

    return compute
