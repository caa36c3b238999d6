"""Fractional pooling over NumPy values, with TensorFlow's random regions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.host.random.philox import Generator, words_to_double
from tensorloom.kernels.host.random.random_state import node_generator


def _sequence(generator: Generator, size: int, count: int, pseudo: bool) -> Any:
    """The starts of `count` regions in `size` elements, and their end."""
    from tensorloom.kernels.loops.random.random_samples import shuffle

    if size % count == 0:
        lengths = np.full(count, size // count)
    elif pseudo:
        lengths = _one_number(generator, size, count)
    else:
        lengths = np.full(count, size // count)
        lengths[: size % count] += 1
        shuffle(generator.reserve((count + 3) // 4), lengths)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _one_number(generator: Generator, size: int, count: int) -> Any:
    """Lengths from one random number, section 3 of the paper."""
    alpha, k = size / count, size // count
    most = min((k + 2) / alpha - 1, (size + 1 - k) / alpha - (count - 1))
    words = generator.reserve(1).words(2)
    u = float(words_to_double(words[:1], words[1:2])[0]) * most
    starts = [1, *(math.ceil(alpha * (i + u)) for i in range(1, count)), size + 1]
    return np.diff(starts)


def _ratios(c: OpKernelConstruction) -> list[float]:
    ratios: list[float] = c["pooling_ratio"]
    if len(ratios) != 4:
        raise invalid_argument("pooling_ratio field must specify 4 dimensions")
    if min(ratios) < 1:
        raise invalid_argument(f"pooling_ratio must be at least 1, got: {min(ratios)}")
    if ratios[0] != 1 or ratios[3] != 1:
        raise errors.UnimplementedError(
            None,
            None,
            "Fractional pooling is not yet supported on the batch nor channel "
            "dimension.",
        )
    return ratios


@host_kernel(["FractionalMaxPool", "FractionalAvgPool"], large=True)
def _pool(c: OpKernelConstruction) -> Compute:
    ratios, generator = _ratios(c), node_generator(c)
    seeds = (c["seed"], c["seed2"])
    if any(seeds) and not c["deterministic"]:
        raise invalid_argument(
            "Both seed and seed2 should be 0 if deterministic is false."
        )
    pseudo, overlapping = c["pseudo_random"], c["overlapping"]
    pool = _maxima if c.op == "FractionalMaxPool" else _means
    fixed: dict[tuple[int, ...], Any] = {}

    def sequences(shape: tuple[int, ...]) -> Any:
        if c["deterministic"] and shape in fixed:
            return fixed[shape]
        sizes = [math.floor(n / r) for n, r in zip(shape, ratios, strict=True)]
        if min(sizes[1:3]) < 1:
            raise invalid_argument(
                f"pooling_ratio leaves no output for shape {text(shape)}"
            )
        source = generator
        if c["deterministic"] and any(seeds):
            source = Generator(*seeds)  # the same in every piece of the graph
        fixed[shape] = tuple(
            _sequence(source, shape[axis], sizes[axis], pseudo) for axis in (1, 2)
        )
        return fixed[shape]

    def compute(value: Any) -> Any:
        if value.ndim != 4:
            raise invalid_argument("tensor_in must be 4-dimensional")
        rows, columns = sequences(value.shape)
        shape = (len(value), len(rows) - 1, len(columns) - 1, value.shape[3])
        result = np.empty(shape, value.dtype)
        pool(_plain(value), rows, columns, int(overlapping), result)
        return result, rows, columns

    return compute


def _plain(array: Any) -> Any:
    """As the loops want all arrays, so that each is compiled once."""
    return np.require(array, None, ["C", "W"])


def _maxima(value: Any, rows: Any, columns: Any, overlap: int, out: Any) -> None:
    from tensorloom.kernels.loops.pooling import fractional_pool as loops

    loops.maxima(value, rows, columns, overlap, out)


def _means(value: Any, rows: Any, columns: Any, overlap: int, out: Any) -> None:
    from tensorloom.kernels.loops.pooling import fractional_pool as loops

    dtype = value.dtype if value.dtype.kind == "f" else np.int64
    total = np.empty(value.shape[3], dtype)
    loops.means(value, rows, columns, overlap, total, out)


def _check_sequences(shape: Any, grad: Any, rows: Any, columns: Any) -> None:
    """Sequences must rise from 0 and fit value and gradient."""
    for sequence, axis, name in ((rows, 1, "row"), (columns, 2, "col")):
        if sequence.ndim != 1 or len(sequence) != grad.shape[axis] + 1:
            raise invalid_argument(
                f"{name}_pooling_sequence must have {grad.shape[axis] + 1} elements"
            )
        if (np.diff(sequence) <= 0).any() or sequence[0] < 0:
            raise invalid_argument(f"{name}_pooling_sequence must rise from 0")
        if sequence[-1] > shape[axis]:
            raise invalid_argument(
                f"{name}_pooling_sequence ends at {sequence[-1]}, behind the input's "
                f"{shape[axis]}"
            )
    if grad.shape[0] != shape[0] or grad.shape[3] != shape[3]:
        raise invalid_argument(
            f"out_backprop {text(grad.shape)} does not fit the input {text(shape)}"
        )


@host_kernel("FractionalMaxPoolGrad", large=True)
def _max_pool_grad(c: OpKernelConstruction) -> Compute:
    from tensorloom.kernels.loops.pooling import fractional_pool as loops

    overlap = int(c["overlapping"])

    def compute(value: Any, output: Any, grad: Any, rows: Any, columns: Any) -> Any:
        if value.ndim != 4 or grad.ndim != 4 or output.shape != grad.shape:
            raise invalid_argument(
                "orig_input and out_backprop must be 4-dimensional and fit"
            )
        _check_sequences(value.shape, grad, rows, columns)
        result = np.zeros_like(value)
        batch, height, width, channels = value.shape
        flat = batch, height * width, channels
        loops.add_to_maxima(
            _plain(value).reshape(flat),
            _plain(grad),
            _plain(rows),
            _plain(columns),
            (height, width, overlap),
            np.empty(channels, value.dtype),
            result.reshape(flat),
        )
        return result

    return compute


@host_kernel("FractionalAvgPoolGrad", large=True)
def _avg_pool_grad(c: OpKernelConstruction) -> Compute:
    from tensorloom.kernels.loops.pooling import fractional_pool as loops

    overlap, dtype, device = int(c["overlapping"]), c["T"], c.device

    def compute(sizes: Any, grad: Any, rows: Any, columns: Any) -> Any:
        if sizes.shape != (4,) or grad.ndim != 4:
            raise invalid_argument(
                "original input tensor shape must be 1-dimensional and 4"
            )
        shape = tuple(sizes.tolist())
        check_shape(shape, dtype, device)
        _check_sequences(shape, grad, rows, columns)
        result = np.zeros(shape, np.float64)
        places = _plain(rows), _plain(columns)
        loops.spread(_plain(grad), *places, overlap, result)
        return result.astype(grad.dtype)

    return compute
