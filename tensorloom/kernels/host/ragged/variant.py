"""Host kernels of ragged tensors in variants, in which they are elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape, shape_text
from tensorloom.kernels.host.ragged.ragged_ops import (
    check_vectors,
    check_whole_splits,
    splits_of,
    uniform_splits,
)


@dataclass(frozen=True)
class RaggedVariant:
    """A ragged tensor in a variant: its splits, the outermost first, and values."""

    splits: tuple[Any, ...]
    values: Any


@host_kernel("RaggedTensorToVariant", large=True)
def ragged_tensor_to_variant(c: OpKernelConstruction) -> Compute:
    """One variant, or one for each row."""
    rank, batched = c["RAGGED_RANK"], c["batched_input"]

    def compute(*inputs: Any) -> Any:
        splits, values = inputs[:rank], np.asarray(inputs[rank])
        if not batched:
            return RaggedVariant(tuple(splits), values)
        check_whole_splits(splits, values)
        rows = np.empty(len(splits[0]) - 1, object)
        for i in range(len(rows)):
            start, end = int(splits[0][i]), int(splits[0][i + 1])
            inner = []
            for level in splits[1:]:
                part = level[start : end + 1]
                inner.append(part - part[0])
                start, end = int(part[0]), int(part[-1])
            rows[i] = RaggedVariant(tuple(inner), values[start:end])
        return rows

    return compute


@host_kernel("RaggedTensorFromVariant", large=True)
def ragged_tensor_from_variant(c: OpKernelConstruction) -> Compute:
    """A ragged tensor of a variant, or of a batch of them."""
    rank = c["output_ragged_rank"]
    kind, values_type = c["Tsplits"].np_dtype, c["Tvalues"]

    def compute(encoded: Any) -> Any:
        shape = encoded.shape if isinstance(encoded, np.ndarray) else ()
        parts = encoded.reshape(-1).tolist() if shape else [_only(encoded)]
        for index, part in enumerate(parts):
            if not isinstance(part, RaggedVariant):
                raise invalid_argument(
                    f"Input Variant element at index {index} doesn't hold a "
                    "RaggedTensor"
                )
            if len(part.splits) != rank - len(shape):
                raise invalid_argument(
                    f"Expected input ragged rank {rank - len(shape)}, but found "
                    f"{len(part.splits)}"
                )
            check_vectors(part.splits)
            if part.splits and not np.ndim(part.values):
                raise invalid_argument(
                    "Ragged values must have rank >= 1; encoded scalar element at "
                    f"index {index} has none"
                )
        if not rank:
            return (parts[0].values,)
        if not shape:
            return (*(s.astype(kind) for s in parts[0].splits), parts[0].values)
        outer = uniform_splits(shape, kind)
        inner = _joined_splits(parts, rank - len(shape), kind)
        values = [part.values for part in parts]
        if values:
            joined = np.concatenate(values)
        else:
            joined = np.empty(0, values_type.as_numpy_dtype)
        rows = [len(p.splits[0]) - 1 if p.splits else len(p.values) for p in parts]
        return (*outer, splits_of(np.array(rows, np.int64), kind), *inner, joined)

    return compute


def _only(encoded: Any) -> Any:
    return encoded.item() if isinstance(encoded, np.ndarray) else encoded


def _joined_splits(parts: list[RaggedVariant], rank: int, kind: Any) -> list[Any]:
    result = []
    for level in range(rank):
        lengths = [np.diff(part.splits[level]) for part in parts]
        every = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
        result.append(splits_of(every, kind))
    return result


@host_kernel("RaggedTensorToVariantGradient", large=True)
def ragged_tensor_to_variant_gradient(c: OpKernelConstruction) -> Compute:
    """The values of a batch of variants, zeros for those that are none."""
    dtype, device = c["Tvalues"], c.device

    def compute(encoded: Any, splits: Any, shape: Any) -> Any:
        dims = tuple(np.asarray(shape).tolist())
        check_shape(dims, dtype, device)
        if splits.ndim != 1 or not len(splits) or splits[0] != 0:
            raise invalid_argument("Invalid ragged splits: they must begin with 0")
        if (splits[1:] < splits[:-1]).any():
            raise invalid_argument("Invalid ragged splits: they must not decrease")
        parts = encoded.reshape(-1).tolist() if isinstance(encoded, np.ndarray) else []
        found = [p.values for p in parts if isinstance(p, RaggedVariant)]
        if isinstance(encoded, RaggedVariant):
            found = [encoded.values]
        if not found:
            return np.zeros(dims, dtype.as_numpy_dtype)
        joined = np.concatenate([np.atleast_1d(values) for values in found])
        if joined.size != math.prod(dims):
            raise invalid_argument(
                f"The variants hold {joined.size} values, but dense_values_shape is "
                f"{shape_text(dims)}"
            )
        return joined.reshape(dims)

    return compute
