"""Mathematics and queries of TensorFlow 2.x in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_MOST_DIMENSIONS = 21200


@host_kernel("SobolSample", large=True)
def sobol_sample(c: OpKernelConstruction) -> Compute:
    """Points of the sequence; torch has the same direction numbers."""
    numpy_type = c["dtype"].as_numpy_dtype

    def compute(dim: Any, num_results: Any, skip: Any) -> Any:
        if num_results < 1:
            raise invalid_argument("num_results must be at least one")
        if dim < 1:
            raise invalid_argument("dim must be at least one")
        if skip < 0:
            raise invalid_argument("skip must be non-negative")
        if dim > _MOST_DIMENSIONS:
            raise invalid_argument(f"dim must be at most {_MOST_DIMENSIONS}")
        from torch.quasirandom import SobolEngine

        if int(skip) + int(num_results) >= 2**SobolEngine.MAXBIT:
            raise invalid_argument(
                f"skip + num_results must be below 2^{SobolEngine.MAXBIT}"
            )
        engine: Any = SobolEngine(int(dim))  # type: ignore[no-untyped-call]
        engine.fast_forward(int(skip) + 1)
        return engine.draw(int(num_results)).numpy().astype(numpy_type)

    return compute


@host_kernel("IsotonicRegression", large=True)
def isotonic_regression(c: OpKernelConstruction) -> Compute:
    """Neighbours that rise are pooled to their mean (pool adjacent violators)."""
    numpy_type = c["output_dtype"].as_numpy_dtype

    def compute(value: Any) -> Any:
        rows = np.asarray(value, np.float64).reshape(-1, value.shape[-1])
        output = np.empty(rows.shape, np.float64)
        segments = np.empty(rows.shape, np.int32)
        for i, row in enumerate(rows):
            sums, counts = _pooled(row.tolist())
            output[i] = np.repeat(np.divide(sums, counts), counts)
            segments[i] = np.repeat(np.arange(len(counts)), counts)
        return (
            output.reshape(value.shape).astype(numpy_type),
            segments.reshape(value.shape),
        )

    return compute


def _pooled(row: list[float]) -> tuple[list[float], list[int]]:
    """Sums and sizes of the constant parts."""
    sums: list[float] = []
    counts: list[int] = []
    for element in row:
        total, count = element, 1
        while sums and sums[-1] * count < total * counts[-1]:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    return sums, counts


@host_kernel("ApproxTopK", large=True)
def approximate_top_k(c: OpKernelConstruction) -> Compute:
    """The exact ones, best first."""
    k, axis, largest = c["k"], c["reduction_dimension"], c["is_max_k"]

    def compute(value: Any) -> Any:
        size = value.shape[axis]
        if size < k:
            raise invalid_argument(
                f"input must have at least k columns. Had {size}, needed {k}"
            )
        keys = -value if largest else value
        order = np.argsort(keys, axis=axis, kind="stable")
        order = np.take(order, np.arange(k), axis=axis).astype(np.int32)
        return np.take_along_axis(value, order.astype(np.int64), axis=axis), order

    return compute


@host_kernel("DeviceIndex", large=True)
def device_index(c: OpKernelConstruction) -> Compute:
    """Known when the kernel is made."""
    names = [name.decode() for name in c["device_names"]]
    known = c.device_type in names
    index = np.int32(names.index(c.device_type) if known else len(names))
    return lambda: index


@host_kernel("ToBool", large=True)
def to_bool(c: OpKernelConstruction) -> Compute:
    """A scalar by its value, other tensors by their size."""

    def compute(value: Any) -> Any:
        if np.ndim(value):
            return np.bool_(value.size > 0)
        return np.bool_(bool(value[()]))

    return compute
