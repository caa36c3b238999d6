"""Data formats of axes and shape vectors, and the n-th element, over NumPy values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.nn.checks import text


def _formats(c: OpKernelConstruction) -> tuple[str, str]:
    """(source, destination): permutations of each other.

    Raises:
      errors.InvalidArgumentError: they are not.
    """
    source, target = c["src_format"].decode(), c["dst_format"].decode()
    for text_, name in ((source, "Source"), (target, "Destination")):
        if len(text_) not in (4, 5):
            raise invalid_argument(
                f"{name} format must be of length 4 or 5, received src_format = {text_}"
            )
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        raise invalid_argument(
            "Destination and source format must determine a permutation, got "
            f"{source} and {target}"
        )
    return source, target


@host_kernel("DataFormatDimMap", large=True)
def _dim_map(c: OpKernelConstruction) -> Compute:
    source, target = _formats(c)
    places = np.array([target.index(axis) for axis in source])

    def compute(x: Any) -> Any:
        # An axis that is out of range wraps around.
        axes = np.asarray(x)
        return places[axes % len(places)].astype(axes.dtype)

    return compute


@host_kernel("DataFormatVecPermute", large=True)
def _vec_permute(c: OpKernelConstruction) -> Compute:
    source, target = _formats(c)

    def compute(x: Any) -> Any:
        if x.ndim not in (1, 2):
            raise invalid_argument(
                f"input must be a vector or 2D tensor, but got shape {text(x.shape)}"
            )
        full = len(source)
        if len(x) not in (full, full - 2):
            raise invalid_argument(
                f"1D input must be of size {full - 2} or {full}, but got shape "
                f"{text(x.shape)}"
            )
        if x.ndim == 2 and x.shape[1] != 2:
            raise invalid_argument(
                "Second dimension of 2D input must be of size 2, but got shape "
                f"{text(x.shape)}"
            )
        names, wanted = source, target
        if len(x) != full:  # height and width alone
            names, wanted = (
                "".join(axis for axis in f if axis not in "NC")
                for f in (source, target)
            )
        return x[[names.index(axis) for axis in wanted]]

    return compute


@host_kernel("NthElement", large=True)
def _nth_element(c: OpKernelConstruction) -> Compute:
    reverse = c["reverse"]

    def compute(value: Any, n: Any) -> Any:
        index = int(n)
        if index < 0:
            raise invalid_argument(f"Need n >= 0, got {index}")
        if value.ndim < 1:
            raise invalid_argument(
                f"Input must be >= 1-D, got shape {text(value.shape)}"
            )
        if value.shape[-1] <= index:
            raise invalid_argument("Input must have at least n+1 columns")
        place = value.shape[-1] - 1 - index if reverse else index
        return np.partition(value, place, axis=-1)[..., place]

    return compute
